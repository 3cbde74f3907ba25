"""Ends a forked process as the interpreter would, without its last step: to free all objects would copy all memory."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import NoReturn

FAILED, NOT_WRITTEN = 1, 120
"""What the interpreter ends with after an exception, and if the standard output could not be written."""


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
