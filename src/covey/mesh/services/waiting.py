"""Waiting within a call until something can be had, while the replica changes and claims expire."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from covey.contract.mesh_messages import LONGEST_WAIT_S
from covey.kernel.clock import sleep_until
from covey.kernel.moments import seconds
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from covey.kernel.clock import Clock
    from covey.kernel.operations.call import Call

    T = TypeVar("T")

SHORTEST_S, LONGEST_S = 1.0, 7 * 86_400.0
LATE_S = 0.01
"""So much after a claim has expired it is looked again."""


def length_of(text: str, field: str = "ttl") -> float:
    """Return for how many seconds something is claimed. Raises AgentError."""
    length = seconds(text, field, least=SHORTEST_S)
    if length > LONGEST_S:
        raise user_error(f"{text} is too long", "Take 7d at most, and renew it.", field=field)
    return length


class Waiting:
    """Callers that wait for a change. `wake` lets all of them look again."""

    def __init__(self, clock: Clock, now: Callable[[], float]) -> None:
        """`now` returns the time by which claims expire."""
        self._clock = clock
        self._now = now
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Let everybody look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def until_had(
        self,
        look: Callable[[], Awaitable[T | None]],
        expires: Callable[[], Awaitable[float | None]],
        call: Call,
    ) -> T | None:
        """Return what `look` finds, or None when it is not there in the time that the call waits.

        It looks again at every change, and when what is in the way expires, which `expires` knows; not for a caller
        that has left: nobody would know that it has something.
        """
        limit = self._clock.monotonic() + min(seconds(call.params["wait"], "wait"), LONGEST_WAIT_S)
        while True:
            changed = self._changed
            found = await look()
            left = limit - self._clock.monotonic()
            if found is not None or left <= 0:
                return found
            at = await expires()
            if at is not None:
                left = min(left, max(at - self._now(), 0.0) + LATE_S)
            await sleep_until(changed, self._clock, left)
            if call.left.is_set():
                return None
