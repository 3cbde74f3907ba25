"""Runs a command, and leaves no process behind when it ends or is ended: `reaper.py <command> …`.

Daemons, tmux servers, brokers and pretended agents of the tests detach themselves from what has started them. Linux
gives such a process to the nearest ancestor that asked for orphans (a "subreaper"). Here that are two processes: an
inner one, in a session of its own, that starts the command and kills what is left of it, and an outer one that does the
same if the inner one is killed. If the outer one is killed, the inner one gets a signal. Elsewhere than on Linux the
command is only run.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE_S = 10.0
"""What the command gets for an end of its own after a signal, such as the summary of a test run."""
ROUNDS = 500
"""How often what is left is killed: a process that does not end must not keep us."""
ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
AWAITED = {signal.SIGCHLD, *ENDING}


def main(command: list[str]) -> int:
    """Run the command and return its exit code; 128 + the number of the signal if one ended it."""
    if sys.platform != "linux":
        os.execvp(command[0], command)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    outer = os.getpid()
    _control(PR_SET_CHILD_SUBREAPER, 1)
    inner = os.fork()
    if inner:
        return _reap(inner, lambda: os.kill(inner, signal.SIGTERM))
    os.setsid()
    _control(PR_SET_CHILD_SUBREAPER, 1)
    _control(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != outer:  # it was killed before we asked for the signal
        os._exit(1)
    started = os.fork()
    if started:
        os._exit(_reap(started, lambda: os.killpg(0, signal.SIGINT)))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"reaper: {command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _reap(child: int, interrupt: Callable[[], None]) -> int:
    """Return how the child ended, after all other descendants were ended too.

    The first signal that asks us to end interrupts the child; after the time of grace it is killed.
    """
    deadline: float | None = None
    while (code := _reaped(child)) is None:
        left = 3600.0 if deadline is None else deadline - time.monotonic()
        if left <= 0:
            break
        received = signal.sigtimedwait(AWAITED, left)
        if received and received.si_signo in ENDING and deadline is None:
            deadline = time.monotonic() + GRACE_S
            interrupt()
    _kill_descendants()
    return 128 + signal.SIGKILL if code is None else code


def _reaped(child: int) -> int | None:
    """Collect what has ended; return how this child ended, None if it has not."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                exited = os.waitstatus_to_exitcode(ended[1])
                code = exited if exited >= 0 else 128 - exited
    return code


def _kill_descendants() -> None:
    for _ in range(ROUNDS):
        found = _descendants()
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        signal.sigtimedwait({signal.SIGCHLD}, 0.02)
        _reaped(0)


def _descendants() -> list[int]:
    """Return the processes below this one, the nearest first."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                # The name of the program, in brackets, may hold blanks and brackets of its own.
                state_and_parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()
                children.setdefault(int(state_and_parent[1]), []).append(int(folder.name))
    found = children.get(os.getpid(), [])
    for pid in found:
        found += children.get(pid, [])
    return found


def _control(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl is refused")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
