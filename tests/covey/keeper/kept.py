"""A daemon that keeps a stand-in for Claude Code in a tmux server of its own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from covey.kernel.processes.process import birth
from tests.covey.conftest import Covey, Ran
from tests.covey.fleet.actions.conftest import PROGRAM
from tests.covey.fleet.living import Fleet
from tests.covey.fleet.room import until

FOLDER = Path(__file__).parent
STANDIN = (PROGRAM, FOLDER.parent / "fleet" / "actions" / "composing_claude.py", FOLDER / "kept_claude.py")
QUICK = {"COVEY_BACKOFF_INITIAL": "0.1", "COVEY_IDLE_THRESHOLD": "0", "COVEY_MCP_PORT": "0"}


class Kept(Fleet):
    """The daemon, the session `api`, and what its agent was told."""

    def __init__(self, covey: Covey) -> None:
        super().__init__(covey)
        self.told_file = covey.folder / "told"
        self.work = covey.folder / "work"
        self.bin = covey.folder / "bin"
        for folder in (self.work, self.bin):
            folder.mkdir()
        for file in STANDIN:
            shutil.copy(file, covey.folder)
        claude = self.bin / "claude"
        python = f"PYTHONHOME={shlex.quote(sys.base_prefix)} PYTHONPATH= exec -a claude {shlex.quote(sys.executable)}"
        claude.write_text(f'#!/bin/bash\n{python} {covey.folder}/kept_claude.py {covey.folder}/told "$@"\n')
        claude.chmod(0o700)

    def begin(self, **extra: str) -> None:
        """Start the daemon."""
        found = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "CLAUDE_CONFIG_DIR": str(self.covey.folder / "claude"),
            **QUICK,
            **extra,
        }
        ran = self.covey.run("up", **found)
        assert ran.code == 0, ran.stderr

    def keep(self, *words: str) -> Ran:
        return self.covey.run("keep", *words, *(["--yes"] if words[0] in {"stop", "restart", "forget"} else []))

    def start(self, *words: str, name: str = "api") -> dict[str, Any]:
        """Start a session and return it when its agent is at its prompt."""
        ran = self.keep("start", name, "--cwd", str(self.work), *words)
        assert ran.code == 0, ran.stderr
        return self.ready(name)

    def session(self, name: str = "api") -> dict[str, Any]:
        status, _, body = self.covey.request("GET", f"/v1/keep/{name}")
        assert status == 200, body
        return json.loads(body)["session"]  # type: ignore[no-any-return]

    def when(self, name: str = "api", **wanted: Any) -> dict[str, Any]:
        """Return the session as soon as it is so."""

        def look() -> dict[str, Any] | None:
            found = self.session(name)
            return found if all(found[key] == value for key, value in wanted.items()) else None

        return until(look)

    def ready(self, name: str = "api", *, restarts: int = 0) -> dict[str, Any]:
        """Return the session as soon as its agent takes messages, after that many restarts."""

        def look() -> dict[str, Any] | None:
            found = self.session(name)
            rests = found["phase"] == "running" and found["state"] in {"idle", "completed"}
            return found if rests and found["restarts"] == restarts else None

        return until(look)

    def write(self, text: str, fifo: str = "in", name: str = "api") -> None:
        """Write to a channel as a shell does."""
        path = Path(self.session(name)["path"]) / fifo
        subprocess.run(["bash", "-c", f"printf '%s\\n' \"$1\" > {shlex.quote(str(path))}", "-", text], check=True)

    @property
    def starts(self) -> list[dict[str, Any]]:
        """The starts of the agent, as it saw them."""
        file = self.told_file.with_name("starts")
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def told(self) -> list[str]:
        """What the agent was told, in order."""
        lines = self.told_file.read_text().splitlines() if self.told_file.exists() else []
        return [json.loads(line)["message"] for line in lines]

    def kept_events(self, *kinds: str) -> list[dict[str, Any]]:
        return [event["data"] for event in self.events(*kinds)]

    def agent_pid(self, name: str = "api") -> int:
        return int(self.tmux("display-message", "-p", "-t", f"={name}:", "#{pane_pid}"))

    def kill_tmux(self) -> None:
        """End the tmux server as a crash would."""
        pid = int(self.tmux("display-message", "-p", "#{pid}"))
        os.kill(pid, signal.SIGKILL)
        until(lambda: not birth(pid))


@contextmanager
def keeping(covey: Covey) -> Iterator[Kept]:
    made = Kept(covey)
    try:
        yield made
    finally:
        covey.run("down")  # first, or it would start again what is ended here
        with suppress(AssertionError):
            made.tmux("kill-server")
