"""What does the schedule of 200 beats cost, and what does a run?

A look at the clock decides on every beat and finds out when to look again. Side by side, interleaved: the least that
such a loop can do (go over the 200 plans and compare one number of each), and the plain way for cron expressions, which
parses the expression and steps with cronsim from the last slot at each look. The daemon looks at least every ten
seconds; the share of a core follows from that. Then a month of the same beats, as fast as it goes.

And what does it cost that a run survives the daemon? Side by side, interleaved: an agent that answers at once, started
as a plain child; the same through a run's folder and its runner; and a run whose probe says that nothing has changed,
beside the probe's command alone.

    ./run python bench/beats.py [looks]
"""

from __future__ import annotations

import asyncio
import hashlib
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from heapq import heapify, heappop, heappush
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cronsim import CronSim

from covey.agents.claude.headless import ClaudeReader
from covey.agents.headless.agent import Command
from covey.beats.beat import Beat, Cron, Interval, Probe
from covey.beats.execution import Execution
from covey.beats.planner import WAKE_S, Plan, Start, after_decision, after_run, decide, next_wake, plan_for
from covey.beats.preparation import prepare
from covey.beats.run_folder import RunFolder
from covey.kernel.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.agents.headless.task import Task

START = datetime(2026, 10, 3, tzinfo=UTC).timestamp()
"""Within a month of it clocks change in all three zones."""
MONTH_S = 31 * 86_400.0
BEATS = 200
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
SCHEDULES = (
    Interval(300.0),
    Cron("*/5 * * * *"),
    Interval(1800.0),
    Cron("7 * * * *"),
    Interval(3600.0),
    Cron("0 9 * * 1-5"),
    Interval(86_400.0),
    Cron("30 2 * * *"),
)
SHARE = 0.001
"""The largest share of a core that ticks may take."""

Pairs = list[tuple[Beat, Plan]]


def beats() -> Pairs:
    """Return the beats with their first plans."""
    made = [
        Beat(
            name=f"beat-{number}",
            workspace="/w",
            file="/w/HEARTBEAT.md",
            schedule=SCHEDULES[number % len(SCHEDULES)],
            tz=ZONES[number % len(ZONES)],
        )
        for number in range(BEATS)
    ]
    return [(beat, plan_for(beat, None, START)) for beat in made]


def settled(pairs: Pairs, now: float) -> Pairs:
    """Return the beats with their standings after all that was due has run."""
    return [
        (beat, after_run(beat, after_decision(plan, decision), None, now))
        if (decision := decide(beat, plan, now))
        else (beat, plan)
        for beat, plan in pairs
    ]


def ours(pairs: Pairs, now: float) -> None:
    for beat, plan in pairs:
        decide(beat, plan, now)
    next_wake(pairs, now)


def floor(pairs: Pairs, now: float) -> None:
    soonest = now + WAKE_S
    for _, plan in pairs:
        if now < plan.anchor < soonest:
            soonest = plan.anchor


def stepping(pairs: Pairs, now: float) -> None:
    soonest = now + WAKE_S
    for beat, plan in pairs:
        last = plan.last_slot or plan.anchor
        if isinstance(beat.schedule, Interval):
            due = last + beat.schedule.seconds
        else:
            due = next(CronSim(beat.schedule.expression, datetime.fromtimestamp(last, ZoneInfo(beat.tz)))).timestamp()
        if now < due < soonest:
            soonest = due


