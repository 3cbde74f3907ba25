"""The processes of a machine as values: children, foreground jobs of terminals, and identity beyond the pid."""

from __future__ import annotations

import calendar
import os
import subprocess
import sys
import time
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.hosts.errors import ProcessesError
from covey.kernel.processes.process import boot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PS = ("/bin/ps", "-axo", "pid=,ppid=,pgid=,tpgid=,lstart=,stat=,ucomm=")
PS_ARGUMENTS = ("/bin/ps", "-axwwo", "pid=,args=")
"""Two calls, because a name may have spaces in it and so has to come last, just as the arguments."""
PS_LIMIT_S = 5.0
STACK = 25
"""Which field after the name in /proc/PID/stat is the address of the stack: it is drawn anew for every exec."""
ENDED = ("Z", "X")
"""States of a process that has ended and only waits to be reaped."""
STOPPED = "T"


class Process(Struct, frozen=True, kw_only=True):
    """One process at one moment. Its pid and `started` together are its identity until the next boot."""

    pid: int
    parent: int
    group: int
    foreground: int
    """The group in front on this process's terminal; 0 or less if it has no terminal."""
    started: int
    """In ticks of its table: those of the kernel since the boot, or seconds since 1970 where `ps` was asked."""
    name: str
    image: int = 0
    """Another number after every exec; 0 if the kernel does not tell."""
    stopped: bool = False
    """By a signal, as after Ctrl-Z: it does nothing until it is continued."""
    argv: tuple[str, ...] = ()
    exe: str = ""

    @property
    def in_front(self) -> bool:
        """Whether it may read its terminal: keys typed there reach it or others of its group."""
        return 0 < self.foreground == self.group


def _as_it_is(process: Process) -> Process:
    return process


class ProcessTable:
    """All processes of a machine at one moment. What `describe` finds out later is about the same pids, a little later.

    `now` is the moment in ticks, `rate` how many of them make a second.
    """

    def __init__(
        self,
        processes: Iterable[Process],
        *,
        boot: str = "",
        now: float = 0.0,
        rate: float = 100.0,
        look: Callable[[Process], Process] = _as_it_is,
    ) -> None:
        self.boot = boot
        self.now = now
        self.rate = rate
        self._look = look
        self._processes = {process.pid: process for process in processes}
        self._described: dict[int, Process] = {}

    @classmethod
    def read(cls, before: ProcessTable | None = None) -> ProcessTable:
        """Read the processes of this machine, without those that have ended.

        Descriptions in `before` that still hold are not read again.

        Linux: one pass over /proc. Elsewhere `ps`, which takes a while: call it from a thread there.
        """
        if sys.platform != "linux":
            now = time.time()
            return from_ps(_ps(PS), _ps(PS_ARGUMENTS), boot=boot(), now=now)
        table = cls(
            _read_stats(),
            boot=boot(),
            now=time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"),
            rate=os.sysconf("SC_CLK_TCK"),
            look=_look,
        )
        if before is not None:
            table._carry_over(before)
        return table

    def __len__(self) -> int:
        return len(self._processes)

    def get(self, pid: int) -> Process | None:
        return self._processes.get(pid)

    def holds(self, pid: int, started: int) -> bool:
        """Whether this very process lives: one that got its pid later is another."""
        process = self._processes.get(pid)
        return process is not None and process.started == started

    def age(self, process: Process) -> float:
        """Seconds since it was started."""
        return max(0.0, (self.now - process.started) / self.rate)

    def describe(self, process: Process) -> Process:
        """The process with its arguments and its program. Both are empty if it is gone or is none of ours."""
        described = self._described.get(process.pid)
        if described is None:
            described = self._described[process.pid] = self._look(process)
        return described

    def children(self, pid: int) -> list[Process]:
        """Oldest first."""
        return self._children.get(pid, [])

    def by_start(self) -> list[Process]:
        """Oldest first."""
        return sorted(self._processes.values(), key=lambda process: (process.started, process.pid))

    def foreground(self, pane_pid: int) -> list[Process]:
        """Return the foreground job of a pane, given its first process: the foreground group of its terminal and its
        descendants.

        Parents come first. Jobs that a shell keeps in the background or suspended are left out.
        """
        pane = self._processes.get(pane_pid)
        if pane is None or pane.foreground <= 0:
            return []
        members = {
            member.pid: member
            for member in self._groups.get(pane.foreground, [])
            if member.foreground == pane.foreground
        }
        job = {member.pid: member for member in members.values() if member.parent not in members}
        waiting = list(job.values())
        for process in waiting:
            for child in self.children(process.pid):
                background = child.foreground == process.foreground and child.foreground > 0 and not child.in_front
                if child.pid not in job and not background:
                    job[child.pid] = child
                    waiting.append(child)
        return waiting

    @cached_property
    def _children(self) -> dict[int, list[Process]]:
        return self._by(lambda process: process.parent)

    @cached_property
    def _groups(self) -> dict[int, list[Process]]:
        return self._by(lambda process: process.group)

    def _by(self, key: Callable[[Process], int]) -> dict[int, list[Process]]:
        found: dict[int, list[Process]] = {}
        for process in self.by_start():
            found.setdefault(key(process), []).append(process)
        return found

    def _carry_over(self, before: ProcessTable) -> None:
        for pid, old in before._described.items():
            process = self._processes.get(pid)
            if (
                process is None
                or not process.image
                or (process.started, process.image, process.name) != (old.started, old.image, old.name)
            ):
                continue
            if old.argv:  # without arguments it was gone, or between fork and exec
                self._described[pid] = replace(process, argv=old.argv, exe=old.exe)


