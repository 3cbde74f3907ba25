"""The life of runs inside the daemon: each is written down, waits for its turn, is carried out and concluded; those of a daemon before this one are taken over.

queue: run row ─► begin ─► work: folder, runner, report ─► conclusion ─► row, standing, event ─► attention, log
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from covey.agents.headless.report import Failure, Report
from covey.beats import money
from covey.beats.conclusion import UNPRICED, concluded, entry, plain, standing_after
from covey.beats.execution import Execution, Finished
from covey.beats.folder import Folder, folders
from covey.beats.ledger import Run
from covey.beats.preparation import prepare
from covey.kernel.ids import Ulids
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping
    from pathlib import Path

    from covey.agents.headless.agent import HeadlessAgent
    from covey.agents.headless.report import ErrorKind, Usage
    from covey.beats.beat import Beat
    from covey.beats.ledger import Ledger, Standing
    from covey.beats.log import HeartbeatLog
    from covey.beats.standings import Standings
    from covey.beats.treasury import Treasury
    from covey.beats.voice import Voice
    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

T = TypeVar("T")

AGAIN_S = 5.0
"""Between attempts to write down what has happened."""
GOODBYE_S = 8.0
"""How long a daemon that is told to stop waits for its runs to end; those that take longer are taken over by the next."""
STRAY_S = 86_400.0
"""When the folder of a run that nobody knows is thrown away."""
TITLE_CHARACTERS = 200
SHOWN = 8
"""As much of a run's id as tells it from others."""
STOPPED = "the daemon was stopped"

log = logging.getLogger("covey.beats")


