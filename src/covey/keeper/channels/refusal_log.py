"""Log lines about what was refused, few enough that nobody can fill the log with them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from covey.kernel.clock import Clock

_MOST = 20
_PERIOD_S = 60.0

log = logging.getLogger("covey.keeper")


class RefusalLog:
    """Logs a few refusals a minute; the next line after that says how many were left out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._period_began = clock.monotonic()
        self._logged = 0
        self._left_out = 0

    def warn(self, event: str, **fields: object) -> None:
        """Log a warning with these fields, unless there were too many within the last minute."""
        now = self._clock.monotonic()
        if now - self._period_began >= _PERIOD_S:
            self._period_began = now
            self._logged = 0
        if self._logged >= _MOST:
            self._left_out += 1
            return
        self._logged += 1
        log.warning(event, extra={**fields, "left_out": self._left_out} if self._left_out else fields)
        self._left_out = 0