def parse_stat(line: bytes) -> Process | None:
    """A line of /proc/PID/stat; nothing if the process has ended."""
    head, _, tail = line.rpartition(b") ")  # a name may hold anything, also this
    fields = tail.split(None, STACK + 1)
    if len(fields) <= STACK or fields[0].decode() in ENDED:
        return None
    pid, _, name = head.partition(b" (")
    return Process(
        pid=int(pid),
        parent=int(fields[1]),
        group=int(fields[2]),
        foreground=int(fields[5]),
        started=int(fields[19]),
        name=name.decode(errors="replace"),
        image=int(fields[STACK]),
        stopped=fields[0].decode() == STOPPED,
    )


def from_ps(listing: str, arguments: str, *, boot: str, now: float) -> ProcessTable:
    """Parse what `PS` and `PS_ARGUMENTS` print with LC_ALL=C and TZ=UTC0; `now` in seconds since 1970.

    Arguments are split at spaces: `ps` does not show more. Raises `ProcessesError` if it is something else.
    """
    try:
        words = (line.split(None, 1) for line in arguments.splitlines())
        argv = {int(found[0]): tuple(found[1].split()) for found in words if len(found) > 1}
        processes = [process for line in listing.splitlines() if (process := _parse_ps(line, argv)) is not None]
    except ValueError as error:
        raise ProcessesError(f"the processes cannot be listed: this is not what ps prints: {error}") from error
    return ProcessTable(processes, boot=boot, now=now, rate=1.0)


def _parse_ps(line: str, argv: dict[int, tuple[str, ...]]) -> Process | None:
    pid, parent, group, foreground, _, month, day, hour, year, state, name = line.split(None, 10)
    if state.startswith(ENDED):
        return None
    own = argv.get(int(pid), ())
    return Process(
        pid=int(pid),
        parent=int(parent),
        group=int(group),
        foreground=int(foreground),
        started=calendar.timegm(time.strptime(f"{month} {day} {hour} {year}", "%b %d %H:%M:%S %Y")),
        name=name.strip(),
        stopped=state.startswith(STOPPED),
        argv=own,
        exe=own[0] if own else "",
    )


def described(pid: int, started: int) -> Process | None:
    """Return a process of this machine with its arguments and its program; None if it has ended. Linux only."""
    process = _stat(pid) if sys.platform == "linux" else None
    return _look(process) if process is not None and process.started == started else None


def _read_stats() -> list[Process]:
    return [process for name in os.listdir("/proc") if name.isdigit() and (process := _stat(int(name))) is not None]  # noqa: PTH208 - pathlib takes twice as long


def _stat(pid: int) -> Process | None:
    return parse_stat(_read(f"/proc/{pid}/stat"))


def _look(process: Process) -> Process:
    try:
        exe = os.readlink(f"/proc/{process.pid}/exe").removesuffix(" (deleted)")  # noqa: PTH115 - an update replaces a running program
    except OSError:
        exe = ""
    argv = _read(f"/proc/{process.pid}/cmdline").rstrip(b"\0")
    return replace(process, argv=tuple(argv.decode(errors="replace").split("\0")) if argv else (), exe=exe)


def _read(path: str) -> bytes:
    """A file of /proc; nothing if its process is gone. Bare system calls: this happens for every process there is."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _ps(command: tuple[str, ...]) -> str:
    try:
        ended = subprocess.run(  # noqa: S603 - a constant
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PS_LIMIT_S,
            check=True,
            env={"LC_ALL": "C", "TZ": "UTC0"},
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ProcessesError(f"the processes cannot be listed: {' '.join(command)}: {error}") from error
    return ended.stdout
