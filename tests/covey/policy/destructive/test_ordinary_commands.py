"""Ordinary commands of agents: few of them are refused although they do no harm."""

from __future__ import annotations

import pytest

from covey.policy.destructive.judge import objection
from covey.policy.destructive.targets import Place
from lab.shells.ordinary import ordinary
from tests.covey.policy.destructive.commands import HOME, WORKSPACE

pytestmark = pytest.mark.once  # the release of tmux makes no difference

MOST_REFUSED = 0.05


def test_at_most_one_of_twenty_ordinary_commands_is_refused() -> None:
    """Most of those refused have the program of an interpreter."""
    place = Place(folder=WORKSPACE, workspace=WORKSPACE, home=HOME)
    commands = [one.text for one in ordinary("ours")]
    refused = [one for one in commands if objection(one, place)]
    assert len(commands) >= 500
    assert len(refused) / len(commands) <= MOST_REFUSED, refused
