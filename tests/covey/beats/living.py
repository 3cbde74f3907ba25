"""The beats of a daemon, in this process and on a clock that a test moves; runs are real processes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats.beat_events import BeatEvents
from covey.beats.catalog import BeatCatalog
from covey.beats.heartbeat_log import HeartbeatLog
from covey.beats.ledger import MIGRATIONS, Ledger
from covey.beats.records import Run
from covey.beats.scheduler import BeatScheduler
from covey.kernel.clock import ManualClock
from covey.kernel.events.events import Event, Events
from covey.kernel.metrics import Metrics
from covey.kernel.store.store import Store

PATIENCE_S = 60.0
DAY_S = 86_400.0
SETTINGS = {
    "beats.max_concurrent": 4,
    "beats.jitter_s": 0.0,
    "beats.day_usd": 0.0,
    "beats.month_usd": 0.0,
    "events.max_days": 30,
}


@dataclass(frozen=True)
class Living:
    """A running scheduler, with what a test needs to drive and to inspect it."""

    beats: BeatScheduler
    clock: ManualClock
    events: Events
    log: HeartbeatLog
    settings: dict[str, Any]
    metrics: Metrics

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait, in real time, for what real processes and the database have to do."""
        async with asyncio.timeout(PATIENCE_S):
            while not true():  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.01)

    async def rest(self) -> None:
        """Wait until nothing runs, nothing is queued, and the scheduler sleeps."""
        beats = self.beats
        await self.until(
            lambda: not beats.running and not beats.queued and not beats._wake.is_set() and self.clock.sleepers == 1
        )

    async def advance(self, seconds: float) -> None:
        """Let time pass, and wait for what is then due."""
        self.clock.advance(seconds)
        await asyncio.sleep(0.05)
        await self.rest()

    async def runs(self) -> list[Run]:
        """All of them, oldest first."""
        return (await self.beats.ledger.history(limit=1000))[::-1]

    async def published(self, *kinds: str) -> list[Event]:
        return await self.events.history(kinds=kinds)


@contextlib.asynccontextmanager
async def living(
    folder: Path, *workspaces: Path, clock: ManualClock | None = None, **settings: Any
) -> AsyncIterator[Living]:
    noon = time.time() // DAY_S * DAY_S + DAY_S / 2  # runs are real, and so is the day on which they are
    clock = clock or ManualClock(noon)
    given = {
        **SETTINGS,
        "beats.workspace": [{"path": str(path)} for path in workspaces],
        **{f"beats.{key}": value for key, value in settings.items()},
    }

    async with await Store.open(folder / "node.db", [*Events.MIGRATIONS, *MIGRATIONS]) as store:
        events = await Events.open(store, clock=clock.time)
        log = HeartbeatLog(folder / "beats")
        metrics = Metrics()
        async with (
            BeatEvents(events, clock, metrics) as beat_events,
            BeatScheduler(
                catalog=BeatCatalog(str(folder), AGENTS),
                ledger=Ledger(store, events),
                events=beat_events,
                clock=clock,
                metrics=metrics,
                heartbeats=log,
                folder=folder / "beats" / "runs",
                agents=AGENTS,
                setting=given.__getitem__,
            ) as beats,
        ):
            one = Living(beats, clock, events, log, given, metrics)
            await one.until(lambda: clock.sleepers == 1)
            yield one
