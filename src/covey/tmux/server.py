"""Where a tmux server is, and which one it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from covey.hosts.executor import Executor


TMUX = "tmux"
"""The program, as it is found in PATH."""


class Identity(NamedTuple):
    """Which server it is. A restarted one is another: its pane ids begin again and mean other panes."""

    pid: int
    started: int


class Address(NamedTuple):
    """A server by its socket; an empty one is tmux's default on that machine."""

    executor: Executor
    socket: str
    program: str = TMUX

    def argv(self, *words: str) -> list[str]:
        """A command line that never starts a server."""
        return [self.program, "-u", "-N", *(("-S", self.socket) if self.socket else ()), *words]

    def listening(self) -> bool | None:
        """Whether a server is there, without asking it; None if that cannot be known so."""
        return self.executor.listening(self.socket) if self.socket else None
