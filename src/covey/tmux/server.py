"""The address and the identity of a tmux server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from covey.hosts.executor import Executor


TMUX = "tmux"
"""The name of the program, to be found in PATH."""


class Identity(NamedTuple):
    """The process of a server. A restarted server has a new identity: its pane ids begin again and mean other panes."""

    pid: int
    started: int


class Address(NamedTuple):
    """A server by its socket; an empty `socket` is tmux's default on that machine."""

    executor: Executor
    socket: str
    program: str = TMUX

    def argv(self, *words: str) -> list[str]:
        """Return the command line that runs these tmux commands and never starts a server."""
        return [self.program, "-u", "-N", *(("-S", self.socket) if self.socket else ()), *words]

    def listening(self) -> bool | None:
        """Return whether a server listens, without asking it; None if that cannot be found out this way."""
        return self.executor.listening(self.socket) if self.socket else None
