"""Turns read from the transcripts that the real agents have written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from covey.agents.registry import TURNS
from covey.agents.turns import Turn
from tests.captured import FOLDER

ANSWERED = sorted(path.parent for name in TURNS for path in FOLDER.glob(f"{name}/*/completed/transcript.jsonl"))
INTERRUPTED = sorted(path.parent for name in TURNS for path in FOLDER.glob(f"{name}/*/interrupted/transcript.jsonl"))


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: "/".join(case.parts[-3:-1]))
def test_the_last_turn_has_its_prompt_and_the_reply(case: Path) -> None:
    last = _turns(case)[-1]
    assert (last.prompt, last.reply) in {
        ("Tell me about this project", "It is a small project with one file, a README, for agents to work on."),
        ("Think it over", "I have thought it over."),
    }
    assert last.at > 0


@pytest.mark.parametrize("case", INTERRUPTED, ids=lambda case: "/".join(case.parts[-3:-1]))
def test_an_interruption_is_no_prompt(case: Path) -> None:
    assert _turns(case)[-1].prompt == "Count to a million"


def test_every_agent_with_a_transcript_has_cases() -> None:
    assert {case.parts[-3] for case in ANSWERED} == set(TURNS) == {"claude", "codex", "copilot", "gemini"}


def test_what_is_no_transcript_has_no_turns() -> None:
    for name in TURNS:
        lines = ["", "null", "[]", '{"type": "user", "message": 7}', '{"type": []}', '{"payload": {"type": {}}}', "{"]
        assert TURNS[name]().read(lines) == []


def test_a_message_of_claude_in_several_entries_is_one_reply() -> None:
    said = [
        {"type": "user", "message": {"content": "hello"}},
        *(
            {"type": "assistant", "message": {"id": number, "content": [{"type": "text", "text": text}]}}
            for number, text in (("1", "looking"), ("2", "first"), ("2", "second"))
        ),
        {"type": "assistant", "isSidechain": True, "message": {"id": "3", "content": [{"type": "text", "text": "no"}]}},
    ]
    (turn,) = TURNS["claude"]().read(map(json.dumps, said))
    assert (turn.prompt, turn.reply) == ("hello", "first\n\nsecond")


def _turns(case: Path) -> list[Turn]:
    return TURNS[case.parts[-3]]().read((case / "transcript.jsonl").read_text().splitlines())
