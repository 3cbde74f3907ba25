"""What holds for every agent that can run a task without a terminal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from covey.agents.registry import HEADLESS
from covey.beats.beat import Beat, Budget
from covey.beats.outcome import classify
from covey.beats.permissions import DEFAULT_DENY
from tests.covey.agents.headless.running import beat
from tests.covey.agents.headless.tolerance import bears, damaged

NOT_DENIED = ("Read(secrets/*)",)
CODEX_CAN_DENY = ("Edit", "mcp__mail", "mcp__mail__send", "Bash(git push:*)", "WebSearch", "Bash", "Task")
TOKENS = Budget(day_tokens=1000, month_tokens=5000)
CAN: dict[str, list[dict[str, Any]]] = {
    "claude": [{"max_turns": 9, "budget": Budget(run_usd=1.0, run_tokens=1000), "model": "opus", "deny": NOT_DENIED}],
    "codex": [{"deny": (*DEFAULT_DENY, *CODEX_CAN_DENY)}, {"budget": TOKENS}],
    "copilot": [{"budget": replace(TOKENS, run_tokens=1000)}],
    "gemini": [{"budget": TOKENS}],
    "opencode": [{"max_turns": 9, "budget": Budget(run_usd=1.0, day_tokens=1000), "model": "anthropic/claude"}],
}
"""What of a beat each agent can do, besides a plain one."""
CANNOT: dict[str, list[dict[str, Any]]] = {
    "claude": [],
    "codex": [
        {"max_turns": 3},
        {"budget": Budget(day_usd=1.0)},
        {"budget": Budget(run_tokens=1000)},
        {"deny": NOT_DENIED},
    ],
    "copilot": [
        {"max_turns": 3},
        {"budget": Budget(day_usd=1.0)},
        {"deny": NOT_DENIED},
        {"deny": ("NoSuchTool",)},
        {"deny": ("mcp__*",)},
    ],
    "gemini": [
        {"max_turns": 3},
        {"budget": Budget(day_usd=1.0)},
        {"budget": Budget(run_tokens=1000)},
        {"deny": NOT_DENIED},
        {"deny": ("NoSuchTool",)},
        {"deny": (f"Bash({'x' * 3000})",)},
    ],
    "opencode": [
        {"deny": NOT_DENIED},
        {"deny": ("NoSuchTool",)},
        {"deny": ("mcp__*",)},
        {"model": "claude"},
    ],
}
"""What it cannot do."""


def test_every_agent_is_examined_here() -> None:
    assert list(HEADLESS) == list(CAN) == list(CANNOT)


@pytest.mark.parametrize("agent", HEADLESS)
def test_what_an_agent_can_do_meets_no_objection(agent: str) -> None:
    plain = beat(agent)
    assert HEADLESS[agent].objections(plain) == []
    for change in CAN[agent]:
        assert HEADLESS[agent].objections(replace(plain, **change)) == []


@pytest.mark.parametrize(("agent", "change"), [(agent, change) for agent, all_ in CANNOT.items() for change in all_])
def test_what_an_agent_cannot_do_is_an_objection_that_says_what_to_do(agent: str, change: dict[str, Any]) -> None:
    other: Beat = replace(beat(agent), **change)
    (sentence,) = HEADLESS[agent].objections(other)
    assert ": " in sentence


@pytest.mark.parametrize("agent", HEADLESS)
@given(st.data(), st.integers(0, 255), st.text(max_size=50))
def test_the_reader_bears_anything(agent: str, data: st.DataObject, exit_code: int, complaints: str) -> None:
    lines = data.draw(damaged(agent))
    found = bears(HEADLESS[agent], lines, exit_code, complaints)
    assert found.usage.cost_usd is None or found.usage.cost_usd >= 0
    assert classify(found).outcome in {"ok", "attention", "error"}
