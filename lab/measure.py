"""The truth run: many plays on one bench, watched by observers, and the figures that result."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from covey.agents import integration
from lab.bench import Play, bench, play_all
from lab.cell import Cell
from lab.observer import COVEY, Claim, claims, home_of, watching
from lab.score import LONG, SAME, Score, percentile, score
from lab.timeline import STATES, UNDECIDED, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from lab.agents.agent import Agent, Launch, RunSetup
    from lab.observer import Observer
    from lab.play import PlayError, Run

WITNESSED = {**SAME, "error": "idle"}
"""No witness has a word for an agent that rests after an error."""


@dataclass
class Measured:
    runs: list[Run]
    failures: list[PlayError]
    seconds: float
    observed: dict[str, dict[str, list[Claim]]] = field(default_factory=dict)
    """Claims by observer and pane."""

    @property
    def cells(self) -> list[Cell]:
        """Return the cells that were measured: each agent in each version at each size, in order."""
        return sorted({Cell.of(run.agent, run.size) for run in self.runs})

    def of(self, cell: Cell) -> list[Run]:
        return [run for run in self.runs if Cell.of(run.agent, run.size) == cell]

    def score(self, observer: str, runs: Iterable[Run]) -> Score:
        total = Score()
        for run in runs:
            total.add(score(run.timeline(), self.observed[observer].get(run.pane.id, [])))
        return total

    def agreement(self, cell: Cell) -> dict[str, Score]:
        """Return how far the agent's own report agrees with the derived truth, by scenario."""
        found: dict[str, Score] = {}
        for run in self.of(cell):
            if run.reports:
                found.setdefault(run.scenario.name, Score()).add(agreement(run.timeline(), run.reports))
        return found


def agreement(truth: Sequence[Span], reports: Sequence[tuple[float, str]]) -> Score:
    """Compare the truth with a witness, from its first report on and without the agent's end, which it cannot see."""
    first = reports[0][0]
    since = [
        Span(max(span.start, first), span.end, span.state)
        for span in truth
        if span.end > first and span.state != "gone"
    ]
    return score(since, [Claim(at, state) for at, state in reports], alias=WITNESSED)


async def measure(
    plays: Sequence[Play],
    observers: Sequence[Observer],
    *,
    jobs: int,
    integrated: bool = False,
    done: Callable[[Run | PlayError, int, int], None],
) -> Measured:
    began = time.monotonic()
    async with bench(integrate=integrate if integrated else None) as shared:
        files = {observer.name: shared.folder / f"{observer.name}.jsonl" for observer in observers}
        async with contextlib.AsyncExitStack() as stack:
            for observer in observers:
                await stack.enter_async_context(watching(observer, shared.terminal.socket, files[observer.name]))
            runs, failures = await play_all(shared, plays, jobs=jobs, done=done)
        observed = {name: claims(name, file.read_text(encoding="utf-8").splitlines()) for name, file in files.items()}
        return Measured(runs, failures, time.monotonic() - began, observed)


def integrate(folder: Path, agent: Agent, setup: RunSetup, launch: Launch) -> None:
    """Do what `covey integrate` does, in the agent's own home, for the node that observes the lab."""
    integrate_with(str(home_of(COVEY, folder)), agent, setup, launch)


def integrate_with(covey_home: str, agent: Agent, setup: RunSetup, launch: Launch) -> None:
    """The same for the Covey of this home."""
    environment = {"HOME": str(setup.home), **launch.env, "COVEY_HOME": covey_home}
    integration.apply(integration.plan(agent.name, setup.home, environment, versions=[agent.version]))


def report(measured: Measured) -> dict[str, Any]:
    """Return the figures, as they are printed and stored."""
    return {
        "seconds": round(measured.seconds, 1),
        "runs": len(measured.runs),
        "failures": [str(failure) for failure in measured.failures],
        "cells": [_cell(measured, cell) for cell in measured.cells],
        "observers": [_observer(measured, name) for name in measured.observed],
    }


def _cell(measured: Measured, cell: Cell) -> dict[str, Any]:
    runs = measured.of(cell)
    agent = runs[0].agent
    spans = [span for run in runs for span in run.timeline()]
    witnessed = measured.agreement(cell)
    total = Score()
    for one in witnessed.values():
        total.add(one)
    return {
        **cell.table(),
        "title": agent.title,
        "stand_in": agent.stand_in,
        "runs": len(runs),
        "decided_s": round(sum(span.length for span in spans if span.state != UNDECIDED), 1),
        "undecided_s": round(sum(span.length for span in spans if span.state == UNDECIDED), 1),
        "witness_agreement": round(total.accuracy, 4) if witnessed else None,
        "witness_scenarios": {name: round(one.accuracy, 4) for name, one in sorted(witnessed.items())},
    }


def _observer(measured: Measured, name: str) -> dict[str, Any]:
    total = measured.score(name, measured.runs)
    return {
        "observer": name,
        "total": figures(total),
        "cells": [{**cell.table(), **figures(measured.score(name, measured.of(cell)))} for cell in measured.cells],
        "confusion": confusion(total.confusion),
        "transitions": transitions(total),
    }


def transitions(total: Score) -> list[dict[str, Any]]:
    """Return how soon each change of state was noticed, and how often it was not."""
    return [
        {
            "from": before,
            "to": after,
            "noticed": len(total.delays.get((before, after), [])),
            "missed": total.missed[before, after],
            "p50_s": _rounded(percentile(total.delays.get((before, after), []), 0.5)),
            "p95_s": _rounded(percentile(total.delays.get((before, after), []), 0.95)),
        }
        for before, after in sorted({*total.delays, *total.missed})
    ]


def figures(total: Score) -> dict[str, Any]:
    delays = total.all_delays()
    return {
        "accuracy": round(total.accuracy, 4),
        "approval_recall": round(total.recall("waiting_approval"), 4),
        "wrong_spells": len(total.wrong),
        "wrong_spells_over_1s": sum(1 for spell in total.wrong if spell > LONG),
        "wrong_longest_s": _rounded(max(total.wrong, default=0.0)),
        "latency_p50_s": _rounded(percentile(delays, 0.5)),
        "latency_p95_s": _rounded(percentile(delays, 0.95)),
        "missed": total.missed.total(),
    }


def confusion(seconds: Mapping[tuple[str, str], float]) -> dict[str, dict[str, float]]:
    """Return seconds by true and claimed state."""
    return {
        state: {claimed: round(length, 1) for (true, claimed), length in sorted(seconds.items()) if true == state}
        for state in STATES
        if any(true == state for true, _ in seconds)
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
