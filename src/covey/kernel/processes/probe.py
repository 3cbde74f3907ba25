"""Short runs of another program: bounded in time and output, in a session of its own, which is killed afterwards."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Run = Callable[[Sequence[str], Mapping[str, str], float], "Ran"]

MOST_OUTPUT = 65_536
_POLL_S = 0.02


class Ran(NamedTuple):
    """The result of a run; `code` is None and `problem` the reason if it was not started or did not end in time."""

    code: int | None
    out: str = ""
    err: str = ""
    problem: str = ""


def run_program(command: Sequence[str], environ: Mapping[str, str], deadline: float) -> Ran:
    """Run a program without a shell, without a terminal and with its input closed, and return the result.

    Its children that still run are killed with it.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            cwd="/",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ran(None, problem=f"could not be started: {getattr(error, 'strerror', None) or error}")
    try:
        out, err, problem = _read_output(process, time.monotonic() + deadline, deadline)
    finally:
        _end(process)
    return Ran(None if problem else process.returncode, out, err, problem)


def _read_output(process: subprocess.Popen[bytes], until: float, deadline: float) -> tuple[str, str, str]:
    """Return the output until the program has ended, and why reading stopped before that.

    A child that it leaves behind with its pipes open is not waited for.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    output = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    streams = list(output)
    problem = ""
    ended = False
    while not ended and not problem:
        ended = _has_ended(process)  # checked before reading: all output before its end is then in the pipe
        for stream in select.select(streams, [], [], 0 if ended else _POLL_S)[0]:
            part = os.read(stream, MOST_OUTPUT)
            output[stream] += part
            if not part:
                streams.remove(stream)
        if not ended and time.monotonic() >= until:
            problem = f"did not answer within {deadline:g} s"
        elif sum(map(len, output.values())) > MOST_OUTPUT:
            problem = "would not stop talking"
    out, err = (text[:MOST_OUTPUT].decode(errors="replace") for text in output.values())
    return out, err, problem


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended, without reaping it where the system allows that.

    Until it is reaped, its pid cannot become that of another group, which `_end` would kill.
    """
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return process.poll() is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the operating system: it cannot be ended
        process.wait(1)
