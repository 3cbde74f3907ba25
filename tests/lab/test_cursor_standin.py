"""The stand-in for Cursor's CLI beyond the scenarios: how it treats hooks, and that it never passes for the program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.agents.cursor import Cursor
from lab.install import program_of
from lab.standins.cursor_session import Session


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    return tmp_path / "seen.jsonl"


def session(home: Path, hooks: dict[str, str]) -> Session:
    """A chat in a project whose user has these hooks."""
    (home / ".cursor").mkdir()
    table = {event: [{"command": command}] for event, command in hooks.items()}
    (home / ".cursor" / "hooks.json").write_text(json.dumps({"version": 1, "hooks": table}))
    return Session(home, home / "project")


def payloads(seen: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in seen.read_text().splitlines()] if seen.exists() else []


def test_hooks_get_what_cursor_documents(tmp_path: Path, seen: Path) -> None:
    chat = session(tmp_path, {"sessionStart": f"cat >>{seen}; echo >>{seen}", "beforeShellExecution": f"cat >>{seen}"})
    chat.open()
    chat.record("user", {"type": "text", "text": "hello"})
    chat.fire("beforeShellExecution", command="ls", cwd="/", sandbox=False)
    start, shell = payloads(seen)
    assert (start["hook_event_name"], shell["hook_event_name"]) == ("sessionStart", "beforeShellExecution")
    assert start["conversation_id"] == shell["conversation_id"] == chat.id
    assert shell["workspace_roots"] == [str(tmp_path / "project")]
    assert {"generation_id", "model", "cursor_version", "user_email"} <= set(shell)
    assert shell["command"] == "ls"
    assert start["transcript_path"] is None
    assert "hello" in Path(shell["transcript_path"]).read_text()


@pytest.mark.parametrize("extra", [{"notification": "true"}, {"stop": "curl http://127.0.0.1:9/"}])
def test_one_bad_hook_silently_voids_them_all(tmp_path: Path, seen: Path, extra: dict[str, str]) -> None:
    chat = session(tmp_path, {"sessionStart": f"cat >>{seen}", **extra})
    chat.open()
    assert payloads(seen) == []


def test_a_hook_denies_by_exit_code_or_by_word_and_its_failure_does_not_matter(tmp_path: Path) -> None:
    hooks = {
        "preToolUse": "exit 2",
        "beforeShellExecution": """echo '{"permission": "ask"}'""",
        "stop": "echo nonsense; exit 1",
    }
    chat = session(tmp_path, hooks)
    assert chat.fire("preToolUse")["permission"] == "deny"
    assert chat.fire("beforeShellExecution") == {"permission": "ask"}
    assert chat.fire("stop") == {}


def test_it_says_everywhere_that_it_is_a_stand_in() -> None:
    said = subprocess.run(
        [sys.executable, str(program_of(Cursor)), "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert all("stand-in" in word for word in (said, Cursor.title, Cursor.version))
    assert "not Cursor's program" in said
    assert Cursor.stand_in
