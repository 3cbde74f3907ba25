"""How long does `covey replay` take against reading the whole journal, and how does it grow with the journal?

Twenty agents work through turns: hooks, titles and screens are the signals, the daemon's own engine judges them, and
its events are the journal, with a picture as often as the daemon writes one. The two journals differ in their length
only. Each question is asked of both in turn, round by round, every round about another moment; figures are medians, and
ratios are of the same run. A limit that is broken is marked, and the exit code is 1.

    ./run python bench/replay.py [megabytes] [rounds]
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from covey.contract.fleet_events import FLEET_PICTURE, FLEET_STARTED
from covey.fleet.history.history import PICTURE_AFTER, History
from covey.fleet.history.picture import Picture
from covey.fleet.history.record import PICTURE_EVENTS
from covey.fleet.state.engine import Signal
from covey.fleet.state.judge import Rules
from covey.fleet.state.model import DERIVED, SEEN, SURE, Claim, State
from covey.fleet.state.states import RuntimeView, StateEvent, States
from covey.fleet.watch.runtimes import Runtime
from covey.kernel.clock import ManualClock, timestamp
from covey.kernel.events import journal
from covey.kernel.events.event import Event, Kinds, encode
from covey.kernel.events.events import Events
from covey.kernel.store.store import Store

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Iterable

    from covey.kernel.events.journal import Reader

ROOT = Path(__file__).resolve().parent.parent
AGENTS = 20
BEGAN = 1_767_225_600.0
TARGETS = [{"target": "host", "health": "ok", "reason": ""}]
FASTER, FLAT = 5.0, 3.0
"""Limits: how much faster than reading all of the longer journal, and how much slower than in the shorter one."""


class Days:
    """Writes what the daemon would have written while the agents worked."""

    def __init__(self) -> None:
        self.now = BEGAN
        self.events = self.bytes = 0
        self._chance = random.Random(1)
        self._states = States(Rules())
        self._pictured = 0
        self._connection: sqlite3.Connection | None = None

    def write(self, connection: sqlite3.Connection, most_bytes: int) -> None:
        self._connection = connection
        self._append([StateEvent(FLEET_STARTED, "", {"rules": to_builtins(Rules()), "targets": TARGETS}, self.now)])
        for agent in range(AGENTS):
            runtime_id = f"{agent:016x}"
            self._append(self._states.start(runtime_id, _view(runtime_id), self.now))
        while self.bytes < most_bytes:
            self._turn(f"{self._chance.randrange(AGENTS):016x}")

    def _turn(self, agent: str) -> None:
        task = (
            f"Work on issue {self._chance.randrange(1000)}: {'tests, then the code, ' * self._chance.randrange(1, 5)}"
        )
        self._say(agent, "hook", "running", f"prompt: {task}")
        self._say(agent, "title", "running", task)
        for _ in range(self._chance.randrange(2, 8)):
            tool = f"Bash: ./run test tests/unit/test_{self._chance.randrange(500)}.py (cwd ~/src/api)"
            self._say(agent, "hook", "running", tool)
            self._say(agent, "screen", "running", "")
            if self._chance.random() < 0.3:
                self._say(agent, "hook", "waiting_approval", tool)
                self._say(agent, "screen", "waiting_approval", tool)
        self._say(agent, "hook", "completed", task)
        self._say(agent, "title", "idle", "")

    def _say(self, agent: str, source: str, state: State, detail: str) -> None:
        self.now = round(self.now + self._chance.expovariate(2.0), 3)
        level, strength = {"hook": (False, SURE), "title": (True, DERIVED), "screen": (True, SEEN)}[source]
        claim = Claim(
            source=source,
            state=state,
            at=self.now,
            level=level,
            strength=strength,
            reason=state,
            detail=detail,
            evidence=f"{source} {state}",
        )
        key = f"{source} {self.events}"
        signal = Signal(
            runtime_id=agent,
            source=source,
            dedupe_key=key,
            event_id=key,
            event_time=self.now,
            ingested_at=self.now,
            claim=claim,
        )
        self._append(self._states.apply(signal, _view(agent)))
        if self.events - self._pictured >= PICTURE_AFTER:
            self._pictured = self.events
            self._append([StateEvent(FLEET_PICTURE, "", {**self._states.picture(), "targets": TARGETS}, self.now)])

    def _append(self, events: Iterable[StateEvent]) -> None:
        assert self._connection is not None
        for kind, subject, data, at in events:
            text = encode(data)
            self.events += 1
            self.bytes += len(text) + 150
            journal.insert(self._connection, Event(0, f"{self.events:026d}", at, kind, subject, {}, "fleet", text))


def _view(agent: str) -> RuntimeView:
    place: dict[str, Any] = {
        "target": "host",
        "socket": "/tmp/tmux-1000/default",
        "window_id": "@1",
        "pane_id": f"%{int(agent, 16)}",
    }
    runtime = Runtime(
        runtime_id=agent, **place, pane_epoch="", agent="claude", pid=4711, process_started=1, started_at=BEGAN
    )
    return RuntimeView(runtime, pane=None, lost=None)


class Written:
    """A journal, and the questions about it."""

    def __init__(self, events: Events, days: Days) -> None:
        self.days = days
        self._events = events
        self._clock = ManualClock(days.now + 1)
        self._history = History(events, self._clock, Rules())

    @classmethod
    async def of(cls, store: Store, megabytes: float) -> Written:
        days = Days()
        await store.write(lambda connection: days.write(connection, int(megabytes * (1 << 20))))
        clock = ManualClock(days.now)
        return cls(await Events.open(store, clock=clock.time), days)

    async def shown(self, part: float) -> None:
        at = timestamp(BEGAN + (self.days.now - BEGAN) * part)
        answer = await self._history.replay({"at": at, "check": False, "since": None}, [])
        assert answer["summary"]["total"] == AGENTS

    async def checked(self, since: str | None) -> None:
        answer = await self._history.replay({"at": None, "check": True, "since": since}, [])
        assert answer["matches"], answer["mismatches"][:3]

    async def read_all(self) -> None:
        """Read every event from the first to the moment: the simplest way."""

        def read(reader: Reader) -> int:
            picture = Picture()
            for event in reader.stretch(Kinds(PICTURE_EVENTS)):
                picture.add(event)
            return len(picture.rows(self.days.now))

        assert await self._events.read(read) == AGENTS


QUESTIONS: dict[str, Callable[[Written, float], Awaitable[None]]] = {
    "reading all of it": lambda it, _: it.read_all(),
    "--at": lambda it, part: it.shown(part),
    "--check --since 10m": lambda it, _: it.checked("10m"),
    "--check": lambda it, _: it.checked(None),
}


async def measure(folder: Path, megabytes: float, rounds: int) -> tuple[list[Days], dict[str, tuple[float, float]]]:
    async with (
        await Store.open(folder / "short.db", Events.MIGRATIONS, fsync="off") as short,
        await Store.open(folder / "long.db", Events.MIGRATIONS, fsync="off") as long,
    ):
        journals = [await Written.of(short, megabytes / 4), await Written.of(long, megabytes)]
        taken: dict[str, tuple[list[float], list[float]]] = {question: ([], []) for question in QUESTIONS}
        for round_ in range(rounds):
            for question, ask in QUESTIONS.items():
                for written, seconds in zip(journals, taken[question], strict=True):
                    started = time.perf_counter()
                    await ask(written, (round_ + 0.5) / rounds)
                    seconds.append(time.perf_counter() - started)
        medians = {
            question: (statistics.median(short), statistics.median(long)) for question, (short, long) in taken.items()
        }
        return [written.days for written in journals], medians


def main() -> int:
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 32.0
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".bench-") as folder:
        days, taken = asyncio.run(measure(Path(folder), megabytes, rounds))
    shorter, longer = (f"{one.bytes >> 20} MB" for one in days)
    print(f"{days[0].events:,} and {days[1].events:,} events; medians of {rounds} rounds\n")
    print(f"{'':28}{shorter:>12}{longer:>12}{'grows':>9}{'than reading all':>20}")
    everything, held = taken["reading all of it"][1], True
    for question, (short, long) in taken.items():
        broken = question == "--at" and (everything / long < FASTER or long / short > FLAT)
        held = held and not broken
        grows = f"x {long / short:.1f}"
        faster = f"x {everything / long:.1f} faster"
        verdict = "  BROKEN" if broken else ""
        print(f"{question:28}{short * 1000:>9.1f} ms{long * 1000:>9.1f} ms{grows:>9}{faster:>20}{verdict}")
    print(
        f"\nlimits for --at: at least x {FASTER:g} faster than reading all of the longer journal, "
        f"and grows by x {FLAT:g} at most"
    )
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
