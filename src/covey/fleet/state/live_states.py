"""The states of the agents that are observed now: claims in, rows and events out.

`States` decides; here is what it needs around it: the clock, the view of each runtime, the journal with the database
that follows it, the timer for the next evaluation, and the drift counts.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from covey.contract.fleet_events import AGENT_SIGNAL, AGENT_STARTED
from covey.fleet.agent_sources import notice_key
from covey.fleet.answers.view import with_servers
from covey.fleet.state.engine import Signal
from covey.fleet.state.rows import UNREACHABLE
from covey.fleet.state.saved_agents import change as saved_change
from covey.fleet.state.states import RuntimeView, StateEvent, States
from covey.fleet.watch.target_watch import NOT_YET
from covey.kernel.events.ids import Ulids

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from covey.agents.signals.signals import Notice
    from covey.fleet.agent_sources import AgentSources
    from covey.fleet.answers.view import Row
    from covey.fleet.state.attention import Settling
    from covey.fleet.state.drift import Drift
    from covey.fleet.state.judge import Rules
    from covey.fleet.state.model import Claim, Verdict
    from covey.fleet.state.outbox import Outbox
    from covey.fleet.state.saved_agents import SavedAgent
    from covey.fleet.watch.target_watches import TargetWatches
    from covey.kernel.clock import Clock

CONFIRM_S = 15.0
"""How long a level from before the restart stays in force while its file or remote node does not confirm it."""


class LiveStates:
    """The states of all agents in `sources`. A step reads the clock once."""

    def __init__(
        self,
        rules: Rules,
        clock: Clock,
        outbox: Outbox,
        drift: Drift,
        sources: Mapping[str, AgentSources],
        watches: TargetWatches,
    ) -> None:
        self._clock = clock
        self._outbox = outbox
        self._drift = drift
        self._sources = sources
        self._watches = watches
        self._states = States(rules, lambda row: with_servers([row], watches.statuses())[0])
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._unconfirmed: dict[str, set[str]] = {}
        """Sources whose levels are known from the last daemon only, by runtime."""
        self.new_id = Ulids(clock.time)
        """Returns an id that is greater than the id of every signal so far."""

    def now(self) -> float:
        """Return the time as the journal keeps it."""
        return round(self._clock.time(), 3)

    # What is known.

    @property
    def rows(self) -> Mapping[str, Row]:
        return self._states.rows

    def verdict(self, runtime_id: str) -> Verdict:
        return self._states.verdicts[runtime_id]

    def claims(self, runtime_id: str) -> list[Claim]:
        """Return the claims in force about an agent; none if it is not observed."""
        return self._states.claims(runtime_id) if runtime_id in self._sources else []

    def picture(self) -> dict[str, Any]:
        return self._states.picture()

    # From claims to states.

    def apply_notices(
        self, agent: AgentSources, source: str, notices: Iterable[Notice], *, only_claimed: bool = False
    ) -> asyncio.Future[bool] | None:
        """Apply what an agent said; what is `only_claimed` is recorded and changes no state.

        Returns whether it is in the journal, as soon as that is known; None if nothing of it is recorded.
        """
        durable = None
        for notice in notices:
            if (claim := notice.claim(source)) is not None:
                key = notice_key(source, notice)
                durable = self.apply_claim(agent, source, claim, key, notice.at, only_claimed=only_claimed) or durable
        return durable

    def apply_claim(
        self,
        agent: AgentSources,
        source: str,
        claim: Claim | None,
        key: str,
        at: float,
        *,
        only_claimed: bool = False,
    ) -> asyncio.Future[bool] | None:
        """Apply the claim of a source that was read with the agent's adapter, and whatever doubts that adapter has."""
        self._drift.claimed(agent.runtime, source, claim, agent.followed_files, self.now())
        if claim is not None and agent.adapter.caveat:
            claim = replace(claim, caveat=agent.adapter.caveat)
        return self.apply(agent.runtime.runtime_id, source, claim, key, at, only_claimed=only_claimed)

    def apply(
        self,
        runtime_id: str,
        source: str,
        claim: Claim | None,
        key: str,
        at: float,
        seq: int | None = None,
        *,
        only_claimed: bool = False,
    ) -> asyncio.Future[bool] | None:
        """Apply a claim; None withdraws the last claim of the source. The same `key` is applied once.

        A greater `seq` is later, whatever its time. Returns whether the signal is in the journal, as soon as that is
        known; None if it is not recorded.
        """
        now = self.now()
        if runtime_id in self._unconfirmed:
            self._unconfirmed[runtime_id].discard(source)
        signal = Signal(
            runtime_id=runtime_id,
            source=source,
            dedupe_key=key,
            event_id=self.new_id(),
            event_time=min(at, now),
            ingested_at=now,
            source_seq=seq,
            claim=claim,
            only_claimed=only_claimed or UNSET,
        )
        durable = self._publish(self._states.apply(signal, self._view(runtime_id)))
        if durable is not None:
            self._schedule(runtime_id, now)
        return durable

    def start(self, runtime_id: str) -> None:
        """Begin with an agent that was detected."""
        self._publish(self._states.start(runtime_id, self._view(runtime_id), self.now()))

    def resume(self, saved: SavedAgent, unconfirmed: Iterable[str] = ()) -> None:
        """Continue with an agent of the last daemon. Levels of the `unconfirmed` sources are dropped after a while."""
        runtime_id, now = saved.runtime.runtime_id, self.now()
        self._publish(self._states.resume(saved, self._view(runtime_id, saved.row), now))
        if runtime_id in self._sources:
            self._unconfirmed[runtime_id] = set(unconfirmed)
            self._schedule(runtime_id, now)

    async def drop_unconfirmed(self) -> None:
        """After a while, withdraw the levels of the last daemon that no source has confirmed."""
        await self._clock.sleep(CONFIRM_S)
        for runtime_id, sources in self._unconfirmed.items():
            for source in sorted(sources) if runtime_id in self._sources else ():
                now = self._clock.time()
                self.apply(runtime_id, source, None, f"{source} {now}", now)
        self._unconfirmed = {}

    def evaluate(self, runtime_id: str) -> None:
        """Evaluate an agent again: time has passed, or its target, its server or its pane has changed."""
        if runtime_id in self._sources:
            now = self.now()
            self._publish(self._states.evaluate(runtime_id, self._view(runtime_id), now))
            self._schedule(runtime_id, now)

    def refresh(self, runtime_id: str) -> None:
        """Rebuild the row of an agent whose pane has another title, name or place. No state event."""
        self._publish(self._states.refresh(runtime_id, self._view(runtime_id), self.now()))

    def update_questions(self) -> None:
        """Correct open questions after a tmux server came or went."""
        self._publish(self._states.update_questions(self.now()))

    def name_settling(self, runtime_id: str, settling: Settling) -> None:
        """Have the question of an agent say what its hook asks, and name the commands that settle it."""
        self._publish(self._states.name_settling(runtime_id, settling, self.now()))

    def end(self, runtime_id: str, why: str) -> None:
        """Forget an agent that has ended."""
        if timer := self._timers.pop(runtime_id, None):
            timer.cancel()
        self._publish(self._states.end(runtime_id, why, self.now()))

    def announce_late(self, runtime_id: str) -> None:
        """Publish `agent.started` again for an agent whose event could not be written when it started."""
        data = {**self.rows[runtime_id].as_dict(), "previous": None, "late": True}
        self._publish([StateEvent(AGENT_STARTED, runtime_id, data, self.now())])

    def stop(self) -> None:
        """Cancel all timers."""
        for timer in self._timers.values():
            timer.cancel()

    # Around a step.

    def _view(self, runtime_id: str, before: Row | None = None) -> RuntimeView | None:
        """Return what can be seen of an agent; None if it is not observed. `before` is its row if `rows` lacks it."""
        agent = self._sources.get(runtime_id)
        if agent is None:
            return None
        runtime = agent.runtime
        watch = self._watches[runtime.target]
        lost = watch.out_of_reach(runtime.socket)
        before = before or self.rows.get(runtime_id)
        if lost == NOT_YET and before is not None:  # after a restart: as it was, until the target was checked
            lost = before.detail if before.reason == UNREACHABLE else None
        return RuntimeView(runtime, watch.pane(runtime.socket, runtime.pane_id), lost)

    def _publish(self, events: Iterable[StateEvent]) -> asyncio.Future[bool] | None:
        """Append events to the journal, with what each changes in the database in the same transaction.

        Returns whether the last one is in the journal, as soon as that is known; None if there are no events.
        """
        durable = None
        for kind, subject, data, at in events:
            agent = self._sources.get(subject)
            claim = self._claim_of(subject, data["source"]) if kind == AGENT_SIGNAL else None
            also = saved_change(kind, agent.runtime if agent else None, subject, data, at, claim)
            durable = self._outbox.append(kind, subject, data, at, also)
        return durable

    def _claim_of(self, runtime_id: str, source: str) -> Claim | None:
        return next((claim for claim in self.claims(runtime_id) if claim.source == source), None)

    def _schedule(self, runtime_id: str, now: float) -> None:
        """Set the timer for when the state may change although no signal comes."""
        self._drift.judged(self._sources[runtime_id].runtime, self.verdict(runtime_id), now)
        if timer := self._timers.pop(runtime_id, None):
            timer.cancel()
        if (due := self._states.due(runtime_id, now)) is not None:
            self._timers[runtime_id] = asyncio.get_running_loop().call_later(due - now, self.evaluate, runtime_id)
