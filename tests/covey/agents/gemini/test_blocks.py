"""What is particular about complete turns of Gemini CLI."""

from __future__ import annotations

from typing import Any

from tests.covey.agents.test_blocks import case, kinds, turns

PROMPT = {"type": "user", "id": "u", "content": [{"text": "hello"}], "timestamp": "2026-01-01T00:00:00Z"}


def spoken(**more: Any) -> dict[str, Any]:
    return {"type": "gemini", "id": "g", "content": "hi", "timestamp": "2026-01-01T00:00:01Z", **more}


def test_an_entry_that_is_written_again_replaces_itself() -> None:
    response = {"functionResponse": {"response": {"error": "no"}}}
    call = {"id": "c", "name": "ls", "args": {}, "status": "error", "result": [response]}
    (turn,) = turns("gemini", [PROMPT, spoken(), PROMPT, spoken(toolCalls=[call])])
    assert (turn.prompt, kinds(turn)) == ("hello", ["text", "tool_use", "tool_result"])
    assert turn.blocks[-1] == {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True}


def test_thoughts_have_their_subject_and_silence_is_not_a_text() -> None:
    thoughts = [{"subject": "Plan", "description": "look"}, {"subject": "", "description": "then act"}]
    (turn,) = turns("gemini", [PROMPT, spoken(content="[no response text]", thoughts=thoughts)])
    assert turn.blocks == [{"type": "thinking", "thinking": "Plan: look\nthen act"}]


def test_a_refused_call_is_an_error_of_its_turn() -> None:
    (turn,) = case("gemini", "denied")
    assert turn.blocks[-1]["is_error"] is True
