"""The runs that are not over: each is stored, waits for its turn, is executed and recorded; a crash loses none.

queue: run row ─► start_queued ─► folder, runner, report ─► run_results
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from covey.agents.headless.report import Failure, Report
from covey.beats import money
from covey.beats.execution import Execution, Finished
from covey.beats.preparation import prepare
from covey.beats.records import Run
from covey.beats.run_folder import RunFolder, run_folders
from covey.kernel.events.ids import Ulids
from covey.kernel.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from covey.agents.headless.agent import HeadlessAgent
    from covey.agents.headless.report import ErrorKind, Usage
    from covey.beats.beat import Beat
    from covey.beats.beat_events import BeatEvents
    from covey.beats.budgets import Budgets
    from covey.beats.ledger import Ledger
    from covey.beats.record_cache import RecordCache
    from covey.beats.records import BeatRecord
    from covey.beats.run_results import RunResults
    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

STOP_S = 8.0
"""How long a daemon that stops waits for its runs to end; the next daemon takes over those that take longer."""
STRAY_S = 86_400.0
"""The age at which the folder of an unknown run is deleted."""
STOPPED = "the daemon was stopped"

log = logging.getLogger("covey.beats")


class RunQueue:
    """Runs that wait and runs that go on. `folder` holds a folder for each; `on_end` is called when one has ended."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: RecordCache,
        budgets: Budgets,
        events: BeatEvents,
        results: RunResults,
        clock: Clock,
        metrics: Metrics,
        folder: Path,
        agents: Mapping[str, HeadlessAgent],
        on_end: Callable[[], None],
    ) -> None:
        self.running: dict[str, Run] = {}
        self.queued: deque[Run] = deque()
        self._ledger = ledger
        self._records = records
        self._budgets = budgets
        self._events = events
        self._results = results
        self._clock = clock
        self._folder = folder
        self._agents = agents
        self._on_end = on_end
        self._ids = Ulids(clock.time)
        self._tasks = Tasks(clock, metrics)
        self._stopping = False
        metrics.gauge("covey_beats_running", "Beats that are running.", lambda: len(self.running))

    async def aclose(self) -> None:
        """End all runs. Those that take too long, and those that wait, are left to the next daemon."""
        self._stopping = True
        for run_id in self.running:
            RunFolder(self._folder / run_id).stop(STOPPED)
        await self._tasks.drain(STOP_S)
        await self._tasks.aclose()

    def new(self, beat: Beat, *, why: str, verbose: bool = False) -> Run:
        """Return a new run of a beat that is due now."""
        return Run(
            id=self._ids(),
            file=beat.file,
            beat=beat.name,
            workspace=beat.workspace,
            agent=beat.agent,
            why=why,
            spec=beat,
            verbose=verbose,
            queued_at=self._clock.time(),
        )

    async def queue(self, run: Run, record: BeatRecord | None, *, first: bool = False) -> None:
        """Store a run that is due together with the record of its beat, and let it wait for its turn.

        It is done even if the caller is cancelled meanwhile. Raises `StoreError` if it cannot be stored; the run is
        then not due.
        """
        before = self._records.get(run.file)
        if record is not None:
            self._records.set(record)
        await self._tasks.shield("queueing of a beat run", self._queue(run, before, first=first))

    async def _queue(self, run: Run, before: BeatRecord | None, *, first: bool) -> None:
        try:
            await self._ledger.queue(run, self._records.get(run.file))
        except Exception:
            if before is not None:
                now = self._records[run.file]
                plan = replace(now.plan, last_slot=before.plan.last_slot, running=now.plan.running - 1)
                self._records.set(replace(now, plan=plan))
            raise
        if first:
            self.queued.appendleft(run)
        else:
            self.queued.append(run)

    def start_queued(self, limit: int) -> None:
        """Start waiting runs, as long as fewer than `limit` are running."""
        while self.queued and len(self.running) < limit:
            self._start(self.queued.popleft())

    async def withdraw_scheduled(self, file: str, why: str) -> None:
        """End the waiting runs of a beat that its schedule has queued, without starting them."""
        due = [run for run in self.queued if run.file == file and run.why == "schedule"]
        for run in due:
            self.queued.remove(run)
        for run in due:
            withdrawn = self._failed("withdrawn", f"it was not begun: {why}")
            await self._tasks.shield("withdrawal of a beat run", self._results.record(run, withdrawn))

    def _start(self, run: Run) -> None:
        self.running[run.id] = run
        self._tasks.spawn("beat run", self._work(run))

    async def _work(self, run: Run) -> None:
        folder = RunFolder(self._folder / run.id)
        try:
            finished = await self._refused(run) if run.state == "queued" else None
            if finished is None:
                if run.state == "queued":
                    run = await self._results.until_stored(partial(self._ledger.begin, run))
                    self.running[run.id] = run
                finished = await self._execute(run, folder)
            await self._events.flush()  # steps come before the end
            await self._results.record(run, finished)
        except Exception as error:
            error.add_note(f"run {run.id} of beat {run.beat} is not recorded; the next start of the daemon tries again")
            raise
        finally:
            self.running.pop(run.id, None)
            if not self._stopping:
                self._on_end()
        await asyncio.to_thread(folder.remove)

    async def _refused(self, run: Run) -> Finished | None:
        """Return the end of a scheduled run whose budget was used up while it waited, or None if it may begin."""
        record = self._records.get(run.file)
        if run.why == "hand" or record is None:
            return None
        stop = await self._budgets.check(run.spec, record, self._clock.time())
        return self._failed("withdrawn", f"it was not begun: {stop.reason}") if stop else None

    async def _execute(self, run: Run, folder: RunFolder) -> Finished:
        beat, record = run.spec, self._records.get(run.file)

        def stop_reason(usage: Usage) -> str:
            return "budget" if money.run_over_budget(beat.budget, usage) else ""

        try:
            agent = self._agents[beat.agent]
            if folder.task is None:
                digest = record.probe_digest if record else ""
                failure = await asyncio.to_thread(prepare, beat, folder, agent, self._clock.time(), digest)
                if failure is not None:
                    return self._failed(failure.kind, failure.message)
            if self._stopping:
                folder.stop(STOPPED)
            publish = self._events.step_publisher(run)
            return await Execution(folder, agent.reader(), self._clock, publish, stop_reason).follow()
        except Exception as error:  # whatever it is, the beat must go on
            log.exception("a beat run could not be followed", extra={"beat": run.beat, "run": run.id})
            folder.stop("Covey failed")
            await asyncio.to_thread(folder.kill_processes)
            return self._failed("crash", f"Covey could not follow it: {error}")

    def _failed(self, kind: ErrorKind, message: str) -> Finished:
        return Finished(
            report=Report(failure=Failure(kind=kind, message=message)), began=self._clock.time(), seconds=0.0
        )

    # Recovery after an earlier daemon.

    async def recover(self) -> None:
        """Take over the runs of an earlier daemon, and those that were begun without one."""
        unfinished = await self._ledger.unfinished()
        self._records.set_running(Counter(run.file for run in unfinished))
        await self._results.recover()
        known = {run.id for run in unfinished}
        for folder in await asyncio.to_thread(run_folders, self._folder):
            if folder.run_id not in known and (adopted := await self._adopt_or_remove(folder)):
                unfinished.append(adopted)
        for run in unfinished:  # last: from here on runs end
            if run.state == "running":
                self._start(run)
            else:
                self.queued.append(run)

    async def _adopt_or_remove(self, folder: RunFolder) -> Run | None:
        """Take in a run that was begun without a daemon; return it if it still goes on.

        The folder of a run that is over is removed once the run is stored. A run whose attendant lives is left alone.
        """
        if folder.has_attendant:
            return None
        handover = folder.handover
        if handover is not None:
            try:
                run = await self._ledger.take_in(handover)
            except (msgspec.ValidationError, KeyError):
                log.warning("the handover of a beat run cannot be read", extra={"run": folder.run_id})
            else:
                if run.state == "running":
                    return run
        is_stray = self._clock.time() - folder.modified_at > STRAY_S
        if handover is not None or await self._ledger.find(folder.run_id) or is_stray:
            await asyncio.to_thread(folder.kill_processes)
            await asyncio.to_thread(folder.remove)
        return None
