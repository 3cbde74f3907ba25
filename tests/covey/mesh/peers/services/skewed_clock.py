"""A clock that is wrong, for a peer in this process."""

from __future__ import annotations

from covey.kernel.clock import SystemClock


class SkewedClock(SystemClock):
    """The machine's clock, ahead by so much."""

    def __init__(self, skew_s: float) -> None:
        self._skew_s = skew_s

    def time(self) -> float:
        return super().time() + self._skew_s
