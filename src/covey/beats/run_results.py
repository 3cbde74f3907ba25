"""Records how runs ended: in the heartbeat log; row, beat record and event in one transaction; metrics, attention.

Whoever waits for the event of the end finds the line in the log. A daemon that is killed between the two finds it, too:
each run is in the log once.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from covey.beats.conclusion import UNPRICED, conclude, log_line, record_after, turns_to_json
from covey.kernel.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.beats import money
    from covey.beats.beat_events import BeatEvents
    from covey.beats.execution import Finished
    from covey.beats.heartbeat_log import HeartbeatLog
    from covey.beats.ledger import Ledger
    from covey.beats.record_cache import RecordCache
    from covey.beats.records import Run
    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

T = TypeVar("T")

RETRY_S = 5.0
"""The pause between attempts to store what has happened."""
TITLE_CHARACTERS = 200
SHOWN = 8
"""The number of characters at the end of a run's id that identify it to a person."""

log = logging.getLogger("covey.beats")


class RunResults:
    """Takes finished runs. `latest` holds the last finished run of each beat, by file."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        records: RecordCache,
        events: BeatEvents,
        heartbeats: HeartbeatLog,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self.latest: dict[str, Run] = {}
        self._ledger = ledger
        self._records = records
        self._events = events
        self._heartbeats = heartbeats
        self._clock = clock
        self._metrics = metrics
        metrics.counter("covey_beat_runs_total", "Runs of beats, by outcome.")
        metrics.counter("covey_beat_cost_usd_total", "Cost of beats in dollars, as far as their agents report it.")

    async def recover(self) -> None:
        """Load the latest runs, and follow up those that an earlier daemon stored and did not log."""
        self.latest = await self._ledger.latest()
        for done, turns in await self._ledger.unlogged():
            await self._follow_up(done, news=True, logged=await self._log(done, turns))

    async def record(self, run: Run, finished: Finished) -> None:
        """Store how a run ended, however long that takes, and follow it up."""
        looked = None
        if finished.probe is not None and finished.probe["means"] == "unchanged":
            looked = await self.until_stored(partial(self._ledger.last_look, run.file))
        done = conclude(run, finished, await self._prices(run, finished), looked)
        turns = turns_to_json(finished.report.turns)
        logged = await self._log(done, turns)
        before = self._records.get(run.file)
        if before is not None:
            self._records.set(record_after(run.spec, before, done, finished, self._clock.time()))
        news = before is None or before.outcome != done.outcome
        if done.error_kind != "withdrawn":
            self.latest[run.file] = done
        await self.until_stored(lambda: self._ledger.finish(done, self._records.get(run.file), turns))
        if done.outcome:
            self._metrics.count("covey_beat_runs_total", beat=run.beat, outcome=done.outcome)
        if done.cost_usd:
            self._metrics.count("covey_beat_cost_usd_total", done.cost_usd, beat=run.beat)
        await self._follow_up(done, news=news, logged=logged)

    async def until_stored(self, access: Callable[[], Awaitable[T]]) -> T:
        """Return what `access` returns, calling it again while the database cannot be used."""
        while True:
            try:
                return await access()
            except StoreError as error:
                log.error("a run waits: the database cannot be used", extra={"reason": error.message})  # noqa: TRY400 - the reason says it all
                await self._clock.sleep(RETRY_S)

    async def _prices(self, run: Run, finished: Finished) -> money.Prices:
        """Return the prices from which the run's cost is estimated if its agent has not reported it."""
        if finished.report.usage.cost_usd is not None:
            return UNPRICED
        return await self.until_stored(partial(self._ledger.prices, run.spec))

    async def _follow_up(self, done: Run, *, news: bool, logged: bool) -> None:
        """Notify people. Repeating this after a crash does no harm.

        `news` means that the outcome differs from the one before. Nobody is notified of a withdrawn run.
        """
        if done.error_kind != "withdrawn":
            await self._notify(done, news=news)
        if logged:
            await self._ledger.mark_logged(done.id)

    async def _log(self, done: Run, turns: list[Any]) -> bool:
        """Return whether the run is in the heartbeat log now, or is withdrawn: then it is in the history only."""
        if done.error_kind == "withdrawn":
            return True
        try:
            await asyncio.to_thread(self._write_log, done, turns)
        except OSError as error:
            log.error(  # noqa: TRY400 - the reason says it all
                "the heartbeat log cannot be written; the next start tries again",
                extra={"reason": str(error), "run": done.id},
            )
            return False
        return True

    async def _notify(self, done: Run, *, news: bool) -> None:
        key = f"beat:{done.file}"
        if done.outcome == "ok":
            if news:
                await self._events.settle(key, "the last run was ok")
            return
        if done.outcome not in done.spec.notify or self._is_known_otherwise(done):
            return
        if news or done.probe != "unchanged":
            summary = (done.summary or done.error).partition("\n")[0][:TITLE_CHARACTERS]
            await self._events.ask(
                key,
                f"{done.beat}: {summary}",
                f"covey beats show {done.id[-SHOWN:]}",
                command=f"covey beats show {done.id[-SHOWN:]}",
                beat=done.beat,
                run=done.id,
                request_id=done.id,
            )

    def _is_known_otherwise(self, done: Run) -> bool:
        """Tell whether the error needs no attention item of its own.

        The user interrupted the run, or an alert about the budget or the missing file covers it.
        """
        if done.error_kind == "budget":
            return done.file in self._records
        return done.error_kind in {"interrupted", "prompt_missing"}

    def _write_log(self, done: Run, turns: list[Any]) -> None:
        if not self._heartbeats.has(done.id):
            self._heartbeats.append(log_line(done, turns))
        if turns:
            self._heartbeats.keep_conversation(done.workspace, {**done.as_dict(), "turns": turns})
