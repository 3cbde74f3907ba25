"""The beats inside the daemon: what is due is written down, run, and concluded; what a daemon before this one has begun is taken over.

tick: book ─► planner ─► run row ─► queue ─► work: folder, runner, report ─► conclusion ─► row, standing, event ─► attention, log
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.beats import money, planner
from covey.beats.conclusion import concluded, entry, plain, standing_after
from covey.beats.execution import Execution, Finished
from covey.beats.folder import Folder
from covey.beats.ledger import Run, Standing
from covey.beats.preparation import prepare
from covey.beats.report import Report
from covey.beats.schedule import period
from covey.beats.treasury import Treasury
from covey.kernel.ids import Ulids
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path
    from typing import Self

    from covey.beats.agents.agent import Agent
    from covey.beats.beat import Beat
    from covey.beats.book import Book
    from covey.beats.ledger import Ledger
    from covey.beats.log import HeartbeatLog
    from covey.beats.report import Usage
    from covey.beats.voice import Voice
    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

SOON_S = 0.01
LATE_S = 300.0
"""A beat that has not begun so long after it should have is a matter for a person."""
GOODBYE_S = 8.0
"""How long a daemon that is told to stop waits for its runs to end; those that take longer are taken over by the next."""
STRAY_S = 86_400.0
"""When the folder of a run that nobody knows is thrown away."""
STOPPED = "the daemon was stopped"

log = logging.getLogger("covey.beats")


class Beats:
    """All beats of a machine, while the daemon lives. `setting` gives the value in force, `refresh` sees that it is, `folder` is where runs have theirs."""

    def __init__(
        self,
        *,
        book: Book,
        ledger: Ledger,
        voice: Voice,
        clock: Clock,
        metrics: Metrics,
        heartbeats: HeartbeatLog,
        folder: Path,
        agents: Mapping[str, Agent],
        setting: Callable[[str], Any],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self.book = book
        self.ledger = ledger
        self.standings: dict[str, Standing] = {}
        self.latest: dict[str, Run] = {}
        self.running: dict[str, Run] = {}
        self.queued: deque[Run] = deque()
        self.treasury = Treasury(ledger, setting)
        self._voice = voice
        self._clock = clock
        self._metrics = metrics
        self._heartbeats = heartbeats
        self._folder = folder
        self._agents = agents
        self._setting = setting
        self._refresh = refresh
        self._ids = Ulids(clock.time)
        self._wake = asyncio.Event()
        self._schedule: asyncio.Task[None] | None = None
        self._works: set[asyncio.Task[None]] = set()
        self._leaving = False
        metrics.counter("covey_beat_runs_total", "Runs of beats, by outcome.")
        metrics.counter("covey_beat_cost_usd_total", "What beats have cost, as far as their agents say.")
        metrics.counter("covey_beats_missed_total", "Times at which a beat should have run and did not.")
        metrics.gauge("covey_beats_late", "Beats that should be running and are not.", lambda: len(self.late()))
        metrics.gauge("covey_beats_running", "Beats that are running.", lambda: len(self.running))

    async def __aenter__(self) -> Self:
        await self._recover()
        self._schedule = asyncio.create_task(self._live(), name="beats")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leaving = True
        assert self._schedule
        self._schedule.cancel()
        await asyncio.gather(self._schedule, return_exceptions=True)
        for run in self.running:
            Folder(self._folder / run).stop(STOPPED)
        if self._works:
            await asyncio.wait(self._works, timeout=GOODBYE_S)
        for task in self._works:
            task.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)

    # What others ask for.

    async def run_now(self, beat: Beat, *, verbose: bool) -> Run:
        """Begin a run because somebody wants it, before what waits."""
        run = self._new(beat, why="hand", verbose=verbose)
        standing = self.standings.get(beat.file)
        await self._queue(run, replace(standing, plan=replace(standing.plan, running=standing.plan.running + 1)) if standing else None)
        self.queued.appendleft(run)
        self._wake.set()
        return run

    async def pause(self, beat: Beat) -> None:
        standing = self.standings[beat.file]
        await self._stands(replace(standing, plan=replace(standing.plan, paused=True), reason="paused by hand"))

    async def resume(self, beat: Beat) -> None:
        now, standing = self._clock.time(), self.standings[beat.file]
        await self._stands(replace(standing, plan=planner.resumed(beat, standing.plan, now), reason="", budget_from=now))
        await self._voice.settle(f"beat-budget:{beat.file}", "resumed")
        self._wake.set()

    @property
    def limit(self) -> int:
        """How many may run at a time."""
        return int(self._setting("beats.max_concurrent"))

    def late(self) -> dict[str, float]:
        """Beats that should be running and are not, by name, with the seconds."""
        now = self._clock.time()
        waits = {run.file: now - run.queued_at for run in self.queued}
        found = {}
        for name, beat in self.book.beats.items():
            standing = self.standings.get(beat.file)
            if standing is None:
                continue
            wait = waits.get(beat.file) or planner.late(beat, standing.plan, now)
            if wait is not None and wait > planner.SPREAD_S:
                found[name] = wait
        return found

    # The life of the schedule.

    async def _live(self) -> None:
        while True:
            self._wake.clear()
            now = self._clock.time()
            try:
                await self._tick(now)
            except StoreError as error:
                log.error("the schedule waits: nothing can be written down", extra={"reason": error.message})  # noqa: TRY400
            except Exception:
                log.exception("the schedule stumbled")
            known = [(beat, self.standings[beat.file].plan) for beat in self.book.beats.values() if beat.file in self.standings]
            await self._pause(
                min(max(planner.wake(known, now) - self._clock.time(), SOON_S), planner.WAKE_S)
            )  # the clock may have been set meanwhile

    async def _pause(self, seconds: float) -> None:
        waits = [asyncio.create_task(self._clock.sleep(seconds)), asyncio.create_task(self._wake.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _tick(self, now: float) -> None:
        await self._refresh()
        time.tzset()  # whoever travels takes the machine's zone along
        await asyncio.to_thread(self.book.reload, self._setting("beats.workspace"))
        for beat in self.book.beats.values():
            await self._take_up(beat, now)
            await self._decide(beat, now)
        await self._voice.complain(self._wrong())
        while self.queued and len(self.running) < self.limit:
            self._begin(self.queued.popleft())

    async def _take_up(self, beat: Beat, now: float) -> None:
        standing = self.standings.get(beat.file)
        plan = planner.take_up(beat, standing.plan if standing else None, now, self._setting("beats.jitter_s"))
        if standing is None or plan is not standing.plan:
            await self._stands(replace(standing, plan=plan) if standing else Standing(file=beat.file, plan=plan))

    async def _decide(self, beat: Beat, now: float) -> None:
        standing = self.standings[beat.file]
        decision = planner.decide(beat, standing.plan, now)
        if decision is None:
            return
        if isinstance(decision, planner.Skip):
            await self._stands(replace(standing, plan=planner.taken(standing.plan, decision), skipped=standing.skipped + 1))
            await self._voice.say("beat.skipped", beat.name, why=decision.why, slot=decision.slot)
            return
        if await self._over_budget(beat, now):
            return
        if decision.missed:
            self._metrics.count("covey_beats_missed_total", decision.missed, beat=beat.name)
        run = replace(self._new(beat, why="schedule"), slot=decision.slot, missed=decision.missed)
        await self._queue(run, replace(standing, plan=planner.taken(standing.plan, decision), reason=""))
        self.queued.append(run)

    async def _over_budget(self, beat: Beat, now: float) -> bool:
        """Whether the beat may spend nothing any more; it is parked then, and somebody is told."""
        standing = self.standings[beat.file]
        stop = await self.treasury.stop(beat, standing, now)
        if stop is None:
            return False
        await self._stands(replace(standing, plan=replace(standing.plan, parked_until=stop.until), reason=stop.reason))
        await self._voice.say("beat.paused", beat.name, reason=stop.reason, until=stop.until)
        await self._voice.ask(
            f"beat-budget:{beat.file}", f"{beat.name}: {stop.reason}", f"To let it run on: covey beats resume {beat.name}", beat=beat.name
        )
        return True

    def _wrong(self) -> dict[str, tuple[str, str]]:
        """Beats that do not run though they should, broken ones and late ones: what to say, by a key for each."""
        wrong = {
            f"beat-broken:{entry.file}": (f"{entry.name} cannot run", "; ".join(entry.complaints)) for entry in self.book.entries if entry.problems
        }
        for name, seconds in self.late().items():
            beat = self.book.beats[name]
            if seconds > max(period(beat.schedule), LATE_S):
                wrong[f"beat-late:{beat.file}"] = (
                    f"{name} should have run and has not",
                    "Too many run at once, or the machine is too busy: covey beats list",
                )
        return wrong

    # The life of a run.

    def _new(self, beat: Beat, *, why: str, verbose: bool = False) -> Run:
        return Run(
            run=self._ids(),
            file=beat.file,
            beat=beat.name,
            workspace=beat.workspace,
            agent=beat.agent,
            why=why,
            spec=beat,
            verbose=verbose,
            queued_at=self._clock.time(),
        )

    async def _queue(self, run: Run, standing: Standing | None) -> None:
        """Write down that a run is due. If that cannot be written, it is not."""
        before = self.standings.get(run.file)
        if standing is not None:
            self.standings[run.file] = standing
        try:
            await self.ledger.queue(run, standing)
        except BaseException:
            if before is not None:
                now = self.standings[run.file]
                plan = replace(now.plan, last_slot=before.plan.last_slot, running=now.plan.running - 1)
                self.standings[run.file] = replace(now, plan=plan)
            raise

    def _begin(self, run: Run) -> None:
        self.running[run.run] = run
        task = asyncio.create_task(self._work(run), name=f"beat {run.beat}")
        self._works.add(task)
        task.add_done_callback(self._works.discard)

    async def _work(self, run: Run) -> None:
        folder = Folder(self._folder / run.run)
        try:
            if run.state == "queued":
                run = self.running[run.run] = await self.ledger.begin(run)
            finished = await self._execute(run, folder)
            await self._voice.told()  # what was heard comes before the end
            await self._conclude(run, finished)
        except asyncio.CancelledError:
            return  # the next daemon goes on with it
        except Exception:
            log.exception("a run could not be concluded; the next start tries again", extra={"beat": run.beat, "run": run.run})
            return
        finally:
            self.running.pop(run.run, None)
            if not self._leaving:
                self._wake.set()
        await asyncio.to_thread(folder.remove)

    async def _execute(self, run: Run, folder: Folder) -> Finished:
        beat, agent, now = run.spec, self._agents[run.spec.agent], self._clock.time()
        digest = self.standings[run.file].probe_digest if run.file in self.standings else ""
        if folder.task is None and (failure := await asyncio.to_thread(prepare, beat, folder, agent, now, digest)):
            return Finished(report=Report(failure=failure), began=now, seconds=0.0)

        def spent(usage: Usage) -> str:
            return "budget" if money.overspent(beat.budget, usage) else ""

        return await Execution(folder, agent.reader(), self._clock, partial(self._voice.step, run), spent).run()

    async def _conclude(self, run: Run, finished: Finished) -> None:
        beat, now = run.spec, self._clock.time()
        done, turns = concluded(run, finished), plain(finished.report.turns)
        standing = self.standings.get(run.file)
        if standing is not None:
            standing = standing_after(beat, standing, done, finished, now)
            if done.error_kind == "budget":
                standing = replace(standing, plan=replace(standing.plan, paused=True), reason=f"a run went over its budget ({_budget(beat)})")
            self.standings[run.file] = standing  # before anything else gets its turn: another run of the beat may end now
        self.latest[run.file] = done
        await self.ledger.finish(done, standing, turns)
        self._metrics.count("covey_beat_runs_total", beat=run.beat, outcome=done.outcome or "")
        if done.cost_usd:
            self._metrics.count("covey_beat_cost_usd_total", done.cost_usd, beat=run.beat)
        await self._follow_up(done, turns, again=False)

    async def _follow_up(self, done: Run, turns: list[Any], *, again: bool) -> None:
        """What comes after a run is written down: telling people, and the log. Done `again` after a crash, it does no harm."""
        key, standing = f"beat:{done.file}", self.standings.get(done.file)
        if done.outcome == "ok" and done.probe != "unchanged":
            if again or standing is None or standing.streak == 1:
                await self._voice.settle(key, "the last run was ok")
        elif done.outcome in done.spec.notify and done.probe != "unchanged" and done.error_kind != "interrupted":
            await self._voice.ask(key, f"{done.beat}: {done.summary or done.error}", done.error_kind, beat=done.beat, run=done.run)

        def write() -> None:
            if not (again and self._heartbeats.has(done.run)):
                self._heartbeats.append(entry(done, turns))
            if turns:
                self._heartbeats.keep_conversation(done.workspace, {**done.as_dict(), "turns": turns})

        await asyncio.to_thread(write)
        await self.ledger.logged(done.run)

    # After a daemon that has gone.

    async def _recover(self) -> None:
        now = self._clock.time()
        self.standings = await self.ledger.standings()
        unfinished = await self.ledger.unfinished()
        for file, standing in self.standings.items():
            running = sum(run.file == file for run in unfinished)
            self.standings[file] = replace(standing, plan=replace(standing.plan, running=running))
        for run in unfinished:
            if run.state == "running":
                self._begin(run)
            else:
                self.queued.append(run)
        for done, turns in await self.ledger.unlogged():
            await self._follow_up(done, turns, again=True)
        for path in await asyncio.to_thread(self._folders):
            if path.name not in {run.run for run in unfinished}:
                await self._clear(Folder(path), now)
        self.latest = await self.ledger.latest()

    def _folders(self) -> list[Path]:
        with contextlib.suppress(FileNotFoundError):
            return sorted(self._folder.iterdir())
        return []

    async def _clear(self, folder: Folder, now: float) -> None:
        """Throw away the folder of a run that is over; one that somebody is running without us is left alone, and one that is over is written down first."""
        record = folder.handed_over
        if record is not None:
            await self.ledger.take_in(record)
        if record is not None or await self.ledger.find(folder.run) or now - folder.path.stat().st_mtime > STRAY_S:
            await asyncio.to_thread(folder.sweep)
            await asyncio.to_thread(folder.remove)

    async def _stands(self, standing: Standing) -> None:
        self.standings[standing.file] = standing
        await self.ledger.put(standing)


def _budget(beat: Beat) -> str:
    limits = beat.budget
    return " and ".join(money.amount(limit, unit) for limit, unit in ((limits.run_usd, "USD"), (limits.run_tokens, "tokens")) if limit is not None)
