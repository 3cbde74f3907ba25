"""Adding an agent by a TOML file alone: the file of docs/guide/fleet.md in Covey's home, and an unknown program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.covey.conftest import Covey

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide" / "fleet.md"
AGENT = ROOT / "examples" / "demo_agent.py"


def adapter_of_the_guide() -> str:
    blocks: list[str] = re.findall(r"^```toml\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    return next(block for block in blocks if 'name = "demo-agent"' in block)


class Stage(Covey):
    """A home whose only adapter of its own is the guide's, and a tmux server for the agent."""

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-u", "-f", "/dev/null", "-L", "t", *words]
        environment = {**self.environment(), "TERM": os.environ.get("TERM", "dumb")}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=True).stdout

    def says(self, text: str) -> None:
        self.tmux("send-keys", "-t", "work", text, "Enter")

    def seen(self, state: str) -> Any:
        """The agent's row, as soon as it is in a state."""
        return self.run("wait", "work:0", "--state", state, "--timeout", "30s").result["items"][0]


@pytest.fixture
def stage() -> Iterator[Stage]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    stage = Stage(folder)
    (stage.home / "adapters").mkdir(parents=True)
    stage.home.chmod(0o700)
    (stage.home / "adapters" / "demo-agent.toml").write_text(adapter_of_the_guide())
    stage.tmux("new-session", "-d", "-s", "work", sys.executable, str(AGENT), "--seconds", "2")
    yield stage
    stage.run("down")
    stage.tmux("kill-server")
    shutil.rmtree(folder, ignore_errors=True)


def test_the_adapter_of_the_guide_is_the_one_that_the_demo_uses() -> None:
    assert adapter_of_the_guide() == (ROOT / "examples" / "adapters" / "demo-agent.toml").read_text()


def test_an_agent_described_by_data_alone_is_seen_in_every_state(stage: Stage) -> None:
    assert stage.run("up").code == 0
    assert stage.run("wait", "--any", "--state", "idle", "--timeout", "30s").result["items"][0]["agent"] == "demo-agent"
    stage.says("delete build/")
    assert (asked := stage.seen("waiting_approval"))["detail"] == "Shell: rm -rf build/"
    assert (asked["reason"], asked["confidence"], asked["needs_action"]) == ("permission", "high", True)
    answered = stage.run("dialog", "answer", "work:0", "--choice", "deny", "--yes").result
    assert (answered["option"]["label"], answered["gone"]) == ("No", True)
    stage.seen("idle")
    stage.says("choose red or blue")
    assert stage.seen("waiting_input")["detail"] == "which of red or blue?"
    stage.says("blue")
    stage.seen("running")
    stage.seen("completed")


def test_its_screens_can_be_explained(stage: Stage) -> None:
    assert stage.run("up").code == 0
    told = stage.run(
        "adapters",
        "explain",
        "demo-agent",
        "--screen",
        "-",
        stdin="> delete build/\nShell: rm -rf build/\nAllow?\n  1. Yes\n  2. No\n\n",
    ).result
    assert (told["state"], told["rule"], told["detail"]) == ("waiting_approval", "permission", "Shell: rm -rf build/")
    told = stage.run("adapters", "explain", "demo-agent", "--screen", "-", stdin="Segmentation fault\n").result
    assert (told["state"], told["reason"]) == ("unknown", "no_pattern")
