"""Ordinary commands of agents: few of them are asked because of denies that have nothing to do with them."""

from __future__ import annotations

from collections import Counter

import pytest

from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import SHELL, ToolCall
from lab.shells.ordinary import Ordinary, ordinary

pytestmark = pytest.mark.once  # the release of tmux makes no difference

RULES = [
    {"name": "all", "effect": "allow", "tool": "Bash"},
    {"name": "no rm", "effect": "deny", "command": "rm *"},
    {"name": "no push", "effect": "deny", "command": "git push*"},
    {"name": "no keys", "effect": "deny", "path": "~/.ssh/"},
]
MOST_ASKED = 0.05
MOST_RIGHTLY_ASKED = 0.06


def effects(commands: list[Ordinary]) -> Counter[tuple[bool, str]]:
    """Return how many commands, with and without a reason to be asked, each effect has."""
    policy = Policy(RULES, home="/home/me")
    found: Counter[tuple[bool, str]] = Counter()
    for one in commands:
        call = ToolCall(kind=SHELL, command=one.text)
        request = PolicyRequest(agent="claude", tool="Bash", target="host", folder="/home/me/app", call=call)
        found[bool(one.asked), policy.decide(request).effect] += 1
    return found


@pytest.mark.parametrize("name", ["ours", "seen", "unseen"])
def test_at_most_one_of_twenty_ordinary_commands_is_asked_needlessly(name: str) -> None:
    """None of them runs what is denied. The policy was not fitted to those in `unseen`."""
    commands = ordinary(name)
    found = effects(commands)
    assert len(commands) >= 500
    assert found[False, "deny"] == found[True, "deny"] == 0
    assert found[False, "ask"] / len(commands) <= MOST_ASKED
    assert found[True, "ask"] / len(commands) <= MOST_RIGHTLY_ASKED
