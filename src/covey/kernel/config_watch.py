"""Puts an edited configuration file into force without being asked: the daemon looks at the file regularly."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.kernel.clock import Clock

CHECK_EVERY_S = 10.0

log = logging.getLogger("covey.config")


class ConfigWatch:
    """Calls `reload` whenever `file` has changed. Others learn of it by the generation of the configuration."""

    def __init__(self, file: str, reload: Callable[[], Awaitable[object]], clock: Clock) -> None:
        self._file = Path(file)
        self._reload = reload
        self._clock = clock
        self._seen = self._stamp()

    async def run(self) -> None:
        """Check the file until cancelled."""
        while True:
            await self._clock.sleep(CHECK_EVERY_S)
            await self.check()

    async def check(self) -> None:
        """Reload the configuration if its file has changed since the last check. A broken file is logged once."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            await self._reload()
        except AgentError as error:
            log.warning(
                "the edited configuration is not in force",
                extra={"reason": error.message, "suggestion": error.suggestion},
            )

    def _stamp(self) -> tuple[int, int, int] | None:
        with contextlib.suppress(OSError):
            found = self._file.stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None
