"""Ordinary commands of agents: few of them are refused although they do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.policy.destructive.judge import objection
from covey.policy.destructive.targets import Place
from tests.covey.policy.destructive.commands import HOME, WORKSPACE

pytestmark = pytest.mark.once  # the release of tmux makes no difference

COMMANDS = Path(__file__).parents[1] / "shell" / "ordinary_commands.txt"
MOST_REFUSED = 0.05


def test_at_most_one_of_twenty_ordinary_commands_is_refused() -> None:
    """Each line is a command; ⏎ is a line break in it. Most of those refused have the program of an interpreter."""
    place = Place(folder=WORKSPACE, workspace=WORKSPACE, home=HOME)
    commands = COMMANDS.read_text(encoding="utf-8").splitlines()
    refused = [one for one in commands if objection(one.replace("⏎", "\n"), place)]
    assert len(commands) >= 500
    assert len(refused) / len(commands) <= MOST_REFUSED, refused
