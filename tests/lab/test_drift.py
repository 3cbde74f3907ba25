"""What a new release is compared with, and what counts as broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import agents, drift
from lab.figures import BARE, CellFigures, ScenarioFigures
from lab.install import InstallError, program_of
from lab.observer import Claim
from lab.score import Score, score
from lab.size import DEFAULT
from lab.timeline import Span

TRUTH = [Span(0, 100, "idle"), Span(100, 110, "waiting_approval")]
RIGHT = score(TRUTH, [Claim(0, "idle"), Claim(100, "waiting_approval")])
BLIND = score(TRUTH, [Claim(0, "idle")])
SLOW = score(TRUTH, [Claim(0, "unknown", "low"), Claim(20, "idle"), Claim(100, "waiting_approval")])


def cell(version: str, **scenarios: Score) -> CellFigures:
    figures = {name: ScenarioFigures(1, 0.0, {"covey": one}) for name, one in scenarios.items()}
    return CellFigures("claude", version, DEFAULT, BARE, scenarios=figures)


def test_a_release_that_is_read_like_the_pinned_one_has_not_drifted(tmp_path: Path) -> None:
    pinned = agents.find("claude").version
    cell(pinned, approve=RIGHT).write(tmp_path)
    found = drift.compared(cell("9.9.9", approve=RIGHT), tmp_path)
    assert (found.pinned, found.accuracy, found.pinned_accuracy, found.broken) == (pinned, 1.0, 1.0, [])


def test_what_is_read_worse_is_named(tmp_path: Path) -> None:
    cell(agents.find("claude").version, approve=RIGHT, answer=RIGHT, deny=BLIND).write(tmp_path)
    now = cell("9.9.9", approve=BLIND, answer=SLOW, deny=BLIND)
    now.failures["trust"] = "step 'trust' did not come true"
    assert drift.compared(now, tmp_path).broken == [
        "trust did not play: step 'trust' did not come true",
        "approve: accuracy 90.9%, 100.0% with the pinned release",
        "approve: an approval was not seen",
        "approve: a wrong state was claimed with high confidence for 10.0 s",
        "answer: accuracy 81.8%, 100.0% with the pinned release",
    ]


def test_without_pinned_figures_every_scenario_must_be_read_well(tmp_path: Path) -> None:
    found = drift.compared(cell("9.9.9", approve=RIGHT, answer=SLOW), tmp_path)
    assert (found.pinned_accuracy, found.broken) == (None, ["answer: accuracy 81.8%, expected 95%"])


def test_a_pinned_release_lies_with_the_pinned_ones_and_any_other_in_a_folder_of_its_own() -> None:
    pinned = agents.find("claude")
    assert drift.release(f"claude@{pinned.version}") is pinned
    other = drift.release("claude@9.9.9")
    assert program_of(other).is_relative_to(program_of(pinned).parents[5] / "drift")


def test_the_newest_release_is_looked_up_with_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho '\"9.9.9\"'\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert drift.release("claude").version == "9.9.9"
    npm.write_text("#!/bin/sh\necho 'no network' >&2; exit 1\n")
    with pytest.raises(InstallError, match="npm does not say"):
        drift.release("claude")


def test_releases_that_are_no_longer_the_newest_are_removed(tmp_path: Path) -> None:
    for version in ("9.9.8", "9.9.9"):
        (tmp_path / "claude" / version).mkdir(parents=True)
    drift.remove_older([drift.release("claude@9.9.9")], tmp_path)
    assert [one.name for one in (tmp_path / "claude").iterdir()] == ["9.9.9"]


def test_a_stand_in_has_no_releases() -> None:
    with pytest.raises(LookupError, match="stand-in"):
        drift.release("cursor")
