"""Processes by pid, safe against reused pids: birth, end, and the group that a process leads."""

from __future__ import annotations

import contextlib
import os
import sys

POLL_S, GROUP_POLL_S = 0.5, 0.02


def birth(pid: int) -> str:
    """Return the boot and start time of a process, which distinguish it from a later one with the same pid.

    Returns an empty text if there is no such process; a zombie does not count as one.
    """
    if sys.platform != "linux":
        import subprocess

        ended = subprocess.run(  # noqa: S603
            ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        )
        state, _, started = ended.stdout.strip().partition(" ")
        return "" if state.startswith("Z") else started.strip()
    fields = _stat(pid)
    return "" if fields is None or fields[0] == b"Z" else f"{_boot()}/{fields[19].decode()}"


async def ended(pid: int, born: str) -> None:
    """Wait until a process has ended, ours or adopted, and reap it if it is ours."""
    import asyncio  # here, so that a caller that only inspects processes need not load it

    fd = _pidfd(pid)
    try:
        if fd < 0:
            while not _reaped(pid) and (now := birth(pid)) and now == born:  # noqa: ASYNC110 - nothing tells us
                await asyncio.sleep(POLL_S)
            return
        if birth(pid) == born:  # checked with the descriptor open: from here on it is this process and no other
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
    """Send a signal to the group that a process leads or led; False if there is none.

    If the pid belongs to another process by now, nothing is sent.
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
    """Send a signal to a process, and to no other that may have got its pid since; False if it has ended.

    Raises `PermissionError` if the process belongs to another user.
    """
    descriptor = _pidfd(pid)
    try:
        # Checked with the descriptor open: from here on it is this process and no other.
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
    """Return whether a group has a member that is not a zombie (which its parent, not we, must reap)."""
    if sys.platform != "linux":
        return True
    members = (fields for name in os.listdir("/proc") if name.isdigit() and (fields := _stat(int(name))) is not None)
    return any(int(fields[2]) == group and fields[0] not in (b"Z", b"X") for fields in members)


def _reaped(pid: int) -> bool:
    """Reap a child of ours that has ended; False if the process is not one."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return False


def _pidfd(pid: int) -> int:
    """Return a descriptor that becomes readable when the process ends; -1 where the system has none."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return -1


def _stat(pid: int) -> list[bytes] | None:
    """Return the fields of /proc/PID/stat after the name: state, parent, group and so on; None if it cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split() or None
    except OSError:
        return None


def _boot() -> str:
    """Return the id of the present boot: start times count from the boot, so they repeat after the next one."""
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id", "rb") as file:
        return file.read().strip().decode()
    return ""
