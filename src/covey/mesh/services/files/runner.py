"""The performance of transfers over a session: a few at a time, tried again after what passes."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from covey.kernel.backoff import BackOff
from covey.mesh.link.errors import LinkError
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.kernel.clock import Clock
    from covey.mesh.link.session import Session
    from covey.mesh.services.files.downloads import Downloads
    from covey.mesh.services.files.transfer import Transfer, Transfers
    from covey.mesh.services.files.uploads import Uploads

AT_ONCE: Final = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0

log = logging.getLogger("covey.mesh.services")


class Runner:
    """Run with `run` as long as there is a connection. `wake` says that there is a new transfer."""

    def __init__(
        self,
        transfers: Transfers,
        uploads: Uploads,
        downloads: Downloads,
        clock: Clock,
        on_ended: Callable[[Transfer], Awaitable[None]],
    ) -> None:
        self._transfers = transfers
        self._uploads = uploads
        self._downloads = downloads
        self._clock = clock
        self._on_ended = on_ended
        self._woken = asyncio.Event()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._ended: dict[str, asyncio.Event] = {}

    def wake(self) -> None:
        """Begin what waits."""
        self._woken.set()

    async def wait_for(self, transfer: Transfer, limit_s: float) -> None:
        """Wait until a transfer has ended, but not longer than so many seconds."""
        if limit_s <= 0 or not transfer.is_active:
            return
        try:
            async with asyncio.timeout(limit_s):
                await self._ended.setdefault(transfer.id, asyncio.Event()).wait()
        except TimeoutError:
            pass

    async def cancel(self, transfer: Transfer) -> None:
        """End a transfer that goes on."""
        task = self._running.get(transfer.id)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        if transfer.is_active:
            await self._give_up(transfer, "it was deleted before it was complete", "cancelled")

    async def run(self, session: Session) -> None:
        """Perform transfers until the session breaks."""
        slots = asyncio.Semaphore(AT_ONCE)
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    self._woken.clear()
                    for transfer in list(self._transfers.by_id.values()):
                        if transfer.is_active and transfer.id not in self._running:
                            task = group.create_task(self._perform(session, transfer, slots))
                            self._running[transfer.id] = task
                            task.add_done_callback(lambda _, id_=transfer.id: self._running.pop(id_, None))  # type: ignore[misc]
                    await self._woken.wait()
        finally:
            for transfer in self._transfers.by_id.values():
                if transfer.is_active:
                    transfer.state, transfer.reason = "waiting", "it goes on when there is a connection to the broker"

    async def _perform(self, session: Session, transfer: Transfer, slots: asyncio.Semaphore) -> None:
        """Perform one transfer to its end. What passes is tried again, as long as the session holds."""
        back_off = BackOff(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while True:
            before = transfer.done
            try:
                async with slots:
                    transfer.reason = ""
                    await self._once(session, transfer)
            except LinkError as error:
                if session.broken.is_set():
                    return
                transfer.state, transfer.reason = "waiting", error.message
                log.info("transfer is tried again", extra={"transfer": transfer.id, "reason": error.message})
            except AgentError as error:
                await self._give_up(transfer, error.message, error.error)
                return
            except Exception:
                log.exception("transfer failed", extra={"transfer": transfer.id})
                await self._give_up(transfer, "it failed in an unexpected way; see `covey mesh logs`", "internal")
                return
            else:
                await self._end(transfer, "done")
                return
            if transfer.done > before:
                back_off.succeed()
            await self._clock.sleep(back_off.fail())

    async def _once(self, session: Session, transfer: Transfer) -> None:
        if transfer.direction == "up":
            await self._uploads.perform(session, transfer)
        else:
            await self._downloads.perform(session, transfer)

    async def _give_up(self, transfer: Transfer, reason: str, error: str) -> None:
        """End a transfer that does not go on, and what it has left behind."""
        transfer.reason, transfer.error = reason, error
        try:
            if transfer.direction == "up":
                await self._uploads.drop(transfer)
            else:
                await self._downloads.discard(transfer)
        except AgentError as failure:  # the authority removes what is left in some days
            log.info("transfer left something behind", extra={"transfer": transfer.id, "reason": failure.message})
        await self._end(transfer, "failed")

    async def _end(self, transfer: Transfer, state: str) -> None:
        transfer.state = "done" if state == "done" else "failed"
        transfer.ended_at = self._clock.time()
        await self._transfers.save(transfer)
        waiting = self._ended.pop(transfer.id, None)
        if waiting is not None:
            waiting.set()
        await self._on_ended(transfer)