def look(looks: int) -> bool:
    """Time the ticks, print the table, and return whether the limit held."""
    now = START + 500_000.0
    pairs = settled(beats(), now)
    ways: dict[str, Callable[[Pairs, float], None]] = {
        "a loop that compares": floor,
        "decide and wake": ours,
        "stepping cronsim": stepping,
    }
    taken_s: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(-3, looks):
        for name, way in ways.items():
            started = time.perf_counter()
            way(pairs, now + 0.5)
            if number >= 0:  # the first rounds fill caches
                taken_s[name].append(time.perf_counter() - started)
    least = statistics.median(taken_s["a loop that compares"])
    print(
        f"a look at {BEATS} beats, {looks} of each, interleaved; "
        f"1 = a loop that compares one number of each = {least * 1e6:.1f} µs\n"
    )
    print(f"{'':22}{'p50':>9}{'µs':>9}{'share of a core':>18}")
    for name, seconds in taken_s.items():
        median = statistics.median(seconds)
        print(f"{name:22}{median / least:9.1f}{median * 1e6:9.0f}{median / WAKE_S:18.4%}")
    held = statistics.median(taken_s["decide and wake"]) / WAKE_S <= SHARE
    print(
        f"\nlimit: decide and wake takes at most {SHARE:.1%} of a core, looking every {WAKE_S:.0f} s: "
        f"{'held' if held else 'BROKEN'}"
    )
    return held


def month() -> None:
    """Run a month; each beat is decided when its next tick is due."""
    pairs = beats()
    agenda = [(START, number) for number in range(BEATS)]
    heapify(agenda)
    starts = late = 0
    began = time.process_time()
    while agenda:
        now, number = heappop(agenda)
        if now >= START + MONTH_S:
            continue
        beat, plan = pairs[number]
        decision = decide(beat, plan, now)
        if isinstance(decision, Start):
            starts += 1
            late += decision.slot != now or decision.missed > 0
            plan = after_run(beat, after_decision(plan, decision), None, now)
            pairs[number] = (beat, plan)
        heappush(agenda, (next_wake([(beat, plan)], now, most_s=inf), number))
    spent = time.process_time() - began
    print(
        f"\na month of {BEATS} beats: {starts} starts, {late} not on their slot, {spent:.1f} s of CPU: "
        f"{MONTH_S / spent:,.0f} times as fast as the clock"
    )


class Answering:
    """A simulated agent that answers at once."""

    name = program = "cat"

    def objections(self, task: Task) -> list[str]:
        del task
        return []

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        del task, folder, root
        return Command(argv=("cat",), stdin=prompt)

    def reader(self) -> ClaudeReader:
        return ClaudeReader()


async def through_runner(folder: Path, probe: Probe | None, digest: str) -> None:
    beat = Beat(
        name="b",
        workspace=str(folder.parent),
        file=str(folder.parent / "HEARTBEAT.md"),
        schedule=Interval(60),
        probe=probe,
    )
    run, agent = RunFolder(folder), Answering()
    prepare(beat, run, agent, START, digest)
    await Execution(run, agent.reader(), SystemClock(), lambda _: None, lambda _: "").follow()
    assert run.exit_record
    run.remove()


def runs(times: int = 30) -> None:
    """Time whole runs and print the table."""
    with tempfile.TemporaryDirectory(prefix="covey-") as name:
        folder = Path(name)
        (folder / "HEARTBEAT.md").write_text("---\ninterval: 1m\n---\nLook.\n")
        probe = Probe(command="echo 1", when="changed")
        said = hashlib.sha256(b"1\n").hexdigest()
        ways: dict[str, Callable[[], object]] = {
            "a plain child": lambda: subprocess.run(["cat"], input=b"x", capture_output=True, cwd=folder, check=True),
            "a run": lambda: asyncio.run(through_runner(folder / "run", None, "")),
            "the probe alone": lambda: subprocess.run(
                ["/bin/sh", "-c", "echo 1"], capture_output=True, cwd=folder, check=True
            ),
            "a run that the probe ends": lambda: asyncio.run(through_runner(folder / "run", probe, said)),
        }
        taken_s: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(-2, times):
            for way, do in ways.items():
                started = time.perf_counter()
                do()
                if number >= 0:
                    taken_s[way].append(time.perf_counter() - started)
    least = statistics.median(taken_s["a plain child"])
    print(f"\n{times} runs of an agent that answers at once, interleaved; 1 = a plain child = {least * 1000:.1f} ms\n")
    for way, seconds in taken_s.items():
        print(f"{way:28}{statistics.median(seconds) / least:9.1f}{statistics.median(seconds) * 1000:9.1f} ms")


def main() -> int:
    held = look(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
    month()
    runs()
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
