"""The files and hooks of one chat of the stand-in for Cursor's CLI."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import time
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "stand-in-1"
MODEL = "Stand-in Model"
EVENTS = frozenset(
    "sessionStart sessionEnd beforeSubmitPrompt preToolUse postToolUse postToolUseFailure beforeShellExecution "
    "afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit subagentStart subagentStop "
    "afterAgentThought afterAgentResponse preCompact stop beforeTabFileRead afterTabFileEdit".split()
)
DENIED = 2
"""The exit code with which a hook refuses."""


class Session:
    """One chat's files and hooks."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.id = str(uuid.uuid4())
        self.folder = folder
        self.generation = ""
        self._cursor = home / ".cursor"
        slug = str(folder).strip("/").replace("/", "-")
        self.trust = self._cursor / "projects" / slug / ".workspace-trusted"
        self._transcript = self.trust.parent / "agent-transcripts" / self.id / f"{self.id}.jsonl"
        self._chat = (
            self._cursor / "chats" / hashlib.md5(str(folder).encode(), usedforsecurity=False).hexdigest() / self.id
        )
        self._meta: dict[str, Any] = {
            "cwd": str(folder),
            "createdAtMs": now(),
            "hasConversation": False,
            "title": "New Agent",
        }
        self._hooks = self._read("hooks.json").get("hooks", {})
        commands = [hook["command"] for hooks in self._hooks.values() for hook in hooks]
        if set(self._hooks) - EVENTS or any("://" in command for command in commands):
            self._hooks = {}
        self.allowed = set(self._read("cli-config.json").get("permissions", {}).get("allow", []))

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self._cursor / name).read_text())
        except (OSError, ValueError):
            return {}
        return found

    def open(self) -> None:
        self._transcript.parent.mkdir(parents=True, exist_ok=True)
        self._chat.mkdir(parents=True, exist_ok=True)
        self.meta()
        self.fire("sessionStart", is_background_agent=False, composer_mode="agent")
        self.state("idle")

    def meta(self, **changes: Any) -> None:
        self._meta |= {**changes, "updatedAtMs": now()}
        (self._chat / "meta.json").write_text(json.dumps(self._meta))

    def state(self, state: str) -> None:
        with (self._chat / "states.jsonl").open("a") as file:
            file.write(json.dumps({"at": time.time(), "state": state}) + "\n")

    def record(self, role: str, *content: dict[str, Any]) -> None:
        with self._transcript.open("a") as file:
            file.write(json.dumps({"role": role, "message": {"content": content}}, ensure_ascii=False) + "\n")

    def fire(self, event: str, **fields: Any) -> dict[str, Any]:
        """Run an event's hooks, one after the other, and return their merged answers.

        Exit code 2 denies; other failures are ignored.
        """
        answer: dict[str, Any] = {}
        payload = {
            "conversation_id": self.id,
            "generation_id": self.generation,
            "model": MODEL,
            **fields,
            "session_id": self.id,
            "hook_event_name": event,
            "cursor_version": VERSION,
            "workspace_roots": [str(self.folder)],
            "user_email": None,
            "transcript_path": str(self._transcript) if self._transcript.exists() else None,
        }
        env = {**os.environ, "CURSOR_PROJECT_DIR": str(self.folder), "CURSOR_VERSION": VERSION}
        for hook in self._hooks.get(event, []):
            with contextlib.suppress(subprocess.TimeoutExpired, ValueError):
                done = subprocess.run(
                    ["sh", "-c", hook["command"]],
                    input=json.dumps(payload).encode(),
                    capture_output=True,
                    timeout=hook.get("timeout", 60),
                    cwd=self._cursor,
                    env=env,
                    check=False,
                )
                answer |= (
                    {"permission": "deny", "continue": False}
                    if done.returncode == DENIED
                    else json.loads(done.stdout or b"{}")
                )
        return answer


def now() -> int:
    return int(time.time() * 1000)
