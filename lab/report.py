"""The tables of docs/accuracy.md, made from the figures that truth runs have stored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lab import agents, show
from lab.figures import BARE, BASELINE, INTEGRATED, CellFigures, added
from lab.measure import confusion, figures, transitions
from lab.size import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.score import Score

FILE = Path(__file__).parents[1] / "docs" / "accuracy.md"
BEGIN, END = "<!-- ./run lab report: begin -->", "<!-- ./run lab report: end -->"
COVEY = "covey"
SURE = 0.98
"""A scenario is listed if the agent's own report agrees less than this with the derived truth."""


def write(text: str, file: Path = FILE) -> None:
    """Put the tables between the two marks in a file; raise ValueError when it lacks them."""
    before = file.read_text(encoding="utf-8")
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{file} has no place for the tables; add the lines {BEGIN} and {END} to it")
    file.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")


def text(cells: Sequence[CellFigures]) -> str:
    """Return all tables as Markdown."""
    ordered = sorted(cells, key=_place)
    parts = ["### By agent, version and size", _by_cell(ordered)]
    for mode, title in ((BARE, "As agents come"), (INTEGRATED, "Integrated")):
        own = [cell for cell in ordered if cell.mode == mode]
        if own:
            total = added(cell.total(COVEY) for cell in own)
            parts += [
                f"### {title}: seconds by true and claimed state",
                _block(show.confusion(confusion(total.confusion))),
            ]
            parts += [f"### {title}: how soon a change is noticed", _block(show.transitions(transitions(total)))]
    parts += ["### The baseline", _baseline(ordered), "### Is the truth true?", _witness(ordered)]
    failures = [
        f"- {cell.agent} {cell.version} {cell.size} {cell.mode}: {told}"
        for cell in ordered
        for told in cell.failures.values()
    ]
    if failures:
        parts += ["### Scenarios that did not play", "\n".join(failures)]
    return "\n\n".join(parts)


def _place(cell: CellFigures) -> tuple[object, ...]:
    """Order by agent, newest version first, then by size as they are measured."""
    numbers = [-int(number) for number in re.findall(r"\d+", cell.version)]
    return cell.agent, numbers, cell.size != DEFAULT, cell.size, cell.mode


def _by_cell(cells: Sequence[CellFigures]) -> str:
    by_mode: dict[tuple[str, str, str], dict[str, CellFigures]] = {}
    for cell in cells:
        name = f"{cell.agent} (stand-in)" if cell.stand_in else cell.agent
        by_mode.setdefault((name, cell.version, str(cell.size)), {})[cell.mode] = cell
    head = ["agent", "version", "size"]
    for mode in (BARE, INTEGRATED):
        head += [f"{mode} runs", "accuracy", "approvals seen", "wrong over 1 s", "longest"]
    rows = [[*key, *_columns(modes.get(BARE)), *_columns(modes.get(INTEGRATED))] for key, modes in by_mode.items()]
    lines: list[list[object]] = [[*head], ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _columns(cell: CellFigures | None) -> list[object]:
    if cell is None or not cell.scenarios:
        return ["-"] * 5
    return [sum(one.runs for one in cell.scenarios.values()), *_essence(cell.total(COVEY))]


def _essence(total: Score) -> list[object]:
    one = figures(total)
    return [
        show.percent(one["accuracy"]),
        show.percent(one["approval_recall"]),
        one["wrong_spells_over_1s"],
        f"{one['wrong_longest_s']:.1f} s",
    ]


def _baseline(cells: Sequence[CellFigures]) -> str:
    rows = []
    for agent in agents.NAMES:
        own = [cell for cell in cells if cell.agent == agent and cell.mode == BARE and cell.size == DEFAULT]
        total = added(cell.total(BASELINE) for cell in own)
        if total.decided:
            rows.append([agent, *_essence(total)])
    return _block(show.table(["agent", "accuracy", "approvals seen", "wrong over 1 s", "longest"], rows))


def _witness(cells: Sequence[CellFigures]) -> str:
    rows, below = [], []
    for cell in cells:
        if cell.mode != BARE or cell.size != DEFAULT:
            continue
        words = {name: one.witness for name, one in cell.scenarios.items() if one.witness}
        total = added(words.values())
        decided = sum(one.observers[COVEY].decided for one in cell.scenarios.values() if COVEY in one.observers)
        undecided = sum(one.undecided for one in cell.scenarios.values())
        agrees = show.percent(total.accuracy) if words else "no witness"
        rows.append([cell.agent, cell.version, f"{decided:.0f} s", f"{undecided:.0f} s", agrees])
        below += [
            [cell.agent, cell.version, name, show.percent(one.accuracy)]
            for name, one in words.items()
            if one.accuracy < SURE
        ]
    tables = _block(show.table(["agent", "version", "decided", "undecided", "witness agrees"], rows))
    if not below:
        return tables
    disagreements = _block(show.table(["agent", "version", "scenario", "agrees"], below))
    return f"{tables}\n\nScenarios in which they agree in less than {SURE:.0%} of the time:\n\n{disagreements}"


def _block(table: str) -> str:
    return f"```\n{table}\n```"
