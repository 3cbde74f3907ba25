"""Log lines about what was refused, few enough that nobody can fill the log with them."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from covey.kernel.clock import Clock

_MOST, _MOST_IN_ALL = 20, 200
_PERIOD_S = 60.0

log = logging.getLogger("covey.keeper")


class RefusalLog:
    """Logs a few refusals a minute of each source; its next line after that says how many were left out.

    So one source hides no other, unless there are many of that kind: then a limit for all of them applies.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._period_began = clock.monotonic()
        self._logged: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    def warn(self, event: str, source: str, **fields: object) -> None:
        """Log a warning with these fields, unless there were too many of this source within the last minute."""
        now = self._clock.monotonic()
        if now - self._period_began >= _PERIOD_S:
            self._period_began = now
            self._logged.clear()
        if self._logged[source] >= _MOST or self._logged.total() >= _MOST_IN_ALL:
            if source in self._left_out or len(self._left_out) < _MOST_IN_ALL:
                self._left_out[source] += 1
            return
        self._logged[source] += 1
        left_out = self._left_out.pop(source, 0)
        log.warning(event, extra={**fields, "left_out": left_out} if left_out else fields)
