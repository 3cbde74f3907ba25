"""Processes by pid, without mistaking one for a later one: their birth, their end, and the group that one leads."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

POLL_S, GROUP_POLL_S = 0.5, 0.02
PS_LIMIT_S = 5.0
MOST_ANCESTORS = 64
STANDARD_ERROR = 2
ENDED = (b"Z", b"X")
"""States of a process that has ended and only waits to be reaped."""
TERMINAL_FIELD, START_FIELD = 4, 19
"""Which fields after the name in /proc/PID/stat are the terminal and the time of the start."""


def birth(pid: int) -> str:
    """Return what tells a process from a later one with the same pid: its boot and its start time.

    It is empty if there is no such process, or if it has ended and was not reaped yet.
    """
    if sys.platform != "linux":
        import subprocess

        ps = subprocess.run(  # noqa: S603 - a constant and a number
            ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=PS_LIMIT_S,
            check=False,
        )
        state, _, since = ps.stdout.strip().partition(" ")
        return "" if state.startswith("Z") else since.strip()
    started = start_of(pid)
    return "" if started is None else f"{boot()}/{started}"


def start_of(pid: int) -> int | None:
    """Return when a process was started, in ticks since the boot; None if there is none or it has ended. Linux only."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in ENDED else int(fields[START_FIELD])


def parent_of(pid: int) -> int:
    """Return the pid of the parent of a process; 0 if there is none, or where the kernel does not tell."""
    fields = _stat(pid)
    return 0 if fields is None else int(fields[1])


def terminal_of(pid: int) -> int:
    """Return the number of the terminal that controls a process; 0 if none does, or where the kernel does not tell."""
    fields = _stat(pid)
    return 0 if fields is None else int(fields[TERMINAL_FIELD])


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment that a process was started with; empty where the kernel does not tell. Linux only."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return {}
    return dict(os.fsdecode(entry).split("=", 1) for entry in entries if b"=" in entry)


def keep_descriptors() -> None:
    """Mark our descriptors, except the standard ones, so that no program which is started later inherits them.

    Python marks what it opens; what this process has inherited itself is not marked.
    """
    for descriptor in map(int, os.listdir("/dev/fd")):
        if descriptor > STANDARD_ERROR:
            with contextlib.suppress(OSError):  # the one with which the folder was read is closed
                os.set_inheritable(descriptor, False)  # noqa: FBT003 - it has no keywords


def ancestry(pid: int) -> Iterator[int]:
    """Yield a process, its parent and so on up to the first process of the machine, which is left out."""
    for _ in range(MOST_ANCESTORS):
        if pid <= 1:
            return
        yield pid
        pid = parent_of(pid)


@cache
def boot() -> str:
    """Return the id of this boot, empty if it is not known: start times and pids come again after the next boot."""
    if sys.platform != "linux":
        import subprocess

        try:
            sysctl = subprocess.run(
                ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"],
                capture_output=True,
                text=True,
                timeout=PS_LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return sysctl.stdout.strip()
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


async def ended(pid: int, born: str) -> None:
    """Wait until a process has ended, ours or adopted, and reap it if it is ours."""
    import asyncio  # late, since the command line looks at processes and does not need it

    fd = open_pidfd(pid)
    try:
        if fd < 0:
            while not _reaped(pid) and (now := birth(pid)) and now == born:  # noqa: ASYNC110 - nothing tells us
                await asyncio.sleep(POLL_S)
            return
        if birth(pid) == born:  # compared with the descriptor open: from here on it is this process and no other
            loop, over = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(fd, over.set)
            try:
                await over.wait()
            finally:
                loop.remove_reader(fd)
        _reaped(pid)
    finally:
        if fd >= 0:
            os.close(fd)


async def group_ended(pid: int, born: str) -> None:
    """Wait until a process and the group that it leads have ended."""
    import asyncio

    await ended(pid, born)
    while signal_group(pid, born, 0) and group_lives(pid):  # noqa: ASYNC110 - nothing tells of the end of a group
        await asyncio.sleep(GROUP_POLL_S)


def signal_group(pid: int, born: str, number: int) -> bool:
    """Send a signal to the group that a process leads or led; return False if there is none.

    If the pid belongs to a later process now, nothing is sent.
    """
    if birth(pid) not in ("", born):
        return False
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS, for a group of zombies; or the group belongs to another user by now
        return number != 0
    return True


def signal_process(pid: int, born: str, number: int) -> bool:
    """Send a signal to a process, and to no later one with the same pid; return False if it has ended.

    Raises PermissionError if the process is not ours.
    """
    descriptor = open_pidfd(pid)
    try:
        # The descriptor is open before the birth is compared: from here on it is this process and no other.
        if not born or birth(pid) != born:
            return False
        if descriptor >= 0:
            import signal

            signal.pidfd_send_signal(descriptor, number)
        else:
            os.kill(pid, number)
    except ProcessLookupError:
        return False
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return True


def group_lives(group: int) -> bool:
    """Return whether a group has a member that has not ended; zombies do not count, their parent must reap them."""
    if sys.platform != "linux":
        return True
    members = (fields for name in os.listdir("/proc") if name.isdigit() and (fields := _stat(int(name))) is not None)
    return any(int(fields[2]) == group and fields[0] not in ENDED for fields in members)


def _reaped(pid: int) -> bool:
    """Reap a child of ours if it has ended; return whether it was."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return False


def open_pidfd(pid: int) -> int:
    """Open a descriptor that becomes readable when the process ends; -1 where the system has none to give."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return -1


def _stat(pid: int) -> list[bytes] | None:
    """Return the fields of /proc/PID/stat after the name: state, parent, group and so on; None without a process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split() or None
    except OSError:
        return None
