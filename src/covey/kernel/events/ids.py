"""ULIDs: 48 bits of milliseconds and 80 of chance in 26 characters that sort by time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SHIFTS = range(125, -1, -5)


class Ulids:
    """Call it for the next id. Each is greater than the one before, also when the clock goes back."""

    def __init__(self, clock: Callable[[], float], randomness: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._randomness = randomness
        self._last = -1

    def __call__(self) -> str:
        milliseconds = int(self._clock() * 1000) & (1 << 48) - 1
        if milliseconds > self._last >> 80:
            self._last = milliseconds << 80 | int.from_bytes(self._randomness(10), "big")
        else:
            self._last += 1
        last = self._last
        return "".join([_ALPHABET[last >> shift & 31] for shift in _SHIFTS])
