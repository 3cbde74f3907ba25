"""Complete turns read from what the real agents have written."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.blocks import FinishedTurn, called, returned, whole_text
from covey.agents.registry import BLOCKS
from tests.captured import FOLDER

AGENTS = ("claude", "codex", "copilot", "gemini", "opencode")
LOOK = ["thinking", "text", "tool_use", "tool_result", "thinking", "text"]
STOPPED = {"claude": ["thinking", "text"], "codex": ["thinking"], "opencode": ["thinking", "text"]}
"""What agents keep of an answer that the person broke off; the others keep nothing."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def entries(agent: str, name: str) -> list[dict[str, Any]]:
    """`turns/transcript`, `turns/helper` or a case, of the newest release."""
    (newest,) = FOLDER.glob(f"{agent}/*/turns")
    file = newest.parent / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def turns(agent: str, taken: list[dict[str, Any]]) -> list[FinishedTurn]:
    reader = BLOCKS[agent]()
    for entry in taken:
        reader.take(entry)
    return [*reader.finished(), *reader.end(math.inf)]


def case(agent: str, name: str) -> list[FinishedTurn]:
    return turns(agent, entries(agent, f"{name}/transcript"))


def kinds(turn: FinishedTurn) -> list[str]:
    return [block["type"] for block in turn.blocks]


def test_every_agent_with_conversations_of_its_own_has_blocks() -> None:
    assert set(BLOCKS) == set(AGENTS)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_conversation_that_was_interrupted_and_resumed_has_its_turns_with_all_their_blocks(agent: str) -> None:
    found = case(agent, "turns")
    assert [(turn.prompt, turn.interrupted, kinds(turn)) for turn in found] == [
        ("Look around", False, LOOK),
        ("Count to a million", True, STOPPED.get(agent, [])),
        ("Say hello", False, ["text"]),
        ("Carry on", False, ["tool_use", "tool_result", "text"]),
    ]
    assert len({turn.key for turn in found}) == len(found)
    assert all(turn.key and not turn.error and 0 < turn.began_at <= turn.ended_at for turn in found)


@pytest.mark.parametrize("agent", AGENTS)
def test_blocks_have_the_same_form_for_every_agent(agent: str) -> None:
    thought, words, call, result, _, last = case(agent, "turns")[0].blocks
    assert thought["thinking"].startswith("Considering.")
    assert words == {"type": "text", "text": "I will look."}
    assert call["name"]
    assert "ls" in json.dumps(call["input"])
    assert isinstance(call["input"], dict)
    assert result["tool_use_id"] == call["id"] != ""
    assert "README.md" in result["content"]
    assert result.get("is_error", False) is False
    assert last["text"] == "There is one file."


@pytest.mark.parametrize("agent", ["codex", "copilot", "gemini", "opencode"])
def test_a_helper_is_only_a_call_of_the_turn_that_sent_it(agent: str) -> None:
    main = [
        entry
        for entry in entries(agent, "turns/helper")
        if agent != "opencode" or entry["info"]["sessionID"] == entries(agent, "turns/helper")[0]["info"]["sessionID"]
    ]
    (turn,) = turns(agent, main)
    assert (turn.prompt, kinds(turn)) == ("Send a helper", ["tool_use", "tool_result", "text"])


@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_a_prompt_that_was_sent_while_the_agent_worked_belongs_to_the_turn_that_took_it(agent: str) -> None:
    (turn,) = turns(agent, entries(agent, "turns/queued"))
    assert turn.prompt == "Do the first thing\n\nDo the second thing"
    assert (turn.interrupted, turn.blocks[-1]["type"]) == (False, "text")


@pytest.mark.parametrize("agent", ["gemini", "opencode"])
def test_a_prompt_that_was_queued_has_a_turn_of_its_own(agent: str) -> None:
    found = turns(agent, entries(agent, "turns/queued"))
    assert [turn.prompt for turn in found] == ["Do the first thing", "Do the second thing"]
    assert not any(turn.interrupted for turn in found)


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "gemini"])
def test_a_compaction_is_not_a_turn(agent: str) -> None:
    (turn,) = case(agent, "compacted")
    assert (turn.prompt, turn.interrupted, kinds(turn)) == ("Tell me a fact", False, ["text"])


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "gemini"])
def test_a_refused_call_interrupts_its_turn(agent: str) -> None:
    (turn,) = case(agent, "denied")
    assert (turn.prompt, turn.interrupted) == ("Remove the build folder", True)


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "gemini"])
def test_a_turn_that_failed_says_why(agent: str) -> None:
    (turn,) = case(agent, "error-auth")
    assert (turn.prompt, turn.interrupted) == ("Do something", False)
    assert "401" in turn.error


@pytest.mark.parametrize("agent", AGENTS)
def test_a_turn_without_a_mark_of_its_end_is_closed_by_the_next_prompt(agent: str) -> None:
    first = [entry for entry in entries(agent, "turns/transcript")[:8] if "$set" not in entry]
    key = turns(agent, first)[0].key
    broken_off, again = turns(agent, [*first[:6], *(_with_other_ids(entry) for entry in first)])[:2]
    assert (broken_off.key, broken_off.prompt) == (key, "Look around")
    assert again.key != key


@pytest.mark.parametrize("agent", AGENTS)
def test_a_turn_that_began_after_the_hook_is_not_ended_by_it(agent: str) -> None:
    reader = BLOCKS[agent]()
    begun = ("Look around" in json.dumps(entry) for entry in entries(agent, "turns/transcript"))
    for entry in entries(agent, "turns/transcript")[: [*begun].index(True) + 2]:
        reader.take(entry)
    assert reader.end(1.0) == []
    assert reader.open
    (turn,) = reader.end(math.inf)
    assert turn.prompt == "Look around"
    assert not reader.open


@pytest.mark.parametrize("agent", AGENTS)
@given(data=st.data())
def test_whatever_an_entry_is_it_is_taken(agent: str, data: st.DataObject) -> None:
    real = entries(agent, "turns/transcript")
    reader = BLOCKS[agent]()
    for _ in range(data.draw(st.integers(1, 6))):
        entry = dict(data.draw(st.sampled_from(real)))
        for name in data.draw(st.lists(st.sampled_from(sorted(entry)), max_size=2)):
            entry[name] = data.draw(JSON)
        for name in ("message", "payload", "data", "info"):
            if isinstance(entry.get(name), dict) and entry[name]:
                entry[name] = {**entry[name], data.draw(st.sampled_from(sorted(entry[name]))): data.draw(JSON)}
        reader.take(entry)
    assert all(isinstance(turn.key, str) for turn in [*reader.finished(), *reader.end(math.inf)])


def test_arguments_that_are_not_an_object_are_the_input() -> None:
    assert called("1", "exec", '{"cmd": "ls"}')["input"] == {"cmd": "ls"}
    assert called("1", "exec", "{}")["input"] == {}
    assert called("1", "exec", "ls -l")["input"] == {"input": "ls -l"}
    assert called("1", "exec", None)["input"] == {}


def test_results_are_text_and_parts_that_are_not_are_named() -> None:
    assert whole_text([{"type": "text", "text": "a"}, {"type": "image", "source": {}}]) == "a\n\n[image]"
    assert returned("1", {"a": 1}) == {"type": "tool_result", "tool_use_id": "1", "content": '{"a": 1}'}


def _with_other_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_other_ids(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_other_ids(inner) for inner in value]
    return value.replace("0000000", "7777777") if isinstance(value, str) else value
