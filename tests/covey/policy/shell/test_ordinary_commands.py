"""Ordinary commands of agents: few of them are asked because of denies that have nothing to do with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import SHELL, ToolCall

pytestmark = pytest.mark.once  # the release of tmux makes no difference

COMMANDS = Path(__file__).with_name("ordinary_commands.txt").read_text(encoding="utf-8").splitlines()
RULES = [
    {"name": "all", "effect": "allow", "tool": "Bash"},
    {"name": "no rm", "effect": "deny", "command": "rm *"},
    {"name": "no sudo", "effect": "deny", "command": "sudo *"},
    {"name": "no push", "effect": "deny", "command": "git push*"},
    {"name": "no keys", "effect": "deny", "path": "~/.ssh/"},
]
MOST_ASKED = 0.05


def test_at_most_one_of_twenty_ordinary_commands_is_asked() -> None:
    """Each line is a command; ⏎ is a line break in it. None of them runs what is denied."""
    policy = Policy(RULES, home="/home/me")
    found: Counter[str] = Counter()
    for line in COMMANDS:
        call = ToolCall(kind=SHELL, command=line.replace("⏎", "\n"))
        request = PolicyRequest(agent="claude", tool="Bash", target="host", folder="/srv/app", call=call)
        found[policy.decide(request).effect] += 1
    assert len(COMMANDS) >= 500
    assert found["deny"] == 0
    assert found["ask"] / len(COMMANDS) <= MOST_ASKED
