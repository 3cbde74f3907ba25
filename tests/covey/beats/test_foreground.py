"""A heartbeat without a daemon, as a command that is not Covey's own would start it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from covey.beats.run_folder import RunFolder, marked_processes, prune_handovers
from tests.covey.beats.living import living
from tests.covey.beats.pretended import Pretended, logged, until

COMMAND = """
import json, sys
from covey.beats.foreground import run_in_foreground
from covey.kernel.home import Home
from covey.node.settings import SETTINGS
home = Home(sys.argv[1])
done = run_in_foreground(
    home,
    SETTINGS,
    sys.argv[2],
    None,
    verbose=False,
    on_start=lambda run: print(run["run"], flush=True),
    on_step=lambda step: print(step.name, flush=True),
)
print(json.dumps(done))
"""


class Here:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.agent = Pretended(folder / "bin")
        self.workspace = folder / "api"
        self.workspace.mkdir()
        (self.workspace / "HEARTBEAT.md").write_text("Look.\n")

    def start(self, **environment: str) -> subprocess.Popen[str]:
        kept = {
            "PATH": f"{self.agent.folder}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "COVEY_HOME": str(self.home),
            **environment,
        }
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, str(self.home), str(self.workspace)],
            env=kept,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, **environment: str) -> dict[str, Any]:
        with self.start(**environment) as process:
            told, _ = process.communicate(timeout=60)
            assert process.returncode == 0
        found: dict[str, Any] = json.loads(told.splitlines()[-1])
        return found

    @property
    def runs(self) -> list[RunFolder]:
        return [RunFolder(path) for path in (self.home / "beats" / "runs").iterdir()]


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


def test_a_run_is_logged_and_left_for_the_next_daemon(here: Here) -> None:
    done = here.run()
    assert (done["outcome"], done["why"], done["cost_usd"]) == ("ok", "hand", 0.25)
    assert [turn["role"] for turn in done["turns"]] == ["assistant", "result"]
    assert [line["run"] for line in logged(here.home)] == [done["run"]]
    (folder,) = here.runs
    assert folder.handover
    assert folder.handover["run"]["run"] == done["run"]
    assert [file.name for file in folder.path.iterdir()] == ["hand.json"], "all else is of no use any more"


def test_runs_that_no_daemon_takes_in_do_not_fill_the_disk(here: Here) -> None:
    for _ in range(3):
        last = here.run()["run"]
    running = RunFolder(here.home / "beats" / "runs" / "00RUNNING")
    running.write_handover({"run": {"run": running.run_id, "state": "running"}, "turns": []})
    prune_handovers(here.home / "beats" / "runs", 1)
    assert {folder.run_id for folder in here.runs} == {"00RUNNING", last}
    assert len(logged(here.home)) == 3


async def test_the_next_daemon_stores_the_run_once_and_counts_its_cost(here: Here) -> None:
    done = here.run()
    here.home.joinpath("beats").rename(here.folder / "beats")
    for _ in range(2):
        async with living(here.folder) as node:
            assert [run.id for run in await node.runs()] == [done["run"]]
            assert (await node.beats.ledger.spent(0.0)).cost_usd == 0.25
    assert list((here.folder / "beats" / "runs").iterdir()) == []


async def test_a_killed_command_leaves_the_run_to_the_next_daemon(here: Here) -> None:
    here.agent.wish(seconds=0.5, says="ATTENTION: it rains")
    with here.start() as process:
        assert process.stdout
        run = process.stdout.readline().strip()
        until(lambda: here.agent.starts == [run], "the agent")
        process.kill()
    (here.folder / "beats").symlink_to(here.home / "beats")
    async with living(here.folder) as node:
        await node.rest()
        assert [(one.id, one.outcome, one.summary) for one in await node.runs()] == [(run, "attention", "it rains")]
    assert here.agent.starts == [run]
    assert [line["run"] for line in logged(here.folder)] == [run]
    assert not marked_processes(run)


async def test_a_daemon_that_starts_meanwhile_leaves_the_run_alone(here: Here) -> None:
    here.agent.wish(seconds=100)
    with here.start() as process:
        assert process.stdout
        run = process.stdout.readline().strip()
        until(lambda: here.agent.starts == [run], "the agent")
        (here.folder / "beats").symlink_to(here.home / "beats")
        async with living(here.folder) as node:
            await node.rest()
            assert await node.runs() == []
        assert marked_processes(run)
        process.terminate()
        process.communicate(timeout=60)
    assert len(here.runs) == 1


def test_without_a_program_it_is_an_error_and_still_left_for_the_daemon(here: Here) -> None:
    done = here.run(PATH="/nowhere")
    assert (done["outcome"], done["error_kind"]) == ("error", "agent_missing")
    assert len(logged(here.home)) == len(here.runs) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupting_it_ends_the_agent_and_is_logged(here: Here, number: int) -> None:
    here.agent.wish(seconds=100, children=True)
    with here.start() as process:
        assert process.stdout
        run = process.stdout.readline().strip()
        until(lambda: len(marked_processes(run)) == 3, "the agent and what it has started")
        process.send_signal(number)
        told, _ = process.communicate(timeout=60)
    assert json.loads(told.splitlines()[-1])["error_kind"] == "interrupted"
    assert not marked_processes(run)
    assert [line["errorKind"] for line in logged(here.home)] == ["interrupted"]


def test_a_run_over_its_budget_says_so(here: Here) -> None:
    (here.workspace / "HEARTBEAT.md").write_text("---\nbudget: {run: 0.1}\n---\nLook.\n")
    assert here.run()["error_kind"] == "budget"
