"""An agent with a composer in a pane that a daemon watches, and what it was told."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living

PROGRAM = Path(__file__).parents[4] / "lab" / "standins" / "composing_agent.py"


class Composing:
    """The agent, by its pane, and the fleet that it is in."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.covey = fleet.covey
        self.log = fleet.covey.folder / "told"
        program = fleet.covey.folder / "toy_agent.py"
        program.write_bytes(PROGRAM.read_bytes())
        self.argv = [sys.executable, str(program), str(self.log)]
        self.pane = fleet.tmux("new-session", "-d", "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}", *self.argv)
        fleet.up()
        self.runtime_id = fleet.row(self.pane, "idle")["runtime_id"]

    def send(self, text: str, *words: str) -> dict[str, Any]:
        """Send a text and return the receipt; the error if it was refused."""
        answer = self.covey.run("send", self.pane, "--text", text, "--yes", *words)
        return json.loads(answer.stdout)["result"]["receipt"] if answer.code in {0, 3} else answer.error  # type: ignore[no-any-return]

    @property
    def told(self) -> list[dict[str, Any]]:
        """What the agent was told, in order."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    @property
    def receipts(self) -> list[dict[str, Any]]:
        """All receipts, the oldest first."""
        return self.covey.run("receipts", "list").result["items"][::-1]  # type: ignore[no-any-return]

    def ask(self) -> None:
        """Have the agent ask something, and wait until that is seen."""
        (self.log.parent / "ask").touch()
        self.fleet.row(self.pane, "waiting_approval")

    def approve(self) -> None:
        """Answer what it asks, as a person would."""
        self.fleet.tmux("send-keys", "-t", self.pane, "Enter")


@pytest.fixture
def composing(covey: Covey) -> Iterator[Composing]:
    with living(covey) as fleet:
        yield Composing(fleet)
