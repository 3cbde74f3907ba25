"""A number of places, for those who come first. The number may change at any time."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Slots:
    """`async with` waits for a place and frees it afterwards. `limit` is called whenever one may be given away."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self.used = 0
        self._limit = limit
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """The number of those who wait for a place."""
        return len(self._waiting)

    async def __aenter__(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._give_away()
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:  # the place had been given just before
                self._free()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._free()

    def _free(self) -> None:
        self.used -= 1
        self._give_away()

    def _give_away(self) -> None:
        while self._waiting and self.used < self._limit():
            turn = self._waiting.popleft()
            self.used += 1
            if turn.cancelled():  # its task has not run since: the `except` above frees the place
                continue
            turn.set_result(None)
