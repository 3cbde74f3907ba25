"""Races as a person starts them: a few of each kind on the stand-in, and messages to the real Claude Code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.agents.claude import Claude
from lab.install import lab_folder, program_of
from lab.races.kinds import KINDS
from lab.races.run import plan
from lab.races.subjects import STAND_IN

ROOT = Path(__file__).parents[3]
QUICK = ["undisturbed", "dialog", "copy-mode", "command", "end-of-paste", "narrow"]
"""Kinds after which the agent goes on."""


def races(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "COVEY_LAB_DIR": str(lab_folder()),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }
    command = [sys.executable, "-m", "lab", "races", *words]
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=300, check=False)


def held(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert ended.returncode == 0, ended.stdout + ended.stderr
    result: dict[str, Any] = json.loads(ended.stdout)["result"]
    return result


def test_each_number_has_its_race_and_a_race_can_be_repeated_alone() -> None:
    planned = plan(range(100), [STAND_IN, "claude"], list(KINDS), ["3.3a", "3.5a"], 5)
    assert [race.number for race in planned] == list(range(100))
    assert {race.kind for race in planned} == set(KINDS)
    assert {race.agent for race in planned if race.kind in {"many", "ssh-cut"}} == {STAND_IN}
    one = planned[17]
    assert plan([17], [one.agent], [one.kind], [one.tmux], 5) == [one]
    assert plan(range(3), ["claude"], ["many"], ["3.3a"], 5) == []


def test_no_promise_is_broken_on_the_stand_in(tmp_path: Path) -> None:
    result = held(
        races(tmp_path, "--agents", STAND_IN, "--kinds", *QUICK, "--count", "12", "--seed", "1", "--jobs", "1")
    )
    assert (result["races"], result["broken"], result["not_held"]) == (12, [], [])
    assert {row["kind"] for row in result["counts"]} == set(QUICK)
    assert {row["outcome"] for row in result["counts"] if row["kind"] == "undisturbed"} == {"submitted"}


@pytest.mark.skipif(
    shutil.which("npm") is None or not program_of(Claude).exists(),
    reason="the lab has not installed Claude Code: ./run lab install claude",
)
def test_the_real_claude_code_reports_the_message_and_its_model_gets_it(tmp_path: Path) -> None:
    result = held(
        races(tmp_path, "--agents", "claude", "--kinds", "undisturbed", "end-of-paste", "--count", "2", "--seed", "2")
    )
    assert (result["races"], result["broken"]) == (2, [])
    assert {row["outcome"] for row in result["counts"]} == {"seen"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--kinds", "dance"], "there is no kind of race 'dance'"),
        (["--agents", "clod"], "there is no agent 'clod'"),
        (["--agents", STAND_IN, "--count", "0"], "at least 1"),
        (["--agents", "claude", "--kinds", "many"], "for any of these agents"),
    ],
)
def test_nonsense_is_answered_with_what_is_right(tmp_path: Path, words: list[str], said: str) -> None:
    ended = races(tmp_path, *words)
    assert ended.returncode == 1
    assert said in json.loads(ended.stderr)["message"]
