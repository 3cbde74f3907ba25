"""The beats inside the daemon: what is due by the schedule is found, and runs; what keeps a beat from running is told.

tick: book ─► planner ─► treasury ─► runs
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.beats import money, planner
from covey.beats.choice import absent
from covey.beats.complaints import Complaints
from covey.beats.ledger import Standing
from covey.beats.runs import Runs
from covey.beats.schedule import DAY_S, period
from covey.beats.standings import Standings
from covey.beats.treasury import Treasury
from covey.contract.beats_events import BEAT_PAUSED, BEAT_SKIPPED
from covey.kernel.clock import sleep_until
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path
    from typing import Self

    from covey.agents.headless.agent import HeadlessAgent
    from covey.beats.beat import Beat
    from covey.beats.book import Book
    from covey.beats.ledger import Ledger, Run
    from covey.beats.log import HeartbeatLog
    from covey.beats.voice import Voice
    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

SOON_S = 0.01
LATE_S = 300.0
"""A beat that has not begun so long after it should have, or one period after, is a matter for a person."""
LATEST_S = 3600.0
"""So is any, however rarely it runs."""
HOW_TO_SPEND_MORE = """\
To allow more: covey config set beats.day_usd DOLLARS (or beats.month_usd); then they go on by themselves. To let them run on for now: covey beats resume --all"""

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
        agents: Mapping[str, HeadlessAgent],
        setting: Callable[[str], Any],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self.book = book
        self.ledger = ledger
        self.standings = Standings(ledger)
        self.treasury = Treasury(ledger, setting)
        self._wake = asyncio.Event()
        self._runs = Runs(
            ledger=ledger,
            standings=self.standings,
            treasury=self.treasury,
            voice=voice,
            clock=clock,
            metrics=metrics,
            heartbeats=heartbeats,
            folder=folder,
            agents=agents,
            over=self._wake.set,
        )
        self._complaints = Complaints(ledger)
        self._voice = voice
        self._clock = clock
        self._metrics = metrics
        self._setting = setting
        self._refresh = refresh
        self._looking = asyncio.Lock()
        self._schedule: asyncio.Task[None] | None = None
        self._forgot = 0.0
        metrics.counter("covey_beats_missed_total", "Times at which a beat should have run and did not.")
        metrics.gauge("covey_beats_late", "Beats that should be running and are not.", lambda: len(self.late()))

    async def __aenter__(self) -> Self:
        await self.standings.load()
        await self._runs.recover()
        self._schedule = asyncio.create_task(self._live(), name="beats")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._schedule
        self._schedule.cancel()
        await asyncio.gather(self._schedule, return_exceptions=True)
        await self._runs.leave()

    # What others ask for.

    @property
    def running(self) -> Mapping[str, Run]:
        return self._runs.running

    @property
    def queued(self) -> deque[Run]:
        return self._runs.queued

    @property
    def latest(self) -> Mapping[str, Run]:
        """The last run of each beat that is over, by file."""
        return self._runs.latest

    @property
    def limit(self) -> int:
        """How many may run at a time."""
        return int(self._setting("beats.max_concurrent"))

    async def run_now(self, beat: Beat, *, verbose: bool) -> Run:
        """Begin a run because somebody wants it, before what waits."""
        run = self._runs.new(beat, why="hand", verbose=verbose)
        await self._runs.queue(run, self._with_one_more(beat.file), first=True)
        self._wake.set()
        return run

    async def look(self, now: float) -> None:
        """See what is written now, in the configuration and in the files of the beats."""
        async with self._looking:
            await self._refresh()
            time.tzset()  # whoever travels takes the machine's zone along
            before = {entry.file: entry.name for entry in self.book.entries}
            await asyncio.to_thread(self.book.reload, self._setting("beats.workspace"))
            for file in before.keys() - {entry.file for entry in self.book.entries}:
                await self._voice.settle(f"beat:{file}", f"{before[file]} is no longer in the configuration")
            for beat in self.book.beats.values():
                await self._take_up(beat, now)

    async def pause(self, beat: Beat) -> None:
        """Begin no run any more for which its time comes, or has come and which waits."""
        standing = self.standings[beat.file]
        await self.standings.put(replace(standing, plan=replace(standing.plan, paused=True), reason="paused by hand"))
        await self._runs.give_up(beat.file, "the beat was paused")
        self._wake.set()

    async def resume(self, beat: Beat) -> None:
        now, standing = self._clock.time(), self.standings[beat.file]
        await self.standings.put(
            replace(standing, plan=planner.resumed(beat, standing.plan, now), reason="", budget_from=now)
        )
        self._wake.set()

    def late(self) -> dict[str, float]:
        """Beats that should be running and are not, by name, with the seconds."""
        return {beat.name: seconds for beat, seconds in self._late()}

    def _late(self) -> list[tuple[Beat, float]]:
        now = self._clock.time()
        waits: dict[str, float] = {}
        for run in self.queued:
            waits[run.file] = max(waits.get(run.file, 0.0), now - run.queued_at)
        found = []
        for beat in self.book.beats.values():
            standing = self.standings.get(beat.file)
            wait = waits.get(beat.file) or (planner.late(beat, standing.plan, now) if standing else None)
            if wait is not None and wait > planner.SPREAD_S:
                found.append((beat, wait))
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
            known = [
                (beat, self.standings[beat.file].plan)
                for beat in self.book.beats.values()
                if beat.file in self.standings
            ]
            soon = min(
                max(planner.wake(known, now) - self._clock.time(), SOON_S), planner.WAKE_S
            )  # the clock may have been set meanwhile
            await sleep_until(self._wake, self._clock, soon)

    async def _tick(self, now: float) -> None:
        await self.look(now)
        for beat in self.book.beats.values():
            try:
                await self._release(beat, now)
                await self._decide(beat, now)
            except StoreError:
                raise
            except Exception:  # the others are to run all the same
                log.exception("a beat could not be decided on", extra={"beat": beat.name})
        await self._record_missing()
        self._runs.begin(self.limit)
        if now - self._forgot > DAY_S:
            self._forgot = now
            await self.ledger.forget_turns(now - self._setting("events.max_days") * DAY_S)
        await self._complaints.hear(self._wrong(now))

    async def _take_up(self, beat: Beat, now: float) -> None:
        standing = self.standings.get(beat.file)
        plan = planner.take_up(beat, standing.plan if standing else None, now, self._setting("beats.jitter_s"))
        if standing and standing.plan.last_slot is not None and plan.last_slot is None:
            ahead = round(standing.plan.last_slot - now)
            log.warning(
                "the clock was set back: the beat is scheduled anew from now",
                extra={"beat": beat.name, "last_slot_ahead_s": ahead},
            )
        if standing is None or plan is not standing.plan:
            await self.standings.put(replace(standing, plan=plan) if standing else Standing(file=beat.file, plan=plan))

    async def _release(self, beat: Beat, now: float) -> None:
        """A beat that waits for the next day or month because of its money goes on as soon as somebody has raised the budget."""
        if not self._waits_for_money(beat, now) or await self.treasury.stop(beat, self.standings[beat.file], now):
            return
        standing = self.standings[beat.file]  # again: somebody may have changed it meanwhile
        if self._waits_for_money(beat, now):
            await self.standings.put(replace(standing, plan=replace(standing.plan, parked_until=None), reason=""))

    def _waits_for_money(self, beat: Beat, now: float) -> bool:
        standing = self.standings[beat.file]
        return not standing.plan.paused and (standing.plan.parked_until or 0.0) > now and money.stops(standing.reason)

    async def _decide(self, beat: Beat, now: float) -> None:
        stop = None
        if isinstance(planner.decide(beat, self.standings[beat.file].plan, now), planner.Start):
            stop = await self.treasury.stop(beat, self.standings[beat.file], now)
        standing = self.standings[
            beat.file
        ]  # after the last wait: somebody may have paused it, or a run of it may have ended
        decision = planner.decide(beat, standing.plan, now)
        if isinstance(decision, planner.Skip):
            await self.standings.put(
                replace(standing, plan=planner.taken(standing.plan, decision), skipped=standing.skipped + 1)
            )
            await self._voice.say(BEAT_SKIPPED, beat.name, why=decision.why, slot=decision.slot)
        elif isinstance(decision, planner.Start) and stop:
            await self.standings.put(
                replace(standing, plan=replace(standing.plan, parked_until=stop.until), reason=stop.reason)
            )
            await self._voice.say(BEAT_PAUSED, beat.name, reason=stop.reason, until=stop.until)
        elif isinstance(decision, planner.Start):
            run = replace(self._runs.new(beat, why="schedule"), slot=decision.slot, missed=decision.missed)
            await self._runs.queue(run, replace(standing, plan=planner.taken(standing.plan, decision), reason=""))
            if decision.missed:
                self._metrics.count("covey_beats_missed_total", decision.missed, beat=beat.name)

    async def _record_missing(self) -> None:
        """A beat whose file is missing is recorded as a run that failed, once for each time that the file goes away."""
        busy = {run.file for run in (*self.running.values(), *self.queued)}
        for entry in self.book.entries:
            last = self.latest.get(entry.file)
            if entry.missing and entry.file not in busy and (last is None or last.error_kind != "prompt_missing"):
                run = self._runs.new(absent(entry), why="schedule")
                await self._runs.queue(run, self._with_one_more(entry.file))

    def _with_one_more(self, file: str) -> Standing | None:
        """How a beat stands with one more run."""
        standing = self.standings.get(file)
        return replace(standing, plan=replace(standing.plan, running=standing.plan.running + 1)) if standing else None

    def _wrong(self, now: float) -> dict[str, tuple[str, str]]:
        """Beats that do not run though they should: broken, late, or out of money. What to say, by a key for each."""
        wrong = {
            f"beat-broken:{entry.file}": (f"{entry.name} cannot run", "; ".join(entry.complaints))
            for entry in self.book.entries
            if entry.problems
        }
        for beat, seconds in self._late():
            if seconds > max(LATE_S, min(period(beat.schedule), LATEST_S)):
                wrong[f"beat-late:{beat.file}"] = (
                    f"{beat.name} should have run and has not",
                    "Too many run at once, or the machine is too busy: covey beats list",
                )
        for beat in self.book.beats.values():
            standing = self.standings.get(beat.file)
            if (
                standing
                and money.stops(standing.reason)
                and (standing.plan.paused or (standing.plan.parked_until or 0.0) > now)
            ):
                if standing.reason.startswith(money.ALL):
                    wrong["beats-budget"] = standing.reason, HOW_TO_SPEND_MORE
                else:
                    wrong[f"beat-budget:{beat.file}"] = (
                        f"{beat.name}: {standing.reason}",
                        f"To let it run on: covey beats resume {beat.name}",
                    )
        return wrong
