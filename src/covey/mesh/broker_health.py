"""Looks after the broker of a home: after its disk was full it stores nothing any more, until it is started anew."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from covey.mesh.broker_process import has_broker
from murli import AgentError

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.kernel.home import Home
    from covey.mesh.broker.accounts import SystemLink
    from covey.mesh.broker_process import BrokerProcess

CHECK_EVERY_S = 10.0
RESTART_EVERY_S = 60.0
LEAST_FREE_BYTES = 32 << 20
"""Room on the disk that makes a new start worth while."""
_WRITE_ERROR = "write error"

log = logging.getLogger("covey.mesh")


class BrokerHealth:
    """Asks the broker how it is, says what is wrong, and starts it anew when that helps."""

    def __init__(self, home: Home, broker: BrokerProcess, clock: Clock) -> None:
        self._home = home
        self._broker = broker
        self._clock = clock
        self._restarted = float("-inf")
        self._link: SystemLink | None = None

    async def run(self) -> None:
        """Examine the broker now and then, for ever."""
        try:
            while True:
                await self._clock.sleep(CHECK_EVERY_S)
                if has_broker(self._home) and self._broker.is_running:
                    await self.examine()
        finally:
            if self._link is not None:
                await self._link.aclose()

    async def examine(self) -> None:
        """Ask once. A broker that cannot write is started anew when its disk has room."""
        try:
            problem = await self._ask()
        except AgentError:
            return  # it starts, or does not answer: whoever keeps it running knows that
        if problem != self._broker.problem:
            log.warning("the broker says how it is", extra={"problem": problem or "all is well"})
            self._broker.problem = problem
        if _WRITE_ERROR not in problem or self._clock.monotonic() - self._restarted < RESTART_EVERY_S:
            return
        if await asyncio.to_thread(_free_bytes, self._broker.directory / "store") < LEAST_FREE_BYTES:
            return
        self._restarted = self._clock.monotonic()
        log.warning("the broker is started anew: its disk has room again")
        try:
            await self._broker.restart()
        except AgentError as error:
            self._broker.problem = error.message

    async def _ask(self) -> str:
        if self._link is None:
            from covey.mesh.broker.accounts import SystemLink  # noqa: PLC0415 - NATS, and most nodes have no broker
            from covey.mesh.broker.operator_file import OperatorFile  # noqa: PLC0415 - likewise
            from covey.mesh.exposure import own_address  # noqa: PLC0415 - likewise

            keys = await asyncio.to_thread(OperatorFile.load, self._broker.directory)
            files = self._broker.files()
            self._link = SystemLink(lambda: own_address(files), keys, clock=self._clock)
        return await self._link.health()


def _free_bytes(directory: str | os.PathLike[str]) -> int:
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize
