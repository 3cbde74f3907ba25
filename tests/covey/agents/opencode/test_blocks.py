"""What is particular about complete turns of opencode."""

from __future__ import annotations

from typing import Any

from tests.covey.agents.test_blocks import entries, kinds, turns


def message(role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"role": role, "id": "m", "time": {"created": 1767225600000}, **info}, "parts": list(parts)}


def test_a_compaction_is_not_a_turn() -> None:
    found = turns("opencode", entries("opencode", "turns/compacted"))
    assert [(turn.prompt, turn.interrupted) for turn in found] == [("Say hello", False), ("Carry on", False)]
    assert [kinds(turn) for turn in found] == [["text"], ["tool_use", "tool_result", "text"]]


def test_an_error_other_than_an_interruption_is_told() -> None:
    prompt = message("user", {"type": "text", "text": "hello"}, {"type": "text", "text": "a file", "synthetic": True})
    error = {"name": "APIError", "data": {"message": "Unauthorized: scripted failure"}}
    (turn,) = turns("opencode", [prompt, message("assistant", error=error)])
    assert (turn.prompt, turn.interrupted, turn.error) == ("hello", False, "Unauthorized: scripted failure")


def test_a_call_that_failed_and_one_that_never_ended() -> None:
    failed = {"type": "tool", "tool": "bash", "callID": "a", "state": {"status": "error", "input": {}, "error": "no"}}
    running = {
        "type": "tool",
        "tool": "bash",
        "callID": "b",
        "state": {"status": "running", "input": {"command": "ls"}},
    }
    (turn,) = turns(
        "opencode", [message("user", {"type": "text", "text": "go"}), message("assistant", failed, running)]
    )
    assert kinds(turn) == ["tool_use", "tool_result", "tool_use"]
    assert turn.blocks[1] == {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True}
    assert turn.interrupted
