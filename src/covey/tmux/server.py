"""Where a tmux server is, which one it is, and plain commands to it: one process each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.tmux import listing
from covey.tmux.errors import TmuxProtocolError, failure
from covey.tmux.executor import run
from covey.tmux.greeting import fits, greet

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from covey.tmux.executor import Executor
    from covey.tmux.greeting import Greeted
    from covey.tmux.listing import Pane

PLAIN_S = 5.0
IDENTITY = "#{pid} #{start_time}"


class Identity(NamedTuple):
    """Which server it is. A restarted one is another: its pane ids begin again and mean other panes."""

    pid: int
    started: int


class Address(NamedTuple):
    """A server by its socket; an empty one is tmux's default on that machine."""

    executor: Executor
    socket: str

    def argv(self, *words: str) -> list[str]:
        """A command line that never starts a server."""
        return ["tmux", "-u", "-N", *(("-S", self.socket) if self.socket else ()), *words]

    def listening(self) -> bool | None:
        """Whether a server is there, without asking it; None if that cannot be known so."""
        return self.executor.listening(self.socket) if self.socket else None

    async def command(self, *words: str) -> list[str]:
        """Run one command through a process of its own and return the lines that it printed."""
        return await self._run(*(f"{word[:-1]}\\;" if word.endswith(";") else word for word in words))

    async def control(self, *words: str) -> Process | Greeted:
        """Start a control client with this as its first command. We are one ourselves where that is known to work: the program may crash the server."""
        if self.executor.here:
            said = await self._run("display-message", "-p", "#{version} #{pid} #{socket_path}")
            version, _, rest = "".join(said[:1]).partition(" ")  # a hook of the user may say more
            pid, _, path = rest.partition(" ")
            if fits(version) and (greeted := await greet(self.socket or path, int(pid), words)):
                return greeted
        return await self.executor.spawn(self.argv("-C", *words))

    async def look(self) -> tuple[Identity, dict[str, Pane]]:
        """Identity and panes, through one process."""
        lines = await self._run("display-message", "-p", IDENTITY, ";", *listing.arguments())
        return identity("".join(lines[:1])), listing.panes(lines[1:])

    async def _run(self, *words: str) -> list[str]:
        code, out, complaints = await run(self.executor, self.argv(*words), deadline_s=PLAIN_S)
        if code:
            raise failure(complaints, code)
        return out.removesuffix("\n").split("\n") if out else []


def identity(shown: str) -> Identity:
    """Out of what `IDENTITY` shows."""
    try:
        pid, started = shown.split()
        return Identity(int(pid), int(started))
    except ValueError:
        raise TmuxProtocolError(f"tmux does not say who it is: {shown[:80]!r}") from None
