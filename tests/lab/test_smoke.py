"""The lab as a person uses it: real agents, through the command, with a home of their own that must stay as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import processes
from lab.agents.agent import Agent
from lab.figures import read_all
from lab.install import lab_folder
from tests.lab.conftest import OLDER, SMOKED

ROOT = Path(__file__).parents[2]
TOOLS = [".claude", ".codex", ".gemini", ".copilot", ".cursor", ".config/opencode", ".local/share/opencode", ".ssh"]
SCENARIOS = ["approve", "interrupt"]


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder with its size and the time of its last change."""
    return (
        {str(file.relative_to(folder)): (file.lstat().st_size, file.lstat().st_mtime_ns) for file in folder.rglob("*")}
        if folder.exists()
        else {}
    )


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "integrated"])
def told(
    request: pytest.FixtureRequest, installed: list[type[Agent]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, object]:
    """One truth run in a home with settings of all kinds; what it printed, and what it left behind."""
    assert [agent.name for agent in installed] == list(SMOKED)
    home, temporary = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tmp")
    for tool in TOOLS:
        (home / tool).mkdir(parents=True)
        (home / tool / "settings.json").write_text('{"mine": true}')
    real = [Path.home() / tool for tool in TOOLS]
    before = snapshot(home), [snapshot(folder) for folder in real]
    environment = {
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "PATH": os.environ["PATH"],
        "COVEY_LAB_DIR": str(lab_folder()),
        "PYTHONPATH": str(ROOT),
    }
    environment |= {"ANTHROPIC_API_KEY": "sk-not-for-agents", "CLAUDECODE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "lab",
        "truth",
        "--agents",
        *SMOKED,
        "--scenarios",
        *SCENARIOS,
        "--jobs",
        "2",
        *(["--integrated"] if request.param else []),
    ]
    ended = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=110, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return {
        "result": json.loads(ended.stdout)["result"],
        "before": before,
        "after": (snapshot(home), [snapshot(folder) for folder in real]),
        "left": [file.name for file in temporary.iterdir()],
        "temporary": str(temporary),
    }


def test_real_agents_play_and_the_truth_about_them_is_logged(told: dict[str, object]) -> None:
    result = told["result"]
    assert isinstance(result, dict)
    assert result["runs"] == len(SMOKED) * len(SCENARIOS)
    for agent in result["cells"]:
        assert agent["decided_s"] > agent["undecided_s"]
        assert agent["witness_agreement"] > 0.9, agent


def test_the_baseline_is_measured(told: dict[str, object]) -> None:
    result = told["result"]
    assert isinstance(result, dict)
    baseline = next(one for one in result["observers"] if one["observer"] == "baseline")
    assert {cell["agent"] for cell in baseline["cells"]} == set(SMOKED)
    assert 0.2 < baseline["total"]["accuracy"] < 0.99
    assert baseline["total"]["wrong_spells"] > 0
    assert "waiting_approval" in baseline["confusion"]


def test_covey_is_truer_than_the_baseline_and_sees_every_approval(told: dict[str, object]) -> None:
    result = told["result"]
    assert isinstance(result, dict)
    baseline, covey = (one["total"] for one in result["observers"])
    assert covey["accuracy"] > max(0.9, baseline["accuracy"])
    assert covey["approval_recall"] == 1.0


def test_an_older_release_in_a_narrow_pane_is_read_too(installed: list[type[Agent]], tmp_path: Path) -> None:
    """Codex of nine months ago at 58x18: other footer, no title, wrapped rows."""
    assert installed
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "COVEY_LAB_DIR": str(lab_folder()),
        "PYTHONPATH": str(ROOT),
    }
    command = [
        sys.executable,
        "-m",
        "lab",
        "truth",
        "--agents",
        OLDER,
        "--size",
        "58x18",
        "--scenarios",
        *SCENARIOS,
        "--figures",
        str(tmp_path / "figures"),
    ]
    ended = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (cell,) = read_all(tmp_path / "figures")
    assert (cell.version, str(cell.size), cell.failures) == (OLDER.partition("@")[2], "58x18", {})
    assert set(cell.scenarios) == set(SCENARIOS)
    total = cell.total("covey")
    assert total.accuracy > 0.9, total.confusion
    assert total.recall("waiting_approval") == 1.0


def test_nothing_outside_the_labs_folders_has_changed(told: dict[str, object]) -> None:
    assert told["before"] == told["after"]
    assert told["left"] == [], "its working folder is removed"


def test_no_process_is_left(told: dict[str, object]) -> None:
    temporary = str(told["temporary"])
    assert [process for process in processes.table().values() if temporary in process.command] == []
