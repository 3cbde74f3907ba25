"""The lab's commands, fed nonsense and asked for what needs no installed agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import agents
from tests.captured import Capture

ROOT = Path(__file__).parents[2]


def lab(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "COVEY_LAB_DIR": str(folder / "lab"),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "lab", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_list_shows_all_agents_and_labels_the_stand_in(tmp_path: Path) -> None:
    listed = json.loads(lab("list", folder=tmp_path).stdout)["result"]
    assert {one["agent"] for one in listed} == set(agents.NAMES)
    assert {one["agent"] for one in listed if one["stand_in"]} == {"cursor"}
    assert not any(one["installed"] for one in listed if not one["stand_in"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["install", "clod"], "there is no agent 'clod'"),
        (["truth", "--agents", "cursor", "--scenarios", "nonsense"], "no scenario 'nonsense'"),
        (["truth", "--agents", "cursor", "--scenarios", "steer"], "none of these scenarios fits"),
        (["truth", "--agents", "cursor", "--observer", "no command"], "NAME=COMMAND"),
        (["truth", "--agents", "cursor", "--scenarios", "composer", "--observer", "x=false"], "ended with exit code 1"),
        (["capture", "clod"], "there is no agent 'clod'"),
        (["capture", "cursor", "approve", "--size", "wide"], "'wide' is no size"),
        (["dance"], "unknown command 'dance'"),
    ],
)
def test_nonsense_is_answered_with_what_is_right(arguments: list[str], said: str, tmp_path: Path) -> None:
    ended = lab(*arguments, folder=tmp_path)
    assert ended.returncode not in {0, 2}
    assert (
        said
        in json.loads(ended.stderr.splitlines()[-1] if ended.stderr.startswith('{"stage') else ended.stderr)["message"]
    )


def test_the_stand_in_plays_is_scored_and_captured(tmp_path: Path) -> None:
    ended = lab("capture", "cursor", "approve", "--into", str(tmp_path / "captures"), folder=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    cases = json.loads(ended.stdout)["result"]["cases"]
    assert [(case["case"], case["state"], case["stand_in"]) for case in cases] == [
        ("approval-shell", "waiting_approval", True),
        ("approved", "running", True),
    ]
    capture = Capture(tmp_path / "captures" / "cursor" / "stand-in-1" / "approval-shell")
    assert "stand-in" in capture.screen
    assert "touch marker" in capture.screen
    assert capture.lines("hooks")


def test_a_capture_at_another_size_has_a_folder_of_its_own(tmp_path: Path) -> None:
    ended = lab(
        "capture", "cursor", "approve", "--size", "80x24", "--into", str(tmp_path / "captures"), folder=tmp_path
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    capture = Capture(tmp_path / "captures" / "cursor" / "stand-in-1" / "approval-shell@80x24")
    assert (capture.about["case"], capture.about["size"]) == ("approval-shell", "80x24")
    assert (capture.pane["pane_width"], capture.pane["pane_height"]) == ("80", "24")
    assert capture.state == "waiting_approval"


def test_a_play_that_does_not_go_as_written_is_reported_with_its_screen(tmp_path: Path) -> None:
    """The stand-in has no such dialog to see, so the scenario cannot come true; the others go on."""
    scenario = tmp_path / "never.toml"
    scenario.write_text('about = "Never."\nperson = ["see this is never shown"]\n')
    program = (
        "import asyncio; from pathlib import Path; from lab import agents, bench, play, scenario\n"
        "play.LIMIT = 1.0\n"
        "async def main():\n"
        f"    never = scenario.load('never', Path({str(tmp_path)!r}))\n"
        "    async with bench.bench() as shared:\n"
        "        wanted = [bench.Play(agents.find('cursor'), never)]\n"
        "        runs, failures = await bench.play_all(shared, wanted, done=lambda *_: None)\n"
        "    print(runs, failures[0])\n"
        "asyncio.run(main())"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stdout.startswith(
        "[] cursor stand-in-1 at 120x40, scenario never, step 'see this is never shown' did not come true"
    ), ended.stderr
    assert "stand-in" in ended.stdout
