"""The one place where numpy is imported: when a peer searches by meaning for the first time."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

_THREADS = "OPENBLAS_NUM_THREADS"
_one_at_a_time = threading.Lock()


def numpy() -> ModuleType:
    """Return numpy, imported so that it computes with one thread. Raises ImportError if it is not installed.

    More threads are slower for products of this size, and take the cores of the agents. The variable is read at the
    import only, and hooks should not inherit it.
    """
    with _one_at_a_time:
        before = os.environ.get(_THREADS)
        os.environ[_THREADS] = "1"
        try:
            import numpy as np  # noqa: PLC0415 - a peer that does not search by meaning stays small
        finally:
            if before is None:
                del os.environ[_THREADS]
            else:
                os.environ[_THREADS] = before
    return np
