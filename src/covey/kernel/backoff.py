"""Pauses between attempts at something that fails."""

from __future__ import annotations

import random

LEAST_JITTER = 0.5
"""With jitter, a pause is at least this part of its full length."""


class BackOff:
    """Counts failures in a row and says how long to wait after each.

    The pause doubles with every failure until it is the longest one. With jitter it is shortened at random, so that
    those who failed together do not try again together.
    """

    def __init__(self, first_s: float, longest_s: float, *, jitter: bool = True) -> None:
        self.failures = 0
        """Failures since the last success."""
        self._first_s = first_s
        self._longest_s = longest_s
        self._jitter = jitter
        self._next_s = first_s

    def fail(self) -> float:
        """Count a failure. Returns the seconds to wait before the next attempt."""
        pause = min(self._next_s, self._longest_s)
        self.failures += 1
        self._next_s = min(self._next_s * 2, self._longest_s)
        return pause * random.uniform(LEAST_JITTER, 1.0) if self._jitter else pause  # noqa: S311 - not a secret

    def succeed(self) -> None:
        """Begin again with the first pause."""
        self.failures = 0
        self._next_s = self._first_s
