"""Transcripts and session files become claims line by line, whatever the lines are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.claude.signals import ClaudeTranscript, session_file
from covey.agents.copilot.signals import CopilotTranscript
from covey.agents.gemini.signals import GeminiTranscript
from covey.agents.signals.signals import Owner
from covey.fleet.state.model import DERIVED, STATES, TENTATIVE
from tests.captured import Capture, captures
from tests.covey.agents.signals.evidence import AGENTS, followed, owner, signals

WRITERS = [agent for agent in AGENTS if agent != "opencode"]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
LINES = {
    agent: [json.dumps(line) for capture in captures(agent) for line in capture.lines("transcript")] for agent in AGENTS
}


def copilot(follower: CopilotTranscript, kind: str, **data: Any) -> str | None:
    helper = data.pop("helper", None)
    line = {
        "type": kind,
        "data": data,
        "id": kind,
        "timestamp": "2026-01-01T00:00:00Z",
        **({"agentId": helper} if helper else {}),
    }
    notice = follower.feed(json.dumps(line), 0.0)
    return notice.state if notice else None


def test_copilot_waits_until_the_last_request_is_answered_while_other_calls_go_on() -> None:
    follower = CopilotTranscript()
    assert copilot(follower, "permission.requested", requestId="a") == "waiting_approval"
    assert copilot(follower, "tool.execution_start", toolName="bash", toolCallId="x") == "waiting_approval"
    assert copilot(follower, "permission.requested", requestId="b", helper="h") == "waiting_approval"
    assert copilot(follower, "permission.completed", requestId="a") == "waiting_approval"
    assert copilot(follower, "permission.completed", requestId="b") == "running"


def test_a_turn_of_copilot_that_calls_tools_is_not_the_end() -> None:
    follower = CopilotTranscript()
    copilot(follower, "assistant.turn_start")
    copilot(follower, "assistant.message", toolRequests=[{}])
    assert copilot(follower, "assistant.turn_end") is None
    copilot(follower, "assistant.turn_start")
    assert copilot(follower, "assistant.turn_end", helper="h") is None
    assert copilot(follower, "assistant.turn_end") == "completed"


def test_a_completed_turn_of_copilot_gives_its_last_words() -> None:
    follower = CopilotTranscript()
    copilot(follower, "assistant.turn_start")
    copilot(follower, "assistant.message", content="It is done.")
    ended = follower.feed(
        json.dumps({"type": "assistant.turn_end", "data": {}, "id": "e", "timestamp": "2026-01-01T00:00:00Z"}), 0.0
    )
    assert ended
    assert (ended.state, ended.detail) == ("completed", "It is done.")


def test_an_answer_of_gemini_ends_its_turn_tentatively_and_gives_the_last_words() -> None:
    follower = GeminiTranscript()
    follower.feed(
        json.dumps({"type": "user", "id": "a", "content": [{"text": "quick"}], "timestamp": "2026-01-01T00:00:00Z"}),
        0.0,
    )
    answer = follower.feed(
        json.dumps({"type": "gemini", "id": "b", "content": "Done quickly.", "timestamp": "2026-01-01T00:00:01Z"}), 0.0
    )
    assert answer
    assert (answer.state, answer.reason, answer.detail, answer.strength) == (
        "completed",
        "turn_completed",
        "Done quickly.",
        TENTATIVE,
    )
    assert (
        follower.feed(json.dumps({"type": "gemini", "id": "c", "content": "Wait.", "toolCalls": [{"name": "ls"}]}), 0.0)
        is None
    )
    assert follower.feed(json.dumps({"type": "gemini", "id": "d", "content": ""}), 0.0) is None


def test_an_error_of_gemini_is_told_in_words() -> None:
    error = {"type": "error", "id": "a", "content": '[API Error: {"error":{"code":401,"message":"scripted failure"}}]'}
    notice = GeminiTranscript().feed(json.dumps(error), 0.0)
    assert notice
    assert (notice.state, notice.detail) == ("error", "API Error 401: scripted failure")


def test_claude_does_not_call_a_turn_completed_that_was_interrupted_or_failed() -> None:
    follower = ClaudeTranscript()
    interrupted = {"type": "user", "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}}
    ended = json.dumps({"type": "system", "subtype": "turn_duration"})
    assert getattr(follower.feed(json.dumps(interrupted), 1.0), "state", "") == "idle"
    assert follower.feed(ended, 2.0) is None
    prompt = {"type": "user", "message": {"content": "Go on"}}
    assert getattr(follower.feed(json.dumps(prompt), 3.0), "state", "") == "running"
    assert getattr(follower.feed(ended, 4.0), "state", "") == "completed"


@pytest.mark.parametrize("capture", captures(), ids=str)
def test_times_follow_the_order_of_the_lines_and_what_is_derived_is_called_so(capture: Capture) -> None:
    notices = followed(capture)
    assert [notice.at for notice in notices] == sorted(notice.at for notice in notices)
    assert {notice.strength for notice in notices} <= {DERIVED, TENTATIVE}


def spoil(line: str, place: int, value: Any) -> str:
    """A real line with one of its values, at any depth, replaced."""
    values = [*re.finditer(r'(?<=": )("[^"\\]*"|[\d.]+|true|false|null|\{\}|\[\])', line)]
    found = values[place % len(values)]
    return f"{line[: found.start()]}{json.dumps(value)}{line[found.end() :]}"


@pytest.mark.parametrize("agent", WRITERS)
@given(data=st.data())
def test_whatever_a_line_is_it_gives_a_notice_or_nothing(agent: str, data: st.DataObject) -> None:
    follower = signals(agent).sources(Owner(pid=1, ticks=1, began=0.0), "s")[-1].follower
    assert follower is not None
    following = follower()
    real = st.sampled_from(LINES[agent])
    spoilt = st.builds(spoil, real, st.integers(0), JSON)
    for line in data.draw(st.lists(st.text() | JSON.map(json.dumps) | real | spoilt, max_size=6)):
        cut = data.draw(st.integers(0, len(line)) | st.just(len(line)))
        notice = following.feed(line[:cut], 1.0)
        assert notice is None or notice.state in STATES


@given(
    content=st.text()
    | JSON.map(json.dumps)
    | st.fixed_dictionaries({"pid": st.just(1), "status": JSON, "statusUpdatedAt": JSON}).map(json.dumps)
)
def test_whatever_a_session_file_holds_it_gives_a_level_or_nothing(content: str) -> None:
    level = session_file(Owner(pid=1, ticks=1, began=0.0))(content)
    assert level is None or level.state in STATES


def test_a_session_file_that_another_process_left_behind_says_nothing() -> None:
    (capture,) = [capture for capture in captures("claude") if capture.about["case"] == "approval-shell"]
    (content,) = capture.session_files.values()
    mine = owner(capture)
    level = session_file(mine)(content)
    assert level is not None
    assert (level.state, level.reason, level.session_id) == (
        "waiting_approval",
        "permission_prompt",
        json.loads(content)["sessionId"],
    )
    assert session_file(Owner(pid=mine.pid, ticks=mine.ticks + 1, began=mine.began))(content) is None
    assert session_file(Owner(pid=mine.pid + 1, ticks=mine.ticks, began=mine.began))(content) is None


def test_every_agent_looks_where_its_environment_says() -> None:
    environ = {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c[1]", "CODEX_HOME": "/x", "COPILOT_HOME": "/p"}
    mine = Owner(pid=7, ticks=1, began=0.0, environ=environ)
    found = {agent: [source.pattern for source in signals(agent).sources(mine, "s-1")] for agent in AGENTS}
    assert found == {
        "claude": ["/c[[]1]/sessions/7.json", "/c[[]1]/projects/*/s-1.jsonl"],
        "codex": ["/x/sessions/*/*/*/rollout-*s-1.jsonl"],
        "copilot": ["/p/session-state/s-1/events.jsonl"],
        "cursor": ["/h/.cursor/projects/*/agent-transcripts/s-1/s-1.jsonl"],
        "gemini": ["/h/.gemini/tmp/*/chats/session-*-s-1.jsonl"],
        "opencode": [],
    }


@pytest.mark.parametrize("name", ["../../secret", "*", "a/b", ".hidden", "[ab]"])
def test_an_id_that_is_no_name_leads_nowhere(name: str) -> None:
    mine = Owner(pid=7, ticks=1, began=0.0, environ={"HOME": "/h"})
    patterns = [source.pattern for agent in AGENTS for source in signals(agent).sources(mine, name)]
    assert not [pattern for pattern in patterns if name in pattern and name != "*"]
    assert all(source.owns or source.read for agent in AGENTS for source in signals(agent).sources(mine, name))
