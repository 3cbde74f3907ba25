"""What is particular about complete turns of Copilot CLI."""

from __future__ import annotations

import math
from typing import Any

from covey.agents.copilot.blocks import CopilotBlocks
from tests.covey.agents.test_blocks import kinds, turns


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"{kind} {data}", "timestamp": "2026-01-01T00:00:00Z"}


def test_the_end_of_one_request_to_the_model_is_not_the_end_of_the_turn() -> None:
    taken = [
        event("user.message", content="hello", interactionId="i"),
        event("assistant.message", content="", toolRequests=[{"toolCallId": "c", "name": "ls"}]),
        event("tool.execution_complete", toolCallId="c", success=False, error={"message": "no"}),
        event("assistant.turn_end"),
        event("assistant.message", content="hi", toolRequests=[]),
        event("assistant.turn_end"),
    ]
    (turn,) = turns("copilot", taken)
    assert (turn.key, turn.interrupted, kinds(turn)) == (taken[0]["id"], False, ["tool_use", "tool_result", "text"])
    assert turn.blocks[1] == {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True}


def test_a_hook_that_lets_the_agent_stop_ends_the_turn_and_one_that_does_not_lets_it_go_on() -> None:
    reader = CopilotBlocks()
    reader.take(event("user.message", content="hello", interactionId="i"))
    reader.take(event("hook.end", hookType="agentStop", output={"decision": "block"}))
    assert reader.open
    reader.take(event("assistant.message", content="hi"))
    reader.take(event("hook.end", hookType="agentStop", output={}))
    assert not reader.open


def test_a_prompt_that_steers_belongs_to_the_turn_unless_that_has_ended() -> None:
    reader = CopilotBlocks()
    reader.take(event("user.message", content="first", interactionId="i"))
    reader.take(event("user.message", content="second", interactionId="i", delivery="steering"))
    (both,) = reader.end(math.inf)
    assert both.prompt == "first\n\nsecond"
    reader.take(event("user.message", content="third", interactionId="i", delivery="steering"))
    (later,) = reader.end(math.inf)
    assert later.prompt == "third"
    assert later.key != both.key
