"""What is particular about complete turns of Codex."""

from __future__ import annotations

from typing import Any

from tests.covey.agents.test_blocks import case, kinds, turns


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "event_msg", "timestamp": "2026-01-01T00:00:00Z", "payload": {"type": kind, **more}}


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "response_item", "timestamp": "2026-01-01T00:00:01Z", "payload": {"type": kind, **more}}


def test_a_prompt_that_steers_belongs_to_the_turn() -> None:
    (turn,) = case("codex", "steered")
    assert turn.prompt == "Do the first thing\n\nDo the second thing"


def test_items_of_early_releases_have_no_ids_and_are_all_there() -> None:
    message = {"role": "assistant", "content": [{"type": "output_text", "text": "same"}]}
    (turn,) = turns(
        "codex",
        [
            event("task_started", turn_id="t"),
            event("user_message", message="hello"),
            item("message", **message),
            item("function_call", name="t", namespace="mcp__k", arguments='{"a": 1}', call_id="c"),
            item("function_call_output", call_id="c", output="done"),
            item("message", **message),
            event("task_complete", turn_id="t"),
        ],
    )
    assert (turn.key, kinds(turn)) == ("t", ["text", "tool_use", "tool_result", "text"])
    assert turn.blocks[1] == {"type": "tool_use", "id": "c", "name": "mcp__k__t", "input": {"a": 1}}


def test_the_summary_of_a_compaction_inside_a_turn_is_not_one_of_its_texts() -> None:
    (turn,) = turns(
        "codex",
        [
            event("task_started", turn_id="t"),
            event("user_message", message="hello"),
            item("message", role="assistant", content=[{"type": "output_text", "text": "So far: birds."}]),
            {"type": "compacted", "payload": {"message": "Another model says: So far: birds."}},
            item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
            event("task_complete", turn_id="t"),
        ],
    )
    assert turn.blocks == [{"type": "text", "text": "Done."}]
