"""A machine with tmux servers on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from covey.hosts.host import Host, LocalHost, SshHost
from covey.tmux.sockets import Sockets, remote_sockets

if TYPE_CHECKING:
    from collections.abc import Iterable


class TmuxHost(Host, Protocol):
    """A machine whose tmux servers can be found."""

    async def sockets(self) -> list[str]:
        """Return the sockets of the user's tmux servers.

        It is asked every few seconds, and so also shows that the machine can be reached.
        """
        ...


class LocalTmuxHost(LocalHost):
    """This machine."""

    def __init__(self, patterns: Iterable[str], *, anywhere: bool = False) -> None:
        """Find servers at sockets by these patterns; with `anywhere` also at others that the system lists."""
        super().__init__()
        self._sockets = Sockets(patterns, anywhere=anywhere)

    async def sockets(self) -> list[str]:
        return self._sockets.live(self.executor)


class SshTmuxHost(SshHost):
    """A machine behind ssh. Nothing needs to be installed there but tmux."""

    async def sockets(self) -> list[str]:
        return await remote_sockets(self.monitor_shell)
