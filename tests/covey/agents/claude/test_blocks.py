"""What is particular about complete turns of Claude Code."""

from __future__ import annotations

import math
from typing import Any

from covey.agents.claude.blocks import ClaudeBlocks
from tests.covey.agents.test_blocks import case, entries, kinds, turns


def user(text: object, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"content": text}, "timestamp": "2026-01-01T00:00:00Z", **more}


def assistant(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, "uuid": text, **more}


END = {"type": "system", "subtype": "turn_duration", "timestamp": "2026-01-01T00:00:09Z"}


def test_the_report_of_a_helper_in_the_background_is_a_turn_of_its_own() -> None:
    sent, reported = turns("claude", entries("claude", "turns/helper"))
    assert (sent.prompt, kinds(sent)) == ("Send a helper", ["tool_use", "tool_result", "text"])
    assert reported.prompt.startswith("<task-notification>")
    assert not sent.interrupted
    assert not reported.interrupted


def test_a_release_that_writes_no_end_is_closed_by_the_caller() -> None:
    (turn,) = [one for one in turns("claude", [user("hello", uuid="1"), assistant("hi")]) if one]
    assert (turn.key, turn.interrupted) == ("1", False)


def test_what_helpers_and_claude_code_itself_write_is_left_out() -> None:
    taken = [
        user("<local-command-stdout>cleared</local-command-stdout>", promptId="0"),
        user("hello", promptId="1"),
        user("<system-reminder>", promptId="1", isMeta=True),
        assistant("inside", isSidechain=True),
        {**assistant("No response requested."), "message": {"model": "<synthetic>", "content": "No"}},
        assistant("hi"),
        END,
        assistant("too late"),
    ]
    (turn,) = turns("claude", taken)
    assert (turn.prompt, turn.blocks) == ("hello", [{"type": "text", "text": "hi"}])


def test_a_prompt_that_was_taken_between_two_tools_belongs_to_the_turn() -> None:
    queued = {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and this"}, "uuid": "q"}
    (turn,) = turns("claude", [user("do that", promptId="1"), assistant("a"), queued, assistant("b"), END])
    assert (turn.prompt, kinds(turn)) == ("do that\n\nand this", ["text", "text"])


def test_an_interruption_while_an_answer_streams_ends_the_turn() -> None:
    (turn,) = case("claude", "interrupted")
    assert (turn.prompt, turn.interrupted) == ("Count to a million", True)


def test_a_prompt_that_is_only_an_image_begins_a_turn() -> None:
    reader = ClaudeBlocks()
    reader.take(user([{"type": "image", "source": {}}], promptId="1"))
    reader.take(assistant("a bird"))
    (turn,) = reader.end(math.inf)
    assert turn.prompt == "[image]"