class Runs:
    """All runs that are not over. `folder` is where they have theirs; `over` is called whenever one has ended."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        standings: Standings,
        treasury: Treasury,
        voice: Voice,
        clock: Clock,
        metrics: Metrics,
        heartbeats: HeartbeatLog,
        folder: Path,
        agents: Mapping[str, HeadlessAgent],
        over: Callable[[], None],
    ) -> None:
        self.running: dict[str, Run] = {}
        self.queued: deque[Run] = deque()
        self.latest: dict[str, Run] = {}
        """The last run of each beat that is over, by file."""
        self._ledger = ledger
        self._standings = standings
        self._treasury = treasury
        self._voice = voice
        self._clock = clock
        self._metrics = metrics
        self._heartbeats = heartbeats
        self._folder = folder
        self._agents = agents
        self._over = over
        self._ids = Ulids(clock.time)
        self._works: set[asyncio.Task[None]] = set()
        self._leaving = False
        metrics.counter("covey_beat_runs_total", "Runs of beats, by outcome.")
        metrics.counter("covey_beat_cost_usd_total", "What beats have cost, as far as their agents say.")
        metrics.gauge("covey_beats_running", "Beats that are running.", lambda: len(self.running))

    async def leave(self) -> None:
        """Have all runs ended. What takes too long is left to the next daemon, and so is what waits."""
        self._leaving = True
        for run in self.running:
            Folder(self._folder / run).stop(STOPPED)
        if self._works:
            await asyncio.wait(self._works, timeout=GOODBYE_S)
        for task in self._works:
            task.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)

    def new(self, beat: Beat, *, why: str, verbose: bool = False) -> Run:
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

    async def queue(self, run: Run, standing: Standing | None, *, first: bool = False) -> None:
        """Write down that a run is due, with how its beat stands then, and let it wait for its turn. If that cannot be written, it is not due.

        It is done even if whoever asked goes away meanwhile.
        """
        before = self._standings.get(run.file)
        if standing is not None:
            self._standings.set(standing)
        await asyncio.shield(self._own(self._queue(run, before, first=first)))

    async def _queue(self, run: Run, before: Standing | None, *, first: bool) -> None:
        try:
            await self._ledger.queue(run, self._standings.get(run.file))
        except Exception:
            if before is not None:
                now = self._standings[run.file]
                plan = replace(now.plan, last_slot=before.plan.last_slot, running=now.plan.running - 1)
                self._standings.set(replace(now, plan=plan))
            raise
        self.queued.appendleft(run) if first else self.queued.append(run)

    def begin(self, limit: int) -> None:
        """Begin what waits, as far as no more than `limit` run at a time."""
        while self.queued and len(self.running) < limit:
            self._begin(self.queued.popleft())

    async def give_up(self, file: str, why: str) -> None:
        """End what waits because a beat's time had come, without beginning it."""
        due = [run for run in self.queued if run.file == file and run.why == "schedule"]
        for run in due:
            self.queued.remove(run)
        for run in due:
            await asyncio.shield(self._own(self._conclude(run, self._failed("withdrawn", f"it was not begun: {why}"))))

    def _begin(self, run: Run) -> None:
        self.running[run.run] = run
        self._own(self._work(run))

    def _own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="beat")
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        return task

    async def _work(self, run: Run) -> None:
        folder = Folder(self._folder / run.run)
        try:
            finished = await self._refused(run) if run.state == "queued" else None
            if finished is None:
                if run.state == "queued":
                    run = self.running[run.run] = await self._insist(partial(self._ledger.begin, run))
                finished = await self._execute(run, folder)
            await self._voice.told()  # what was heard comes before the end
            await self._conclude(run, finished)
        except asyncio.CancelledError:
            return  # the next daemon goes on with it
        except Exception:
            log.exception(
                "a run could not be concluded; the next start tries again", extra={"beat": run.beat, "run": run.run}
            )
            return
        finally:
            self.running.pop(run.run, None)
            if not self._leaving:
                self._over()
        await asyncio.to_thread(folder.remove)

    async def _refused(self, run: Run) -> Finished | None:
        """A run that waited while others used up the budget is not begun; one that somebody wants is."""
        standing = self._standings.get(run.file)
        if run.why == "hand" or standing is None:
            return None
        stop = await self._treasury.stop(run.spec, standing, self._clock.time())
        return self._failed("withdrawn", f"it was not begun: {stop.reason}") if stop else None

    async def _execute(self, run: Run, folder: Folder) -> Finished:
        beat, standing = run.spec, self._standings.get(run.file)

        def spent(usage: Usage) -> str:
            return "budget" if money.overspent(beat.budget, usage) else ""

        try:
            agent = self._agents[beat.agent]
            if folder.task is None:
                digest = standing.probe_digest if standing else ""
                failure = await asyncio.to_thread(prepare, beat, folder, agent, self._clock.time(), digest)
                if failure is not None:
                    return self._failed(failure.kind, failure.message)
            if self._leaving:
                folder.stop(STOPPED)
            return await Execution(folder, agent.reader(), self._clock, self._voice.steps(run), spent).run()
        except Exception as error:  # whatever it is, it must not silence the beat
            log.exception("a run could not be followed", extra={"beat": run.beat, "run": run.run})
            folder.stop("Covey failed")
            await asyncio.to_thread(folder.sweep)
            return self._failed("crash", f"Covey could not follow it: {error}")

    def _failed(self, kind: ErrorKind, message: str) -> Finished:
        return Finished(
            report=Report(failure=Failure(kind=kind, message=message)), began=self._clock.time(), seconds=0.0
        )

    async def _conclude(self, run: Run, finished: Finished) -> None:
        unchanged = finished.probe is not None and finished.probe["means"] == "unchanged"
        looked = await self._insist(partial(self._ledger.last_look, run.file)) if unchanged else None
        done, turns = concluded(run, finished, await self._prices(run, finished), looked), plain(finished.report.turns)
        before = self._standings.get(run.file)
        if before is not None:
            self._standings.set(standing_after(run.spec, before, done, finished, self._clock.time()))
        news = before is None or before.outcome != done.outcome
        if done.error_kind != "withdrawn":
            self.latest[run.file] = done
        await self._insist(lambda: self._ledger.finish(done, self._standings.get(run.file), turns))
        if done.outcome:
            self._metrics.count("covey_beat_runs_total", beat=run.beat, outcome=done.outcome)
        if done.cost_usd:
            self._metrics.count("covey_beat_cost_usd_total", done.cost_usd, beat=run.beat)
        await self._follow_up(done, turns, news=news)

    async def _prices(self, run: Run, finished: Finished) -> money.Prices:
        """What the run's cost is estimated from, if its agent has not told it."""
        if finished.report.usage.cost_usd is not None:
            return UNPRICED
        return await self._insist(partial(self._ledger.prices, run.spec))

    async def _insist(self, write: Callable[[], Awaitable[T]]) -> T:
        """Write down what has happened, however long it takes."""
        while True:
            try:
                return await write()
            except StoreError as error:
                log.error("a run waits: nothing can be written down", extra={"reason": error.message})  # noqa: TRY400
                await self._clock.sleep(AGAIN_S)

    async def _follow_up(self, done: Run, turns: list[Any], *, news: bool) -> None:
        """What comes after a run is written down: telling people, and the log. Done again after a crash, it does no harm.

        `news`: the outcome is another one than before. A run that was withdrawn is reported to nobody and is no heartbeat:
        it is in the history only.
        """
        key = f"beat:{done.file}"
        if done.error_kind == "withdrawn":
            await self._ledger.logged(done.run)
            return
        if done.outcome == "ok":
            if news:
                await self._voice.settle(key, "the last run was ok")
        elif (
            done.outcome in done.spec.notify and (news or done.probe != "unchanged") and not self._told_otherwise(done)
        ):
            said = (done.summary or done.error).partition("\n")[0][:TITLE_CHARACTERS]
            await self._voice.ask(
                key,
                f"{done.beat}: {said}",
                f"covey beats show {done.run[-SHOWN:]}",
                beat=done.beat,
                run=done.run,
                request_id=done.run,
            )

        def write() -> None:
            if not self._heartbeats.has(done.run):
                self._heartbeats.append(entry(done, turns))
            if turns:
                self._heartbeats.keep_conversation(done.workspace, {**done.as_dict(), "turns": turns})

        try:
            await asyncio.to_thread(write)
        except OSError as error:
            log.error(  # noqa: TRY400
                "the log of heartbeats cannot be written; the next start tries again",
                extra={"reason": str(error), "run": done.run},
            )
        else:
            await self._ledger.logged(done.run)

    def _told_otherwise(self, done: Run) -> bool:
        """Whether this error needs no attention item of its own.

        Whoever interrupts a run knows it; that a beat is paused by its budget, or has no file, has an item already.
        """
        return done.error_kind in {"interrupted", "prompt_missing"} or (
            done.error_kind == "budget" and done.file in self._standings
        )

    # After a daemon that has gone.

    async def recover(self) -> None:
        unfinished = await self._ledger.unfinished()
        self._standings.count(Counter(run.file for run in unfinished))
        self.latest = await self._ledger.latest()
        for done, turns in await self._ledger.unlogged():
            await self._follow_up(done, turns, news=True)
        for folder in await asyncio.to_thread(folders, self._folder):
            if folder.run not in {run.run for run in unfinished} and (left := await self._clear(folder)):
                unfinished.append(left)
        for run in unfinished:  # last: from here on runs end
            if run.state == "running":
                self._begin(run)
            else:
                self.queued.append(run)

    async def _clear(self, folder: Folder) -> Run | None:
        """Throw away the folder of a run that is over, once it is written down. One that somebody runs without us is left alone; if they have gone, it is ours."""
        if folder.attended:
            return None
        record = folder.handed_over
        if record is not None:
            try:
                taken = await self._ledger.take_in(record)
            except (msgspec.ValidationError, KeyError):
                log.warning("a run that was left for the daemon cannot be read", extra={"run": folder.run})
            else:
                if taken.state == "running":
                    return taken
        if record is not None or await self._ledger.find(folder.run) or self._clock.time() - folder.touched > STRAY_S:
            await asyncio.to_thread(folder.sweep)
            await asyncio.to_thread(folder.remove)
        return None
