"""Figures are stored per cell, merged by scenario, and become the tables of docs/accuracy.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab import report
from lab.figures import BARE, BASELINE, INTEGRATED, CellFigures, ScenarioFigures, read, read_all
from lab.observer import Claim
from lab.score import Score, score
from lab.size import Size
from lab.timeline import Span

TRUTH = [Span(0, 10, "idle"), Span(10, 20, "running"), Span(20, 30, "waiting_approval")]
RIGHT = score(TRUTH, [Claim(0, "idle"), Claim(10, "running"), Claim(20, "waiting_approval")])
LATE = score(TRUTH, [Claim(0, "idle"), Claim(15, "running")])


def cell(version: str = "2.1.325", size: str = "120x40", mode: str = BARE, **scenarios: Score) -> CellFigures:
    figures = {name: ScenarioFigures(1, 1.5, {"covey": one, BASELINE: LATE}, RIGHT) for name, one in scenarios.items()}
    return CellFigures("claude", version, Size.parse(size), mode, scenarios=figures)


def test_a_score_is_stored_and_read_alike() -> None:
    table = json.loads(json.dumps(LATE.table()))
    again = Score.from_table(table)
    assert again.table() == table
    assert (again.accuracy, again.wrong, again.missed) == (LATE.accuracy, LATE.wrong, LATE.missed)
    assert again.recall("waiting_approval") == 0.0


def test_a_cell_is_measured_in_several_runs(tmp_path: Path) -> None:
    cell(approve=LATE, deny=RIGHT).write(tmp_path)
    file = cell(approve=RIGHT, trust=RIGHT).write(tmp_path)
    assert file == tmp_path / "claude" / "2.1.325" / "120x40-bare.json"
    merged = read(file)
    assert set(merged.scenarios) == {"approve", "deny", "trust"}
    assert merged.total("covey").accuracy == 1.0, "what was played again replaces what was there"
    assert merged.total("covey").decided == 90


def test_a_scenario_that_did_not_play_is_a_failure_until_it_plays(tmp_path: Path) -> None:
    cell(approve=RIGHT).write(tmp_path)
    broken = cell()
    broken.failures["approve"] = "step 'approve' did not come true"
    file = broken.write(tmp_path)
    assert (read(file).scenarios, read(file).failures) == ({}, broken.failures)
    assert read(cell(approve=RIGHT).write(tmp_path)).failures == {}


def test_a_file_without_figures_is_named(tmp_path: Path) -> None:
    file = tmp_path / "claude" / "2.1.325" / "120x40-bare.json"
    file.parent.mkdir(parents=True)
    for text in ("", "[]", "{}", '{"scenarios": {"a": 1}}'):
        file.write_text(text)
        with pytest.raises(ValueError, match=r"120x40-bare\.json holds no figures"):
            read_all(tmp_path)


def test_the_tables_have_a_row_for_each_version_and_size(tmp_path: Path) -> None:
    for one in (
        cell(a=RIGHT),
        cell(mode=INTEGRATED, a=RIGHT),
        cell(size="58x18", a=LATE),
        cell(version="2.1.48", a=RIGHT),
    ):
        one.write(tmp_path)
    text = report.text(read_all(tmp_path))
    rows = [line for line in text.splitlines() if line.startswith("| claude")]
    assert [row.split(" | ")[1:3] for row in rows] == [
        ["2.1.325", "120x40"],
        ["2.1.325", "58x18"],
        ["2.1.48", "120x40"],
    ]
    assert "| 1 | 100.0 % | 100.0 % | 0 | 0.0 s | 1 | 100.0 % |" in rows[0]
    assert "| 1 | 50.0 % | 0.0 % | 2 |" in rows[1]
    assert "| - | - |" in rows[2], "what was not measured is no figure"


def test_the_tables_are_put_between_their_marks(tmp_path: Path) -> None:
    file = tmp_path / "accuracy.md"
    file.write_text(f"# Accuracy\n\n{report.BEGIN}\nold\n{report.END}\n\nMore.\n")
    report.write("new", file)
    assert file.read_text() == f"# Accuracy\n\n{report.BEGIN}\n\nnew\n\n{report.END}\n\nMore.\n"
    file.write_text("# Accuracy\n")
    with pytest.raises(ValueError, match="has no place for the tables"):
        report.write("new", file)
