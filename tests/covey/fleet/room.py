"""A private tmux server with panes in which a test types, as a person would."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from covey.hosts.processes import ProcessTable

LIMIT_S = 120
T = TypeVar("T")
SHELL = ("bash", "--norc", "--noprofile")


def until(look: Callable[[], T | None]) -> T:
    """What `look` finds, as soon as it finds something: it happens in another process."""
    end = time.monotonic() + LIMIT_S
    while not (found := look()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return found


@dataclass(frozen=True)
class TmuxPane:
    room: Room
    pane_id: str

    @property
    def pid(self) -> int:
        return int(self.room.tmux("display-message", "-p", "-t", self.pane_id, "#{pane_pid}"))

    def type(self, text: str) -> None:
        self.room.tmux("send-keys", "-t", self.pane_id, "-l", "--", text)
        self.room.tmux("send-keys", "-t", self.pane_id, "Enter")

    def key(self, name: str) -> None:
        self.room.tmux("send-keys", "-t", self.pane_id, name)


class Room:
    """One tmux server; it may be ended and started again on the same socket."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-u", "-S", str(self.socket), "-f", "/dev/null", *arguments]
        environment = {**os.environ, "HISTFILE": os.devnull}  # what is typed here is nobody's history
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=True
        ).stdout.strip()

    def pane(self, *command: str) -> TmuxPane:
        return TmuxPane(
            self, self.tmux("new-session", "-d", "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}", *(command or SHELL))
        )

    def end(self) -> None:
        """Return when the server is gone, so that the next one is a new one."""
        pid = int(self.tmux("display-message", "-p", "#{pid}"))
        self.tmux("kill-server")
        until(lambda: not ProcessTable.read().get(pid))

    def close(self) -> None:
        """End the server and what its panes have started.

        A program in a session of its own is not told that its terminal has ended.
        """
        told = subprocess.run(
            ["tmux", "-S", str(self.socket), "list-panes", "-a", "-F", "#{pane_pid}"],
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
        table, pids = ProcessTable.read(), [int(pid) for pid in told.stdout.split()]
        for pid in pids:
            pids += [child.pid for child in table.children(pid)]
        subprocess.run(
            ["tmux", "-S", str(self.socket), "kill-server"], capture_output=True, timeout=LIMIT_S, check=False
        )
        left = ProcessTable.read()
        for process in filter(None, map(table.get, pids)):
            if left.holds(process.pid, process.started):
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)


@contextmanager
def room() -> Iterator[Room]:
    folder = tempfile.mkdtemp(prefix="covey-")  # short: a socket's path may not be long
    opened = Room(Path(folder) / "s")
    try:
        yield opened
    finally:
        opened.close()
        shutil.rmtree(folder)
