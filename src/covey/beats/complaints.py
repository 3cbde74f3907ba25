"""What is wrong with the schedule, as a person was told: asked about once, and settled when it is well again, also by a later daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.beats.ledger import Ledger


class Complaints:
    """Those that are open, by key."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._open: dict[str, tuple[str, str]] | None = None

    async def hear(self, wrong: Mapping[str, tuple[str, str]]) -> None:
        """All that is wrong at this moment, each with a title and a detail: what is new is asked about, what is gone is settled."""
        if self._open is None:
            self._open = await self._ledger.complaints()
        for key, said in wrong.items():
            if self._open.get(key) != said:
                await self._ledger.complain(key, *said)
                self._open[key] = said
        for key in self._open.keys() - wrong.keys():
            await self._ledger.withdraw(key, "it is well again")
            del self._open[key]
