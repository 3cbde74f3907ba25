"""Running another program for a moment: bounded in time and output, alone in a session of its own, and gone afterwards."""

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
_LOOK_S = 0.02


class Ran(NamedTuple):
    """What became of it: `code` is None and `problem` says why if it could not be started or did not end in time."""

    code: int | None
    out: str = ""
    err: str = ""
    problem: str = ""


def run_program(command: Sequence[str], environ: Mapping[str, str], deadline: float) -> Ran:
    """Run a program without a shell, without a terminal and with its input closed; whatever it leaves running is killed with it."""
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
        out, err, problem = _listen(process, time.monotonic() + deadline, deadline)
    finally:
        _end(process)
    return Ran(None if problem else process.returncode, out, err, problem)


def _listen(process: subprocess.Popen[bytes], until: float, deadline: float) -> tuple[str, str, str]:
    """What it says until it has ended, and why we stopped listening before. A child that it leaves behind with its pipes open does not make us wait."""
    assert process.stdout is not None
    assert process.stderr is not None
    said = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    streams, problem, ended = list(said), "", False
    while not ended and not problem:
        ended = _has_ended(process)  # looked at before reading: what it said before it ended is then in the pipe
        for stream in select.select(streams, [], [], 0 if ended else _LOOK_S)[0]:
            part = os.read(stream, MOST_OUTPUT)
            said[stream] += part
            if not part:
                streams.remove(stream)
        if not ended and time.monotonic() >= until:
            problem = f"did not answer within {deadline:g} s"
        elif sum(map(len, said.values())) > MOST_OUTPUT:
            problem = "would not stop talking"
    out, err = (text[:MOST_OUTPUT].decode(errors="replace") for text in said.values())
    return out, err, problem


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Without collecting it where that can be had: while it is not collected, its number cannot become that of another group, which `_end` would kill."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return process.poll() is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(
        subprocess.TimeoutExpired
    ):  # stuck in the kernel: nobody can end it, and we do not wait for it
        process.wait(1)
