"""Which numbers of one sequence have come, kept as runs: small, however many they are.

A sequence is what one outbox sends to one member, or to one topic. Its numbers are dense, so a hole is a message that
is late, lost or given up. A number that has come is never new again.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

import msgspec

MOST_RUNS = 512
"""Beyond this many runs the oldest hole is closed: a sender cannot make us remember any number of holes."""


class Tracker:
    """The numbers that have come. Those below `next` all have; beyond it there are runs.

    For messages that are delivered in order: the numbers below `settled` are not waited for any more. They were
    delivered, or given up; one that was given up is still new when it comes.
    """

    __slots__ = ("_firsts", "_lasts", "next", "settled")

    def __init__(self, first: int = 1) -> None:
        """Begin with the number `first`; smaller ones are duplicates."""
        self.next = first
        self.settled = first
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The runs beyond `next`, each as its first and its last number, in order, never adjacent."""
        return list(zip(self._firsts, self._lasts, strict=True))

    def __contains__(self, n: int) -> bool:
        """Return whether a number has come."""
        if n < self.next:
            return True
        at = bisect_right(self._firsts, n) - 1
        return at >= 0 and n <= self._lasts[at]

    def accept(self, n: int) -> Literal["new", "duplicate"]:
        """Note that a number has come, and return whether it is the first time."""
        if n in self:
            return "duplicate"
        if n == self.next:
            self.next += 1
        else:
            self._insert(n)
        if self._firsts and self._firsts[0] == self.next:
            self._absorb()
        if len(self._firsts) > MOST_RUNS:
            self._absorb()
        return "new"

    def take_ready(self) -> range:
        """Settle and return the numbers that can be delivered now because nothing before them is waited for.

        Numbers that never came may be among them, if a hole was closed.
        """
        end = self._end_of_run(self.settled)
        ready = range(self.settled, end)
        self.settled = end
        return ready

    def give_up(self) -> range:
        """Give up the hole that is waited for: settle and return the numbers behind it, up to the next hole.

        The range is empty if nothing has come beyond the hole.
        """
        if ready := self.take_ready():  # a hole was closed meanwhile
            return ready
        at = bisect_right(self._firsts, self.settled)
        if at == len(self._firsts):
            return range(self.settled, self.settled)
        self.settled = self._firsts[at]
        return self.take_ready()

    def encode(self) -> bytes:
        """Return all of this as a few bytes."""
        return msgspec.msgpack.encode([self.next, self.settled, self._firsts, self._lasts])

    @classmethod
    def decode(cls, data: bytes) -> Tracker:
        """Return what `encode` was called on."""
        following, settled, firsts, lasts = _decoder.decode(data)
        tracker = cls(following)
        tracker.settled = settled
        tracker._firsts = firsts
        tracker._lasts = lasts
        return tracker

    def _insert(self, n: int) -> None:
        """Insert a number beyond `next` that has not come, into a run or as a new one."""
        at = bisect_right(self._firsts, n)
        joins_before = at > 0 and self._lasts[at - 1] == n - 1
        joins_after = at < len(self._firsts) and self._firsts[at] == n + 1
        if joins_before and joins_after:
            self._lasts[at - 1] = self._lasts[at]
            del self._firsts[at], self._lasts[at]
        elif joins_before:
            self._lasts[at - 1] = n
        elif joins_after:
            self._firsts[at] = n
        else:
            self._firsts.insert(at, n)
            self._lasts.insert(at, n)

    def _absorb(self) -> None:
        """Make `next` the number after the first run; what is missing before that run counts as come."""
        self.next = self._lasts[0] + 1
        del self._firsts[0], self._lasts[0]

    def _end_of_run(self, n: int) -> int:
        """Return the first number from `n` on that has not come."""
        start = max(n, self.next)
        at = bisect_right(self._firsts, start) - 1
        return self._lasts[at] + 1 if at >= 0 and start <= self._lasts[at] else start


_decoder = msgspec.msgpack.Decoder(tuple[int, int, list[int], list[int]])
