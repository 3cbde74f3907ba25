"""Where a target is: how its tmux servers and its processes are found, and how programs are started there."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Protocol

from covey.fleet.processes import ProcessTable
from covey.fleet.remote_processes import RemoteProcesses
from covey.tmux.executor import Local, Ssh
from covey.tmux.shell import Shell
from covey.tmux.sockets import Sockets, remote_sockets

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from covey.tmux.executor import Executor


class Place(Protocol):
    """A machine as the fleet sees it. What cannot be reached raises `TmuxError`, and nothing takes longer than its deadline."""

    @property
    def here(self) -> bool:
        """Whether it is this machine: only here can files be read and exits be heard of."""
        ...

    @property
    def executor(self) -> Executor:
        """For the watches of servers."""
        ...

    async def sockets(self) -> list[str]:
        """The sockets of the user's tmux servers. Asked every few seconds, so it is also the proof that the machine can be reached."""
        ...

    async def processes(self, panes: Iterable[int]) -> ProcessTable:
        """The processes now; at least those in these panes, given by their first processes, can be described. May raise `ProcessesError`."""
        ...

    async def reset(self) -> None:
        """Forget a connection that may be dead."""
        ...

    async def aclose(self) -> None: ...


class Here:
    """This machine."""

    here = True

    def __init__(self, patterns: Iterable[str], *, anywhere: bool = False) -> None:
        """The tmux servers at sockets by these patterns; with `anywhere` also those elsewhere, where the system tells of them."""
        self.executor: Executor = Local()
        self._sockets = Sockets(patterns, anywhere=anywhere)
        self._table: ProcessTable | None = None

    async def sockets(self) -> list[str]:
        return self._sockets.live(self.executor)

    async def processes(self, panes: Iterable[int]) -> ProcessTable:  # noqa: ARG002 - all can be described
        before = self._table
        self._table = (
            ProcessTable.read(before) if sys.platform == "linux" else await asyncio.to_thread(ProcessTable.read, before)
        )
        return self._table

    async def reset(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


class There:
    """A machine behind ssh: one connection, with shells that stay open for our own questions. Nothing needs to be installed there but tmux.

    Sockets have a shell to themselves: its answers are the pulse of the connection, and a long list of processes must not pass for its end.
    """

    here = False

    def __init__(self, alias: str, *, control_dir: Path, options: Sequence[str] = ()) -> None:
        """`ValueError` if there can be no connection by that alias, or none with sockets in that folder."""
        self._ssh = Ssh(alias, control_dir=control_dir, options=options)
        self.executor: Executor = _Lent(self._ssh)
        self._pulse, self._shell = Shell(self._ssh), Shell(self._ssh)
        self._processes = RemoteProcesses(self._shell)

    async def sockets(self) -> list[str]:
        return await remote_sockets(self._pulse)

    async def processes(self, panes: Iterable[int]) -> ProcessTable:
        return await self._processes.read(panes)

    async def reset(self) -> None:
        await self._pulse.aclose()
        await self._shell.aclose()
        await self._ssh.reset()

    async def aclose(self) -> None:
        await self.reset()


class _Lent:
    """The connection in the hands of one of its users: that one tmux server hangs is no reason to cut off the others."""

    here = False

    def __init__(self, ssh: Ssh) -> None:
        self._ssh = ssh
        self.name = ssh.name

    async def spawn(self, argv: Sequence[str]) -> Process:
        return await self._ssh.spawn(argv)

    def listening(self, path: str) -> bool | None:
        return self._ssh.listening(path)

    async def reset(self) -> None:
        pass

    async def aclose(self) -> None:
        pass
