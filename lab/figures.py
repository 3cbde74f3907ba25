"""Measured figures, one JSON file per cell: an agent's version at a size, bare or integrated.

A file holds the scores of each scenario, so that a cell can be measured in several runs: a scenario that is played
again replaces its former scores. `./run lab report` makes the tables of docs/accuracy.md from them, and `./run lab
drift` compares new releases with them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.score import Score
from lab.size import DEFAULT, Size
from lab.timeline import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.cell import Cell
    from lab.measure import Measured

FOLDER = Path(__file__).parent / "figures"
BARE, INTEGRATED = "bare", "integrated"
BASELINE = "baseline"


@dataclass
class ScenarioFigures:
    """The result of one scenario.

    It has a score for each observer, the agreement with the agent's own report, and the undecided seconds.
    """

    runs: int
    undecided: float
    observers: dict[str, Score]
    witness: Score | None = None


@dataclass
class CellFigures:
    agent: str
    version: str
    size: Size
    mode: str
    stand_in: bool = False
    scenarios: dict[str, ScenarioFigures] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    """Scenarios that did not play, each with the step at which it stopped."""

    def total(self, observer: str) -> Score:
        """Return the sum over all scenarios in which an observer was scored."""
        return added(one.observers[observer] for one in self.scenarios.values() if observer in one.observers)

    def write(self, folder: Path = FOLDER) -> Path:
        """Write the cell's file, keep what it holds of scenarios that were not played now, and return its path."""
        file = folder / self.agent / self.version / f"{self.size}-{self.mode}.json"
        before = read(file) if file.exists() else CellFigures(self.agent, self.version, self.size, self.mode)
        scenarios = {
            **{name: one for name, one in before.scenarios.items() if name not in self.failures},
            **self.scenarios,
        }
        failures = {
            **{name: text for name, text in before.failures.items() if name not in self.scenarios},
            **self.failures,
        }
        table = {
            "agent": self.agent,
            "version": self.version,
            "size": str(self.size),
            "mode": self.mode,
            "stand_in": self.stand_in,
            "failures": failures,
            "scenarios": {name: _scenario_table(one) for name, one in sorted(scenarios.items())},
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_lines(table), encoding="utf-8")
        return file


def read(file: Path) -> CellFigures:
    """Return the figures in a file; raise ValueError, which names the file, when it holds none."""
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
        scenarios = {
            name: ScenarioFigures(
                one["runs"],
                one["undecided_s"],
                {observer: Score.from_table(score) for observer, score in one["observers"].items()},
                Score.from_table(one["witness"]) if one["witness"] else None,
            )
            for name, one in table["scenarios"].items()
        }
        return CellFigures(
            table["agent"],
            table["version"],
            Size.parse(table["size"]),
            table["mode"],
            table["stand_in"],
            scenarios,
            table["failures"],
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{file} holds no figures of the lab ({error!r}); remove it and measure that cell again"
        ) from None


def read_all(folder: Path = FOLDER) -> list[CellFigures]:
    return [read(file) for file in sorted(folder.glob("*/*/*.json"))]


def of(measured: Measured, *, integrated: bool) -> list[CellFigures]:
    """Return the figures of everything that was measured, or should have been, in one run."""
    found = {cell: _figures(measured, cell, integrated=integrated) for cell in measured.cells}
    for failure in measured.failures:
        if failure.cell:
            cell = found.setdefault(failure.cell, CellFigures(*failure.cell, BARE if not integrated else INTEGRATED))
            cell.failures[failure.scenario] = str(failure).splitlines()[0]
    return list(found.values())


def added(scores: Iterable[Score]) -> Score:
    total = Score()
    for one in scores:
        total.add(one)
    return total


def _figures(measured: Measured, cell: Cell, *, integrated: bool) -> CellFigures:
    runs = measured.of(cell)
    witnessed = measured.agreement(cell)
    figures = CellFigures(*cell, INTEGRATED if integrated else BARE, runs[0].agent.stand_in)
    for name in sorted({run.scenario.name for run in runs}):
        own = [run for run in runs if run.scenario.name == name]
        undecided = sum(span.length for run in own for span in run.timeline() if span.state == UNDECIDED)
        # The baseline is shown once per agent: at the usual size, without hooks, which it does not use.
        wanted = [one for one in measured.observed if one != BASELINE or (cell.size == DEFAULT and not integrated)]
        scores = {observer: measured.score(observer, own) for observer in wanted}
        figures.scenarios[name] = ScenarioFigures(len(own), undecided, scores, witnessed.get(name))
    return figures


def _scenario_table(one: ScenarioFigures) -> dict[str, Any]:
    return {
        "runs": one.runs,
        "undecided_s": round(one.undecided, 2),
        "witness": one.witness.table() if one.witness else None,
        "observers": {name: score.table() for name, score in one.observers.items()},
    }


def _lines(table: dict[str, Any]) -> str:
    """Return JSON with one line per scenario, so that a difference between two measurements can be read."""
    head = {name: value for name, value in table.items() if name != "scenarios"}
    rows = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in table["scenarios"].items()
    )
    opening = json.dumps(head, indent=1).removesuffix("\n}")
    return f'{opening},\n "scenarios": {{\n{rows}\n }}\n}}\n'
