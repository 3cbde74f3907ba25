"""The crash loop: how its verdict is reached, and one kill of each with the real Claude Code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from covey.agents.blocks import FinishedTurn
from lab.agents.claude import Claude
from lab.install import program_of
from lab.keep_crashes import crash, shown
from lab.keep_verdict import Seen, Span, judge

TEXT = [{"type": "text", "text": "Heard. m1x0"}]


def event(kind: str, at: float, **data: Any) -> dict[str, Any]:
    return {"kind": kind, "time": at, "data": data}


STARTED = event("keeper.started", 1.0)
ACCEPTED = event("keeper.message", 2.0, channel="default", messages=1)
TOLD = event("turn.finished", 4.0, key="a", turn=TEXT)
ENDED = event("keeper.ended", 10.0, why="it was ended by signal 9", starts_in=1.0)
AGAIN = event("keeper.started", 11.1)


def seen(**more: Any) -> Seen:
    """One message that was written, heard and answered; `more` says what was otherwise."""
    turn = FinishedTurn(
        key="a", prompt="[12:00 default] m1x0 hi", began_at=3, ended_at=4, blocks=TEXT, interrupted=False
    )
    usual: dict[str, Any] = {
        "written": {"m1x0": "m1x0 hi"},
        "asked": [(3.0, ("[12:00 default] m1x0 hi",))],
        "events": [STARTED, ACCEPTED, TOLD],
        "transcript": [turn],
        "lines": [json.dumps({"ts": 4, "session": "s", "turn": TEXT})],
    }
    return Seen(**{**usual, **more})


def test_nothing_is_broken_when_all_came_once() -> None:
    verdict = judge(seen())
    assert verdict.broken == []
    assert (verdict.figures["seen once"], verdict.figures["turns told"]) == (1, 1)


def test_an_accepted_message_that_the_model_never_got_is_lost() -> None:
    assert "1 accepted messages were lost" in judge(seen(asked=[])).broken[0]


def test_a_message_that_no_daemon_had_read_is_counted_apart() -> None:
    verdict = judge(seen(asked=[], events=[STARTED, TOLD]))
    assert verdict.broken == []
    assert verdict.figures["in a pipe that nobody had open"] == 1


def test_a_message_that_two_agents_were_given_is_doubled_unless_it_is_marked() -> None:
    events = [STARTED, ACCEPTED, TOLD, ENDED, AGAIN]
    first = (3.0, ("[12:00 default] m1x0 hi",))
    assert judge(seen(events=events, asked=[first, (12.0, first[1])])).broken == ["m1x0 came twice without a mark"]
    marked = (12.0, ("[12:00 default, sent again] m1x0 hi",))
    assert judge(seen(events=events, asked=[first, marked])).broken == []


def test_a_message_that_was_joined_with_other_words_is_torn() -> None:
    broken = judge(
        seen(asked=[(3.0, ("[12:00 default] m1x0 hi",)), (3.5, ("[12:00 default] m1x0 hi and more",))])
    ).broken
    assert broken == ["a message arrived as 'm1x0 hi and more'"]


def test_turns_are_told_once_and_whole() -> None:
    assert "was not told" in judge(seen(events=[STARTED, ACCEPTED], lines=[])).broken[0]
    assert "told twice" in judge(seen(events=[STARTED, ACCEPTED, TOLD, TOLD])).broken[0]
    part = event("turn.finished", 4.0, key="a", turn=[])
    assert "told in part" in judge(seen(events=[STARTED, ACCEPTED, part])).broken[0]


def test_a_subscriber_may_miss_only_what_was_told_while_it_was_away() -> None:
    assert "did not get" in judge(seen(lines=[])).broken[0]
    assert judge(seen(lines=[], away=[Span(3.5, 4.5)])).broken == []


def test_a_start_before_its_time_and_one_beside_a_running_agent_are_broken() -> None:
    early = event("keeper.started", 10.2)
    assert "too soon" in judge(seen(events=[STARTED, ACCEPTED, TOLD, ENDED, early])).broken[0]
    assert "while an agent ran" in judge(seen(events=[STARTED, ACCEPTED, TOLD, AGAIN])).broken[0]


@pytest.mark.first
@pytest.mark.once
@pytest.mark.skipif(not program_of(Claude).exists(), reason="Claude Code is not installed in the lab")
async def test_a_kept_claude_survives_a_kill_of_each() -> None:
    killed: list[str] = []
    verdict = await crash(Claude, 1, 3, lambda victim, _: killed.append(victim))
    assert sorted(killed) == ["agent", "daemon", "tmux"]
    assert verdict.broken == [], "\n".join(shown({"claude": verdict}, 1, 3))
