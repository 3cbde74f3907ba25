"""Makes a fork look as if its program had been started, and ends it as the interpreter would."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import io
import os
import sys
import termios
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

FAILED, NOT_WRITTEN = 1, 120
"""What the interpreter ends with after an exception, and if the standard output could not be written."""


def become(program: str, request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Have this process look as if it had been started for the request."""
    if request.get("session"):
        os.setsid()
    if request.get("group"):
        os.setpgid(0, 0)
    if request.get("terminal"):
        take_terminal()
    for number, given in enumerate(streams):
        os.dup2(given, number)
        os.close(given)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [program, *request["words"]]
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        made = getattr(sys, name)
        stream = io.TextIOWrapper(
            open(number, f"{mode}b", closefd=False),  # noqa: SIM115 - for the life of the process
            encoding=made.encoding,
            errors=made.errors,
            line_buffering=name == "stderr" or os.isatty(number),
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def take_terminal() -> None:
    """Begin a session on a terminal of its own. The standard streams stay what they are."""
    os.setsid()
    _, theirs = os.openpty()  # the other end stays open, and ends with this process
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    os.close(theirs)


def end_as(run: Callable[[], object]) -> NoReturn:
    """Run a program and end with its exit code: what it returns, or what it gives to `sys.exit`."""
    ended: object = FAILED
    try:
        ended = run()
    except SystemExit as leaving:
        ended = leaving.code
    except BaseException:  # noqa: BLE001 - as the interpreter shows it
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if isinstance(ended, str):
        sys.stderr.write(f"{ended}\n")
        ended = FAILED
    code = ended if isinstance(ended, int) else 0
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        code = NOT_WRITTEN
        sys.stderr.write(f"Exception ignored in: {sys.stdout!r}\n{type(error).__name__}: {error}\n")
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code & 0xFF)
