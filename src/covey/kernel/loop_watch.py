"""Measures how long the event loop of a daemon was kept from running, and notes what ran meanwhile.

The kernel sends a signal for every 25 ms of processor time that the process has used, so a daemon at rest is not
woken for it. With the first signal the loop is asked to call back; how late it does is how long it was kept. If a
second signal comes before that, what the main thread is doing then is noted.

What keeps the loop without using the processor, such as a disk that does not answer, is not measured.
"""

from __future__ import annotations

import logging
import signal
import time
import traceback
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator
    from types import FrameType

    from covey.kernel.metrics import Metrics

SAMPLE_S = 0.025
BLOCKED_S = 0.05
"""A loop that is kept for longer than this is blocked."""
BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
BLOCKED = "covey_loop_blocked_seconds"
LOG_EVERY_S = 60.0
RECENT_S, OFTEN = 3600.0, 20
"""So many times within that many seconds are worth a warning."""
FRAMES = 8

log = logging.getLogger("covey.daemon")


class Blocked(NamedTuple):
    """How often the loop was blocked, and for how long at most."""

    blocked: int = 0
    longest_s: float = 0.0

    def __str__(self) -> str:
        often = f"the daemon was kept from answering {self.blocked} times within the last hour"
        return f"{often}, for up to {self.longest_s:.2f} s"


class LoopWatch:
    """What is known about one loop. Nothing is measured before `watching`."""

    def __init__(self, metrics: Metrics, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.longest_s = 0.0
        """Since the daemon started."""
        self._metrics = metrics
        self._monotonic = monotonic
        self._asked: float | None = None
        self._stack = ""
        self._recent: deque[tuple[float, float]] = deque(maxlen=1000)
        self._logged_at: float | None = None
        self._unlogged = 0
        metrics.histogram(BLOCKED, "How long the event loop was kept from running, if over 50 ms.", BOUNDS)
        metrics.gauge("covey_loop_blocked_longest_seconds", "The longest of those.", lambda: self.longest_s)

    @contextmanager
    def watching(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Measure the loop of the main thread."""

        def sampled(_: int, frame: FrameType | None) -> None:
            if self.sample(frame):
                loop.call_soon_threadsafe(self.answer)

        before = signal.signal(signal.SIGPROF, sampled)
        signal.siginterrupt(signal.SIGPROF, False)  # noqa: FBT003 - the signature of the standard library
        signal.setitimer(signal.ITIMER_PROF, SAMPLE_S, SAMPLE_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)

    def sample(self, frame: FrameType | None) -> bool:
        """Note the moment, and what runs. Returns whether the loop is to be asked for an answer."""
        if self._asked is None:
            self._asked = self._monotonic()
            return True
        if not self._stack:
            self._stack = _stack(frame)
        return False

    def answer(self) -> None:
        """The loop runs again."""
        asked, stack = self._asked, self._stack
        self._asked, self._stack = None, ""
        if asked is None or (kept := self._monotonic() - asked) < BLOCKED_S:
            return
        self.longest_s = max(self.longest_s, kept)
        self._recent.append((self._monotonic(), kept))
        self._metrics.observe(BLOCKED, kept)
        self._unlogged += 1
        if self._logged_at is None or self._monotonic() - self._logged_at >= LOG_EVERY_S:
            extra = {"seconds": round(kept, 3), "times": self._unlogged, "ran": stack or "nothing of Covey for long"}
            log.warning("the event loop was blocked", extra=extra)
            self._logged_at, self._unlogged = self._monotonic(), 0

    @property
    def recent(self) -> Blocked:
        """What was measured within the last hour."""
        since = self._monotonic() - RECENT_S
        kept = [seconds for at, seconds in self._recent if at > since]
        return Blocked(len(kept), round(max(kept, default=0.0), 3))


def _stack(frame: FrameType | None) -> str:
    """Return the innermost calls as one line, the innermost first."""
    if frame is None:
        return ""
    calls = traceback.StackSummary.extract(traceback.walk_stack(frame), limit=FRAMES, lookup_lines=False)
    return " < ".join(f"{_module(call.filename)}:{call.lineno} {call.name}" for call in calls)


def _module(path: str) -> str:
    return "/".join(path.rsplit("/", 2)[-2:])
