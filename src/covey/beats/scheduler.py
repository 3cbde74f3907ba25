"""The scheduler of the daemon: finds which beats are due, queues their runs, and alerts about beats that cannot run.

tick: catalog ─► planner ─► budgets ─► run_queue
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.beats import money, planner
from covey.beats.alerts import Alerts, current_alerts
from covey.beats.budgets import Budgets
from covey.beats.lookup import missing_beat
from covey.beats.record_cache import RecordCache
from covey.beats.records import BeatRecord
from covey.beats.run_queue import RunQueue
from covey.beats.run_results import RunResults
from covey.beats.schedule import DAY_S
from covey.contract.beats_events import BEAT_PAUSED, BEAT_SKIPPED
from covey.kernel.clock import sleep_until
from covey.kernel.store.errors import StoreError
from covey.kernel.tasks import Tasks

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Self

    from covey.agents.headless.agent import HeadlessAgent
    from covey.beats.beat import Beat
    from covey.beats.beat_events import BeatEvents
    from covey.beats.catalog import BeatCatalog
    from covey.beats.heartbeat_log import HeartbeatLog
    from covey.beats.ledger import Ledger
    from covey.beats.queries import Queries
    from covey.beats.records import Run
    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

SHORTEST_SLEEP_S = 0.01

log = logging.getLogger("covey.beats")


class BeatScheduler:
    """All beats of a machine while the daemon lives. `setting` returns the value in force; `folder` holds the runs'."""

    def __init__(
        self,
        *,
        catalog: BeatCatalog,
        ledger: Ledger,
        events: BeatEvents,
        clock: Clock,
        metrics: Metrics,
        heartbeats: HeartbeatLog,
        folder: Path,
        agents: Mapping[str, HeadlessAgent],
        setting: Callable[[str], Any],
    ) -> None:
        self.catalog = catalog
        self.ledger = ledger
        self.records = RecordCache(ledger)
        self.budgets = Budgets(ledger, setting)
        self._wake = asyncio.Event()
        self._results = RunResults(
            ledger=ledger, records=self.records, events=events, heartbeats=heartbeats, clock=clock, metrics=metrics
        )
        self._runs = RunQueue(
            ledger=ledger,
            records=self.records,
            budgets=self.budgets,
            events=events,
            results=self._results,
            clock=clock,
            metrics=metrics,
            folder=folder,
            agents=agents,
            on_end=self._wake.set,
        )
        self._alerts = Alerts(ledger)
        self._events = events
        self._clock = clock
        self._metrics = metrics
        self._setting = setting
        self._scanning = asyncio.Lock()
        self._tasks = Tasks(clock, metrics)
        self._turns_pruned_at = 0.0
        metrics.counter("covey_beats_missed_total", "Times at which a beat should have run and did not.")
        metrics.gauge("covey_beats_late", "Beats that should be running and are not.", lambda: len(self.late()))

    async def __aenter__(self) -> Self:
        await self.records.load()
        await self._runs.recover()
        self._tasks.keep("beat scheduler", self._run)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.aclose()
        await self._runs.aclose()

    # What operations ask for.

    @property
    def queries(self) -> Queries:
        return self.ledger

    @property
    def running(self) -> Mapping[str, Run]:
        return self._runs.running

    @property
    def queued(self) -> deque[Run]:
        return self._runs.queued

    @property
    def latest(self) -> Mapping[str, Run]:
        """The last finished run of each beat, by file."""
        return self._results.latest

    @property
    def limit(self) -> int:
        """How many runs may go on at a time."""
        return int(self._setting("beats.max_concurrent"))

    async def run_now(self, beat: Beat, *, verbose: bool) -> Run:
        """Queue a run that somebody asked for, before those that wait, and return it."""
        run = self._runs.new(beat, why="hand", verbose=verbose)
        await self._runs.queue(run, self._with_one_more_run(beat.file), first=True)
        self._wake.set()
        return run

    async def scan(self, now: float) -> None:
        """Read the HEARTBEAT.md files of the configured workspaces again, as far as they have changed."""
        async with self._scanning:
            time.tzset()  # the machine's zone changes when its owner travels
            before = {entry.file: entry.name for entry in self.catalog.entries}
            await asyncio.to_thread(self.catalog.reload, self._setting("beats.workspace"))
            for file in before.keys() - {entry.file for entry in self.catalog.entries}:
                await self._events.settle(f"beat:{file}", f"{before[file]} is no longer in the configuration")
            for beat in self.catalog.beats.values():
                await self._update_plan(beat, now)

    async def pause(self, beat: Beat) -> None:
        """Let the beat start no run by its schedule, and withdraw those that wait."""
        record = self.records[beat.file]
        await self.records.save(replace(record, plan=replace(record.plan, paused=True), reason="paused by hand"))
        await self._runs.withdraw_scheduled(beat.file, "the beat was paused")
        self._wake.set()

    async def resume(self, beat: Beat) -> None:
        """Let a paused or parked beat run again, with budgets counted from now."""
        now, record = self._clock.time(), self.records[beat.file]
        plan = planner.after_resume(beat, record.plan, now)
        await self.records.save(replace(record, plan=plan, reason="", budget_from=now))
        self._wake.set()

    def late(self) -> dict[str, float]:
        """Return the beats that should be running and are not, by name, with the seconds."""
        return {beat.name: seconds for beat, seconds in self._late()}

    def _late(self) -> list[tuple[Beat, float]]:
        now = self._clock.time()
        waits: dict[str, float] = {}
        for run in self.queued:
            waits[run.file] = max(waits.get(run.file, 0.0), now - run.queued_at)
        found = []
        for beat in self.catalog.beats.values():
            record = self.records.get(beat.file)
            wait = waits.get(beat.file) or (planner.lateness(beat, record.plan, now) if record else None)
            if wait is not None and wait > planner.SPREAD_S:
                found.append((beat, wait))
        return found

    # The background task.

    async def _run(self) -> None:
        """Tick whenever something is due, and at least every `planner.WAKE_S`, until cancelled."""
        while True:
            self._wake.clear()
            now = self._clock.time()
            try:
                await self._tick(now)
            except StoreError as error:
                log.error("the scheduler waits: the database cannot be used", extra={"reason": error.message})  # noqa: TRY400 - the reason says it all
            plans = [
                (beat, self.records[beat.file].plan)
                for beat in self.catalog.beats.values()
                if beat.file in self.records
            ]
            left = planner.next_wake(plans, now) - self._clock.time()  # the clock may have been set meanwhile
            await sleep_until(self._wake, self._clock, min(max(left, SHORTEST_SLEEP_S), planner.WAKE_S))

    async def _tick(self, now: float) -> None:
        await self.scan(now)
        for beat in self.catalog.beats.values():
            try:
                await self._unpark_if_budget_allows(beat, now)
                await self._decide(beat, now)
            except StoreError:
                raise
            except Exception:  # the other beats must run all the same
                log.exception("a beat could not be scheduled", extra={"beat": beat.name})
        await self._record_missing_files()
        self._runs.start_queued(self.limit)
        if now - self._turns_pruned_at > DAY_S:
            self._turns_pruned_at = now
            await self.ledger.prune_turns(now - self._setting("events.max_days") * DAY_S)
        await self._alerts.update(current_alerts(self.catalog, self.records, self._late(), now))

    async def _update_plan(self, beat: Beat, now: float) -> None:
        record = self.records.get(beat.file)
        plan = planner.plan_for(beat, record.plan if record else None, now, self._setting("beats.jitter_s"))
        if record is None:
            await self.records.save(BeatRecord(file=beat.file, plan=plan))
            return
        if record.plan.last_slot is not None and plan.last_slot is None:
            log.warning(
                "the clock was set back: the beat is scheduled anew from now",
                extra={"beat": beat.name, "last_slot_ahead_s": round(record.plan.last_slot - now)},
            )
        if plan is not record.plan:
            await self.records.save(replace(record, plan=plan))

    async def _unpark_if_budget_allows(self, beat: Beat, now: float) -> None:
        """Let a beat that waits for the next day or month go on if its budget has been raised since."""
        if not self._is_parked_by_budget(beat, now):
            return
        if await self.budgets.check(beat, self.records[beat.file], now):
            return
        record = self.records[beat.file]  # again: it may have changed meanwhile
        if self._is_parked_by_budget(beat, now):
            await self.records.save(replace(record, plan=replace(record.plan, parked_until=None), reason=""))

    def _is_parked_by_budget(self, beat: Beat, now: float) -> bool:
        record = self.records[beat.file]
        return not record.plan.paused and record.plan.is_parked(now) and money.is_budget_reason(record.reason)

    async def _decide(self, beat: Beat, now: float) -> None:
        stop = None
        if isinstance(planner.decide(beat, self.records[beat.file].plan, now), planner.Start):
            stop = await self.budgets.check(beat, self.records[beat.file], now)
        # After the last await: the beat may have been paused, or a run of it may have ended.
        record = self.records[beat.file]
        decision = planner.decide(beat, record.plan, now)
        if isinstance(decision, planner.Skip):
            plan = planner.after_decision(record.plan, decision)
            await self.records.save(replace(record, plan=plan, skipped=record.skipped + 1))
            await self._events.publish(BEAT_SKIPPED, beat.name, why=decision.why, slot=decision.slot)
        elif isinstance(decision, planner.Start) and stop:
            plan = replace(record.plan, parked_until=stop.until)
            await self.records.save(replace(record, plan=plan, reason=stop.reason))
            await self._events.publish(BEAT_PAUSED, beat.name, reason=stop.reason, until=stop.until)
        elif isinstance(decision, planner.Start):
            run = replace(self._runs.new(beat, why="schedule"), slot=decision.slot, missed=decision.missed)
            plan = planner.after_decision(record.plan, decision)
            await self._runs.queue(run, replace(record, plan=plan, reason=""))
            if decision.missed:
                self._metrics.count("covey_beats_missed_total", decision.missed, beat=beat.name)

    async def _record_missing_files(self) -> None:
        """Record a failed run for a beat whose file is missing, once for each time that the file goes away."""
        busy = {run.file for run in (*self.running.values(), *self.queued)}
        for entry in self.catalog.entries:
            last = self.latest.get(entry.file)
            if entry.missing and entry.file not in busy and (last is None or last.error_kind != "prompt_missing"):
                run = self._runs.new(missing_beat(entry), why="schedule")
                await self._runs.queue(run, self._with_one_more_run(entry.file))

    def _with_one_more_run(self, file: str) -> BeatRecord | None:
        record = self.records.get(file)
        return replace(record, plan=replace(record.plan, running=record.plan.running + 1)) if record else None
