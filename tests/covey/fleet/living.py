"""A real daemon that sees one tmux server and no other, and agents in its panes that do what a test types."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from covey.hosts.processes import ProcessTable
from tests.covey.conftest import Covey
from tests.covey.fleet.room import LIMIT_S, until

TOY = Path(__file__).parents[1] / "agents" / "screens" / "data" / "toy.toml"
AGENT = '#!/bin/sh\nstty -echo\nwhile read -r line; do eval "$line"; done\n'
"""It does what is typed into it. By its name Covey takes it for one agent or another."""


class Fleet:
    """A home, a tmux server that its daemon sees and no other, and agents in panes."""

    def __init__(self, covey: Covey) -> None:
        self.covey = covey
        for name in ("toy-agent", "cursor-agent"):
            (covey.folder / name).write_text(AGENT)
            (covey.folder / name).chmod(0o700)
        (covey.home / "adapters").mkdir(parents=True)
        shutil.copy(TOY, covey.home / "adapters")

    def tmux(self, *words: str) -> str:
        ended = subprocess.run(
            ["tmux", "-u", "-f", "/dev/null", *words],
            env=self.covey.environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    def agent(self, name: str = "toy-agent") -> str:
        """Start one; its pane."""
        return self.tmux(
            "new-session", "-d", "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}", str(self.covey.folder / name)
        )

    def type(self, pane: str, text: str) -> None:
        self.tmux("send-keys", "-t", pane, "-l", "--", text)
        self.tmux("send-keys", "-t", pane, "Enter")

    def show(self, pane: str, line: str) -> None:
        """Have the agent show a line at the end of its screen."""
        self.type(pane, f"printf '\\n{line}'")

    def up(self) -> None:
        assert self.covey.run("up").code == 0

    def recorded(self) -> None:
        """Wait until the journal has every row as it is shown: rows are shown a moment before they are durable."""
        until(lambda: {(row["runtime_id"], row["state_version"]) for row in self.rows()} <= self._journalled())

    def _journalled(self) -> set[tuple[str, int]]:
        told = self.events("agent.started", "agent.state")
        return {(event["subject"], event["data"]["state_version"]) for event in told}

    def kill(self) -> None:
        """End the daemon as a crash would, and wait for all of its threads: until then its FIFOs have a reader."""
        pid = self.covey.pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: ProcessTable.read().get(pid) is None and _threads(pid) <= 1)

    def rows(self) -> list[dict[str, Any]]:
        status, _, body = self.covey.request("GET", "/v1/panes")
        assert status == 200, body
        return json.loads(body)["items"]  # type: ignore[no-any-return]

    def row(self, pane: str, state: str = "") -> dict[str, Any]:
        """The row of an agent, as soon as it is there and in that state."""
        return until(
            lambda: next(
                (row for row in self.rows() if row["identity"]["pane_id"] == pane and state in {"", row["state"]}), None
            )
        )

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The journal's events of some kinds, oldest first."""
        query = "&".join(f"kind={kind}" for kind in kinds)
        _, _, body = self.covey.request("GET", f"/v1/events?{query}")
        return [json.loads(line.removeprefix(b"data: ")) for line in body.splitlines() if line.startswith(b"data: {")]

    def heard(self) -> list[str]:
        """What hooks have said, as it stands in the journal."""
        return [
            event["data"]["claim"]["detail"]
            for event in self.events("agent.signal")
            if event["data"]["source"] == "hook"
        ]

    @property
    def log(self) -> str:
        return Path(self.covey.node / "daemon.log").read_text()


def _threads(pid: int) -> int:
    """Return how many threads of a process the kernel lists, on Linux; one that waits to be reaped has one left."""
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - an error in the middle means none
    return 0


@contextmanager
def living(covey: Covey) -> Iterator[Fleet]:
    made = Fleet(covey)
    yield made
    with suppress(AssertionError):
        made.tmux("kill-server")
