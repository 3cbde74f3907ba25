"""Which followed panes are sampled at each question to the server, and which of them may have printed something.

Pure: no IO, and the caller gives the time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from covey.tmux.listing import Pulse

CHANGING_S = 2.0
"""A pane counts as changing for this long after its last output."""
MOVED_S = 0.75
"""For this long after its cursor, title or program has changed, each further change of an idle pane is reported."""


class PaneSampler:
    """Decides how closely each followed pane is sampled.

    Panes that change are sampled at every question, all panes only when `calm` seconds have passed: fifty agents of
    which two are busy cost what two cost. A pane that may have been redrawn in place is reported at most once in
    `redrawn` seconds.
    """

    def __init__(self, *, calm: float, redrawn: float) -> None:
        self._calm = calm
        self._redrawn = redrawn
        self.working: frozenset[str] = frozenset()
        """Panes that draw all the time because their program works.

        In the others work may begin at any moment, so they are sampled more closely when they change.
        """
        self._followed: frozenset[str] = frozenset()
        self._all_sampled_at = -math.inf
        self._sampled_second: dict[str, int] = {}
        self._changed_at: dict[str, float] = {}
        self._moved_at: dict[str, float] = {}
        self._reported_at: dict[str, float] = {}
        self._unreported: set[str] = set()

    def changing(self, now: float) -> frozenset[str]:
        """Return the followed panes that have changed within the last `CHANGING_S` seconds."""
        return self._followed & {pane_id for pane_id, at in self._changed_at.items() if now - at < CHANGING_S}

    def cursor_moved(self, now: float) -> bool:
        """Return whether the cursor of a pane that was not working has just moved."""
        return any(self._just_moved(pane_id, now) for pane_id in self._moved_at)

    def _just_moved(self, pane_id: str, now: float) -> bool:
        return pane_id not in self.working and now - self._moved_at.get(pane_id, -math.inf) < MOVED_S

    def due(self, followed: frozenset[str], now: float) -> frozenset[str]:
        """Return which of the followed panes are to be sampled now."""
        if followed == self._followed and now - self._all_sampled_at < self._calm and (changing := self.changing(now)):
            return changing
        for table in (self._sampled_second, self._changed_at, self._moved_at, self._reported_at):
            for pane_id in table.keys() - followed:
                del table[pane_id]
        self._unreported &= followed
        self._followed = followed
        self._all_sampled_at = now
        return followed

    def touched(self, pulses: Mapping[str, Pulse], different: Collection[str], second: int, now: float) -> set[str]:
        """Return the panes that may have printed something since they were last returned here.

        `different` are the panes whose pulse has changed; `second` is the server's clock right before the sample.

        tmux reports activity in whole seconds: output in or after the second of the last sample may be newer than that
        sample. A pane in which nothing else is different, not even the cursor, has mostly not been touched again: it
        is reported later, and at once only if its cursor has just moved.
        """
        perhaps = {
            pane_id for pane_id, pulse in pulses.items() if pulse.activity >= self._sampled_second.get(pane_id, 0)
        }
        self._sampled_second.update(dict.fromkeys(pulses, second))
        self._changed_at.update(dict.fromkeys(perhaps.union(different), now))
        self._moved_at.update(dict.fromkeys(different, now))
        self._unreported |= perhaps
        touched = {
            pane_id
            for pane_id in self._unreported & pulses.keys()
            if pane_id in different
            or self._just_moved(pane_id, now)
            or now - self._reported_at.get(pane_id, -math.inf) >= self._redrawn
        }
        self._unreported -= touched
        self._reported_at.update(dict.fromkeys(touched, now))
        return touched
