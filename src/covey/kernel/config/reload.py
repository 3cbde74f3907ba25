"""Reads the configuration again: when asked to, and when its file was edited."""

from __future__ import annotations

import contextlib
import logging
import os
from typing import TYPE_CHECKING, Any

from covey.contract.kernel_events import Lifecycle
from covey.kernel.logs import logs
from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.kernel.config.config import ConfigHolder
    from covey.kernel.events.events import Events
    from covey.kernel.seat import Seat

CHECK_EVERY_S = 10.0

log = logging.getLogger("covey.daemon")


class ConfigReload:
    """Reloads the configuration of a running daemon."""

    def __init__(self, seat: Seat, config: ConfigHolder, events: Events) -> None:
        self._seat = seat
        self._config = config
        self._events = events
        self._reloaded = Lifecycle(seat.kind).reloaded
        self._seen = self._stamp()

    async def reload(self) -> dict[str, Any]:
        """Read the file again and return what changed. Raises `AgentError` if it is broken; nothing changes then."""
        outcome = self._config.reload()
        if outcome.changed:
            logs.configure(self._seat, self._config.current)
            await self._events.append(self._reloaded, data={"changed": list(outcome.changed)})
        return {
            "generation": self._config.generation,
            "changed": list(outcome.changed),
            "needs_restart": list(outcome.needs_restart),
        }

    async def reload_if_edited(self) -> None:
        """Read the file again if it was edited since the last call. Logs what is wrong with it, if anything is."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            await self.reload()
        except AgentError as error:
            log.warning(
                "the configuration was edited and is not in force",
                extra={"reason": error.message, "suggestion": error.suggestion},
            )

    async def watch(self, clock: Clock) -> None:
        """Call `reload_if_edited` regularly until cancelled. Others learn of it by the configuration's generation."""
        while True:
            await clock.sleep(CHECK_EVERY_S)
            await self.reload_if_edited()

    def _stamp(self) -> tuple[int, int, int] | None:
        with contextlib.suppress(OSError):
            found = os.stat(self._seat.config_file)
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None
