"""A limit on the processor time of a computation, for regular expressions that others have written.

The engine of regular expressions does not let other threads run, but it runs the handlers of signals, which can raise.
"""

from __future__ import annotations

import gc
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class TooLongError(Exception):
    """A computation took longer than its limit."""


class _Alarm:
    """The timer of the process, which one computation at a time can use."""

    def __init__(self) -> None:
        self._until: float | None = None

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        if self._until is not None or threading.current_thread() is not threading.main_thread():
            yield  # within another limit; or in a thread, which handlers of signals do not run in
            return
        if signal.getsignal(signal.SIGVTALRM) != self._ring:
            signal.signal(signal.SIGVTALRM, self._ring)
            signal.siginterrupt(signal.SIGVTALRM, False)  # noqa: FBT003 - the signature of the standard library
        collects = gc.isenabled()
        gc.disable()  # a collection takes time that is not the computation's
        self._until = time.thread_time() + seconds
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            yield
        finally:
            self._until = None
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            if collects:
                gc.enable()

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        if self._until is None:
            return
        left = self._until - time.thread_time()
        if left > 0:  # other threads have used the time of the process
            signal.setitimer(signal.ITIMER_VIRTUAL, max(left, 0.001))
            return
        self._until = None
        raise TooLongError


_alarm = _Alarm()
limited = _alarm.limited
"""Raise TooLongError out of the block when this thread has computed in it for so many seconds.

Only for code that leaves nothing half done. Without effect in threads other than the main one, and within another
limit.
"""
