"""Hook deliveries become signals: each goes to the agent that sent it, once, and is answered when it is in the journal.

A delivery is at any moment in the journal or on the disk, never in memory alone: it is refused, and so spooled, while
its agent has not been detected or older deliveries are still being read from the spool. Our script spools what it
cannot deliver; for a sender without a spool, the operation does. A delivery that is read from the spool after a newer
one was accepted is recorded too; the engine sees by its time that it is late.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from covey.fleet.ingest import delivery as deliveries
from covey.fleet.ingest.accepted_deliveries import AcceptedDeliveries
from covey.fleet.state.states import HOOK
from covey.kernel.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from covey.agents.integration.spool import Spool, Spooled
    from covey.agents.screens.registry import Registry
    from covey.fleet.agent_sources import AgentSources
    from covey.fleet.ingest.delivery import HookDelivery
    from covey.fleet.state.drift import Drift
    from covey.fleet.state.live_states import LiveStates
    from covey.fleet.watch.runtimes import Runtimes
    from covey.fleet.watch.target_watches import TargetWatches
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events

PENDING_S = 10.0
"""How long a delivery is kept for an agent that has not been detected yet."""
BATCH = 256
"""Deliveries from the spool that share a commit; their files are removed after it."""
EVERY_S = 2.0
"""Between passes through the spool when nothing asks for one."""
SPOOLED_S = 0.05
"""A delivery that was refused is in the spool by then."""

log = logging.getLogger("covey.fleet")


class Fleet(Protocol):
    """The parts of the fleet that a delivery passes through."""

    registry: Registry
    runtimes: Runtimes
    watches: TargetWatches
    states: LiveStates
    drift: Drift

    @property
    def sources(self) -> Mapping[str, AgentSources]: ...


class HookIngest:
    """Accepts deliveries from HTTP (`deliver`) and from the spool (`drain`). `agent_detected` makes it retry."""

    def __init__(self, fleet: Fleet, events: Events, clock: Clock) -> None:
        self._fleet = fleet
        self._clock = clock
        self._accepted = AcceptedDeliveries(events, clock)
        self._unowned: dict[str, float] = {}
        """Files in the spool whose agents have not been detected, and since when they wait."""
        self._refused = False
        self._behind = True
        """The spool may hold deliveries that are older than what is delivered now."""
        self._detected = False
        """An agent was detected since the last pass through the spool began."""
        self._wake = asyncio.Event()
        self.on_accepted: Callable[[str, HookDelivery], None] = lambda _runtime_id, _delivery: None
        """Called with each delivery that is passed to its owner, and whose sender is verified."""
        self.is_asking: Callable[[str], bool] = lambda _runtime_id: False
        """Returns whether a request of a runtime is held: nobody but a verified sender may say that it goes on."""
        self._reported: set[str] = set()
        """Agents whose malformed deliveries were logged; empty stands for all unknown agents."""

    def parse(self, agent: str, headers: Mapping[str, str], body: bytes) -> HookDelivery | None:
        """Parse a hook request. Returns None for an unknown agent or a malformed payload; never raises.

        Malformed deliveries are logged once per agent, because a hook that sends one sends many.
        """
        known = self._fleet.registry.get(agent) is not None
        delivery = deliveries.parse(agent, headers, body, self._clock.time()) if known else None
        reported_as = agent if known else ""
        if delivery is None and reported_as not in self._reported:
            self._reported.add(reported_as)
            log.warning(
                "hook delivery cannot be read; further ones of this agent are not logged",
                extra={"agent": agent[:60], "bytes": len(body)},
            )
        return delivery

    async def deliver(self, delivery: HookDelivery) -> bool:
        """Accept a delivery that has just arrived.

        Returns True when it is in the journal, or says nothing new; False if it is to be spooled. Raises StoreError if
        the journal cannot be read.
        """
        await self._accepted.load(delivery)
        durable = None if self._behind else self._accept(delivery)
        if durable is not None:
            return await asyncio.shield(durable)  # others may wait for the same future
        self._refused = True
        asyncio.get_running_loop().call_later(SPOOLED_S, self._wake.set)
        return False

    def agent_detected(self) -> None:
        """Retry the deliveries that were waiting for their owner, now that another agent was detected."""
        self._behind = self._behind or self._refused or bool(self._unowned)
        self._detected = True
        self._wake.set()

    async def drain(self, spool: Spool) -> None:
        """Drain the spool, oldest first, until cancelled."""
        retry_unowned = True
        while True:
            self._wake.clear()
            self._detected = self._refused = False
            try:
                accepted = await self._drain_once(spool, retry_unowned=retry_unowned)
            except (StoreError, OSError) as error:
                accepted = 0
                log.warning("hook spool not readable", extra={"reason": str(error)})
            if lost := spool.dropped():
                log.warning("hook deliveries lost: the spool is full", extra={"lost": lost})
            retry_unowned = True
            if accepted or self._detected:
                continue
            self._behind = False
            try:
                async with asyncio.timeout(EVERY_S):
                    await self._wake.wait()
                retry_unowned = self._detected
            except TimeoutError:
                if not self._all_agents_visible():  # no owner can be found now, so no delivery is given up
                    retry_unowned = False
                    self._unowned = dict.fromkeys(self._unowned, self._clock.monotonic())

    async def _drain_once(self, spool: Spool, *, retry_unowned: bool) -> int:
        """Go through the spool once. Returns how many deliveries were accepted.

        Unless `retry_unowned`, those whose agents had not been detected before are passed over.
        """
        accepted, dropped = 0, 0
        batch: list[tuple[Spooled, asyncio.Future[bool]]] = []
        waiting = self._unowned
        self._unowned = {} if retry_unowned else waiting
        for spooled in spool.waiting(() if retry_unowned else frozenset(waiting)):
            delivery = self.parse(spooled.agent, spooled.headers, spooled.body)
            if delivery is None:
                spooled.done()
                continue
            await self._accepted.load(delivery)
            since = waiting.get(spooled.file.name, self._clock.monotonic())
            if (durable := self._accept(delivery)) is not None:
                batch.append((spooled, durable))
            elif since <= self._clock.monotonic() - PENDING_S and self._all_agents_visible():
                dropped += 1
                spooled.done()
            else:
                self._unowned[spooled.file.name] = since
            if len(batch) >= BATCH:
                accepted += await self._commit(batch)
            await asyncio.sleep(0)
            if self._detected and self._unowned:  # what was passed over is older than what follows
                self._unowned = {**waiting, **self._unowned}
                break
        if dropped:
            log.info("hook deliveries dropped: no matching agent", extra={"hooks": dropped})
        return accepted + await self._commit(batch)

    async def _commit(self, batch: list[tuple[Spooled, asyncio.Future[bool]]]) -> int:
        """Remove the files of what is in the journal; the others stay for the next daemon. Returns how many."""
        written = [spooled for spooled, durable in batch if await asyncio.shield(durable)]
        batch.clear()
        for spooled in written:
            spooled.done()
        return len(written)

    def _accept(self, delivery: HookDelivery) -> asyncio.Future[bool] | None:
        """Pass a delivery to its owner.

        Returns whether it is in the journal, as soon as that is known; None if its agent has not been detected yet.
        """
        if (before := self._accepted.get(delivery)) is not None:
            return before
        agent = self._owner_of(delivery)
        if agent is None:
            return None
        if not agent.knows_event(delivery.payload):
            self._fleet.drift.hook_not_known(agent.runtime, self._fleet.states.now())
        verified = delivery.verified
        only_claimed = not verified and self.is_asking(agent.runtime.runtime_id)
        notices = agent.on_hook(
            delivery.payload, delivery.at, delivery.id, verified=verified, only_claimed=only_claimed
        )
        durable = self._fleet.states.apply_notices(agent, HOOK, notices, only_claimed=only_claimed)
        durable = durable or self._accepted.nothing_to_write
        self._accepted.add(delivery, durable)
        if verified:  # others say what an agent does, and settle nothing that it asks
            self.on_accepted(agent.runtime.runtime_id, delivery)
        return durable

    def _owner_of(self, delivery: HookDelivery) -> AgentSources | None:
        """Return the agent that sent a delivery. Triggers a rescan of this machine when it is unknown."""
        local = self._fleet.watches.local
        runtime = self._fleet.runtimes.owner_of(delivery, local.name if local else "")
        agent = self._fleet.sources.get(runtime.runtime_id) if runtime else None
        if agent is None and local is not None:
            local.rescan()
        return agent

    def _all_agents_visible(self) -> bool:
        """Return whether every agent of this machine can be seen, and the processes of every pane have been read."""
        local = self._fleet.watches.local
        return local is None or (local.status.health == "ok" and local.scanned)
