"""The rules of a channel: which items it tells of, and when. Pure; the standard library only."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from covey.attention.item import Item

HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*-\s*([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
LOOK_AGAIN_S = 30.0
"""In quiet hours: clocks are changed, and set."""


class Hours(NamedTuple):
    """A part of the day in local time, in minutes since midnight. It may go over midnight."""

    start: int
    end: int

    @classmethod
    def parse(cls, text: str) -> Hours | None:
        """Return hours such as `22:00-07:00`; None if the text is not that, or has no length."""
        found = HOURS.fullmatch(text.strip())
        if found is None:
            return None
        start_hour, start_minute, end_hour, end_minute = map(int, found.groups())
        hours = cls(start_hour * 60 + start_minute, end_hour * 60 + end_minute)
        return None if hours.start == hours.end else hours

    def has(self, moment: float) -> bool:
        """Return whether a moment is in these hours of the machine's day."""
        wall = time.localtime(moment)
        minute = wall.tm_hour * 60 + wall.tm_min
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end


class Rules(NamedTuple):
    """What a channel tells, and when. Empty means no limit."""

    only: tuple[str, ...] = ()
    """Kinds of items."""
    agents: tuple[str, ...] = ()
    quiet: Hours | None = None
    every_s: float = 0.0
    """At most one notification in this time."""

    def match(self, item: Item) -> bool:
        """Return whether an item is for this channel."""
        return (not self.only or item.kind in self.only) and (not self.agents or item.data.get("agent") in self.agents)

    def wait_s(self, now: float, sent_at: float) -> float:
        """Return for how long nothing may be sent yet; 0 if it may be sent now. `sent_at`: the last notification."""
        if self.quiet is not None and self.quiet.has(now):
            return LOOK_AGAIN_S
        return min(max(sent_at + self.every_s - now, 0.0), self.every_s)  # a clock that was set back holds nothing up
