"""How closely each followed pane is looked at, and which of them may have printed something. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from covey.tmux.listing import Pulse

WARM_S = 2.0
"""So long after its last output a pane counts as one that changes."""
MOVED_S = 0.75
"""So long after its cursor has moved, or its title or program was another, each change of a pane in which nothing was going on is told at once."""


class Attention:
    """Panes that change are wanted at every look, all of them only when `calm` seconds have passed: fifty agents of which two are busy cost what two cost."""

    def __init__(self, *, calm: float, redrawn: float) -> None:
        self._calm = calm
        self._redrawn = redrawn
        self.working: frozenset[str] = frozenset()
        """Panes that draw all the time because something goes on in them; in the others something may begin any moment, so they are looked at more closely when they change."""
        self._followed: frozenset[str] = frozenset()
        self._all_at = -math.inf
        self._seconds: dict[str, int] = {}
        self._changed_at: dict[str, float] = {}
        self._moved_at: dict[str, float] = {}
        self._told_at: dict[str, float] = {}
        self._owed: set[str] = set()

    def warm(self, now: float) -> frozenset[str]:
        """The panes that change."""
        return self._followed & {pane_id for pane_id, at in self._changed_at.items() if now - at < WARM_S}

    def moved(self, now: float) -> bool:
        """Whether the cursor of a pane in which nothing was going on has just moved."""
        return any(self._just_moved(pane_id, now) for pane_id in self._moved_at)

    def _just_moved(self, pane_id: str, now: float) -> bool:
        return pane_id not in self.working and now - self._moved_at.get(pane_id, -math.inf) < MOVED_S

    def wanted(self, followed: frozenset[str], now: float) -> frozenset[str]:
        """Which of the followed panes to look at now."""
        if followed == self._followed and now - self._all_at < self._calm and (warm := self.warm(now)):
            return warm
        for book in (self._seconds, self._changed_at, self._moved_at, self._told_at):
            for pane_id in book.keys() - followed:
                del book[pane_id]
        self._owed &= followed
        self._followed, self._all_at = followed, now
        return followed

    def touched(self, pulses: Mapping[str, Pulse], different: Collection[str], second: int, now: float) -> set[str]:
        """Who may have printed something since they were last called touched; `second` is the server's clock as it was right before the look.

        Activity is told in whole seconds: output in or after the second of the last look may be newer than that look. A pane in which nothing else is
        different, not even the cursor, has mostly not been touched again: it is owed a look, but not at once, unless its cursor has just moved.
        """
        perhaps = {pane_id for pane_id, pulse in pulses.items() if pulse.activity >= self._seconds.get(pane_id, 0)}
        self._seconds.update(dict.fromkeys(pulses, second))
        self._changed_at.update(dict.fromkeys(perhaps.union(different), now))
        self._moved_at.update(dict.fromkeys(different, now))
        self._owed |= perhaps
        touched = {
            pane_id
            for pane_id in self._owed & pulses.keys()
            if pane_id in different
            or self._just_moved(pane_id, now)
            or now - self._told_at.get(pane_id, -math.inf) >= self._redrawn
        }
        self._owed -= touched
        self._told_at.update(dict.fromkeys(touched, now))
        return touched
