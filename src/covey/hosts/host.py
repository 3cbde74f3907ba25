"""A machine: how programs are started on it, and which processes run there."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING, Protocol

from covey.hosts.executor import Local, Ssh
from covey.hosts.processes import ProcessTable
from covey.hosts.remote_processes import RemoteProcesses
from covey.hosts.shell import Shell
from covey.kernel.processes.process import birth, signal_process, start_of

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from covey.hosts.executor import Executor


class Host(Protocol):
    """A machine.

    Every method raises `HostError` if the machine cannot be reached, and none takes longer than its deadline.
    """

    @property
    def here(self) -> bool:
        """Whether it is this machine. Files can be read, and exits of processes noticed, only here."""
        ...

    @property
    def executor(self) -> Executor: ...

    async def processes(self, panes: Iterable[int]) -> ProcessTable:
        """Return the processes that run now.

        Those in panes, given by the pid of each pane's first process, can be described.

        Raises `ProcessesError` if they cannot be listed.
        """
        ...

    async def signal(self, pid: int, started: int, name: str) -> bool:
        """Send a signal, such as INT, to the process that was started then, in the ticks of `processes`.

        Returns False if it is not there any more. If it raises, it is not known whether the signal was sent.
        """
        ...

    async def lives(self, pid: int, started: int) -> bool:
        """Return whether the process that was started then is still there."""
        ...

    async def reset(self) -> None:
        """Close a connection that may be dead; the next use opens a new one."""
        ...

    async def aclose(self) -> None: ...


class LocalHost:
    """This machine."""

    here = True

    def __init__(self) -> None:
        self.executor: Executor = Local()
        self._table: ProcessTable | None = None

    async def processes(self, panes: Iterable[int]) -> ProcessTable:  # noqa: ARG002 - all can be described
        before = self._table
        if sys.platform == "linux":
            self._table = ProcessTable.read(before)
        else:
            self._table = await asyncio.to_thread(ProcessTable.read, before)
        return self._table

    async def signal(self, pid: int, started: int, name: str) -> bool:
        born = birth(pid)
        same = sys.platform != "linux" or start_of(pid) == started
        return bool(born) and same and signal_process(pid, born, signal.Signals[f"SIG{name}"])

    async def lives(self, pid: int, started: int) -> bool:
        return start_of(pid) == started if sys.platform == "linux" else bool(birth(pid))

    async def reset(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


class SshHost:
    """A machine behind ssh: one connection, with shells that stay open. Nothing needs to be installed there.

    `monitor_shell` is for questions whose answers prove that the connection is alive: a long list of processes must not
    delay them.
    """

    here = False

    def __init__(self, alias: str, *, control_dir: Path, options: Sequence[str] = ()) -> None:
        """Raises `ValueError` if the alias is not one that ssh takes, or the path of `control_dir` is too long."""
        self._ssh = Ssh(alias, control_dir=control_dir, options=options)
        self.executor: Executor = _SharedSsh(self._ssh)
        self.monitor_shell = Shell(self._ssh)
        self._shell = Shell(self._ssh)
        self._processes = RemoteProcesses(self._shell)

    async def processes(self, panes: Iterable[int]) -> ProcessTable:
        return await self._processes.read(panes)

    async def signal(self, pid: int, started: int, name: str) -> bool:
        return await self._processes.signal(pid, started, name)

    async def lives(self, pid: int, started: int) -> bool:
        return await self._processes.lives(pid, started)

    async def reset(self) -> None:
        await self.monitor_shell.aclose()
        await self._shell.aclose()
        await self._ssh.reset()

    async def aclose(self) -> None:
        await self.reset()


class _SharedSsh:
    """The connection as one of several users has it: none of them may close it for the others, whatever hangs for that
    one.
    """

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
