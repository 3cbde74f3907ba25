"""Hooks of a runtime become notices: helpers, other threads and calls beside a dialog are not taken for it, and nothing
that arrives breaks it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.claude.signals import ClaudeHooks
from covey.agents.codex.signals import CodexHooks
from covey.agents.copilot.signals import CopilotHooks
from covey.agents.cursor.signals import CursorHooks
from covey.agents.opencode.signals import OpencodeHooks
from covey.agents.signals.signals import IGNORED, SESSION_ENDED, SESSION_STARTED, HookReader, Notice
from covey.fleet.state.model import STATES
from tests.captured import captures
from tests.covey.agents.signals.evidence import AGENTS, heard, signals

SHELL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}}
LOOK: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def said(hooks: HookReader, event: str, at: float = 1.0, **payload: Any) -> Notice:
    (notice,) = hooks.normalise({"hook_event_name": event, "session_id": "one", **payload}, at)
    return notice


@pytest.mark.parametrize("kind", [ClaudeHooks, CodexHooks])
def test_a_call_beside_an_open_dialog_is_not_its_answer(kind: type[HookReader]) -> None:
    hooks = kind()
    said(hooks, "PreToolUse", tool_use_id="a", **SHELL)
    said(hooks, "PreToolUse", tool_use_id="b", **LOOK)
    assert said(hooks, "PermissionRequest", **SHELL).state == "waiting_approval"
    assert said(hooks, "PostToolUse", tool_use_id="b", **LOOK).state is None
    assert said(hooks, "PostToolUse", tool_use_id="a", **SHELL).state == "running"


def test_two_open_dialogs_are_answered_one_by_one() -> None:
    hooks = ClaudeHooks()
    said(hooks, "PreToolUse", tool_use_id="a", **SHELL)
    said(hooks, "PreToolUse", tool_use_id="b", **LOOK)
    said(hooks, "PermissionRequest", **SHELL)
    said(hooks, "PermissionRequest", **LOOK)
    first = said(hooks, "PostToolUse", tool_use_id="a", **SHELL)
    assert (first.state, first.detail) == ("waiting_approval", "Bash: ls")
    assert said(hooks, "PostToolUse", tool_use_id="b", **LOOK).state == "running"


def test_a_question_is_answered_although_its_arguments_have_changed() -> None:
    hooks = ClaudeHooks()
    asked: dict[str, Any] = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which?"}]}}
    assert said(hooks, "PreToolUse", tool_use_id="a", **asked).state == "waiting_input"
    assert said(hooks, "PermissionRequest", **asked).detail == "Which?"
    answered: dict[str, Any] = {
        "tool_name": "AskUserQuestion",
        "tool_input": {**asked["tool_input"], "answers": {"Which?": "First"}},
    }
    assert said(hooks, "PostToolUse", tool_use_id="a", **answered).state == "running"


@pytest.mark.parametrize("kind", [ClaudeHooks, CodexHooks])
def test_a_dialog_that_was_refused_is_forgotten_with_the_next_prompt(kind: type[HookReader]) -> None:
    hooks = kind()
    said(hooks, "PreToolUse", tool_use_id="a", **SHELL)
    said(hooks, "PermissionRequest", **SHELL)
    said(hooks, "UserPromptSubmit", prompt="Then do this")
    assert said(hooks, "PreToolUse", tool_use_id="b", **LOOK).state == "running"


@pytest.mark.parametrize("kind", [ClaudeHooks, CodexHooks])
def test_a_helper_says_nothing_about_the_main_line_but_its_dialog_is_the_persons(kind: type[HookReader]) -> None:
    hooks = kind()
    helper: dict[str, Any] = {"agent_id": "h", "agent_type": "general"}
    assert said(hooks, "PreToolUse", tool_use_id="a", **SHELL, **helper).kind == IGNORED
    assert said(hooks, "Stop", **helper).kind == IGNORED
    assert said(hooks, "SubagentStop", **helper).kind == IGNORED
    assert said(hooks, "PermissionRequest", **SHELL, **helper).state == "waiting_approval"
    assert said(hooks, "PostToolUse", tool_use_id="a", **SHELL, **helper).state == "running"


def test_claude_works_on_while_helpers_do_but_not_for_a_command_in_the_background() -> None:
    hooks = ClaudeHooks()
    assert (
        said(hooks, "Stop", background_tasks=[{"type": "subagent", "status": "running", "description": "Look"}]).state
        == "running"
    )
    assert said(hooks, "Stop", background_tasks=[{"type": "shell", "status": "running"}]).state == "completed"


def test_claude_clears_a_conversation_by_ending_one_session_and_starting_another() -> None:
    hooks = ClaudeHooks()
    assert said(hooks, "SessionEnd", reason="clear").kind == SESSION_ENDED
    (started,) = hooks.normalise({"hook_event_name": "SessionStart", "session_id": "two", "source": "clear"}, 2.0)
    assert (started.kind, started.session_id, started.state) == (SESSION_STARTED, "two", "idle")


@pytest.mark.parametrize("kind", [ClaudeHooks, CodexHooks])
def test_after_a_compaction_by_hand_the_agent_rests_and_after_one_of_its_own_it_goes_on(kind: type[HookReader]) -> None:
    hooks = kind()
    assert said(hooks, "PreCompact", trigger="auto").state == "running"
    assert said(hooks, "SessionStart", source="compact").state is None
    assert said(hooks, "PostCompact", trigger="auto").state == "running"
    assert said(hooks, "PostCompact", trigger="manual").state == "idle"


def test_codex_notifies_of_threads_that_are_not_the_persons() -> None:
    hooks = CodexHooks()
    said(hooks, "SessionStart")
    note: dict[str, Any] = {
        "type": "agent-turn-complete",
        "thread-id": "two",
        "turn-id": "t",
        "input-messages": ["Look around"],
        "last-assistant-message": "Done",
    }
    assert hooks.normalise(note, 1.0)[0].kind == IGNORED
    assert hooks.normalise({**note, "thread-id": "one"}, 1.0)[0].state == "completed"


def test_codex_notifies_of_titles_before_anything_else_is_known() -> None:
    hooks = CodexHooks()
    note: dict[str, Any] = {
        "type": "agent-turn-complete",
        "thread-id": "title",
        "input-messages": ["Generate a concise, single-line task title of at most"],
    }
    assert hooks.normalise(note, 1.0)[0].kind == IGNORED
    assert hooks.normalise({**note, "thread-id": "one", "input-messages": ["Do it"]}, 2.0)[0].state == "completed"


def test_copilot_asks_only_when_it_notifies_and_calls_beside_it_are_not_the_answer() -> None:
    hooks = CopilotHooks()
    request = {
        "hookName": "permissionRequest",
        "sessionId": "one",
        "toolName": "bash",
        "toolInput": {"command": "make"},
    }
    assert hooks.normalise(request, 1.0)[0].kind == IGNORED
    assert (
        said(hooks, "Notification", notification_type="permission_prompt", message="Run command: make").state
        == "waiting_approval"
    )
    assert said(hooks, "PreToolUse", **LOOK).kind == IGNORED
    assert said(hooks, "PostToolUse", **LOOK).kind == IGNORED
    full: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make", "description": "Build"}}
    assert said(hooks, "PostToolUse", **full).state == "running"
    assert said(hooks, "PreToolUse", **LOOK).state == "running"


def test_copilot_repeats_a_request_unless_it_says_that_it_cannot() -> None:
    hooks = CopilotHooks()
    error: dict[str, Any] = {"message": '{"message":"slow down","type":"rate"}'}
    assert (again := said(hooks, "ErrorOccurred", error=error, recoverable=True)).state == "running"
    assert again.detail == "slow down"
    assert said(hooks, "ErrorOccurred", error=error, recoverable=False).state == "error"


def test_opencode_helpers_end_without_ending_the_turn() -> None:
    hooks = OpencodeHooks()

    def event(kind: str, session: str, **about: Any) -> str | None:
        payload = {"hook_event_name": "event", "type": kind, "properties": {"sessionID": session, **about}}
        return hooks.normalise(payload, 1.0)[0].state

    event("session.created", "one", info={"id": "one"})
    assert event("session.status", "one", status={"type": "busy"}) == "running"
    event("session.created", "two", info={"id": "two", "parentID": "one"})
    assert event("session.error", "two", error={"name": "APIError"}) is None
    assert event("session.idle", "two") is None
    assert event("permission.asked", "two", id="p", permission="bash", patterns=["make"]) == "waiting_approval"
    assert event("session.status", "one", status={"type": "busy"}) is None  # a call beside it goes on
    assert event("permission.replied", "two", requestID="p", reply="once") == "running"
    assert event("session.idle", "one") == "completed"


def test_opencode_that_was_put_off_for_an_hour_has_failed() -> None:
    status = {"type": "retry", "message": "scripted", "next": 3_700_000}
    payload = {
        "hook_event_name": "event",
        "type": "session.status",
        "properties": {"sessionID": "one", "status": status},
    }
    assert OpencodeHooks().normalise(payload, 100.0)[0].state == "error"
    assert OpencodeHooks().normalise(payload, 3_690.0)[0].state == "running"


def test_cursor_says_how_a_turn_ended() -> None:
    ends = {
        status: said(CursorHooks(), "stop", status=status, conversation_id="one").state
        for status in ("completed", "aborted", "error")
    }
    assert ends == {"completed": "completed", "aborted": "idle", "error": "error"}


def test_equal_requests_at_other_times_are_other_events_and_a_second_delivery_is_none() -> None:
    hooks = ClaudeHooks()
    first, again, later = (said(hooks, "PermissionRequest", at, **SHELL).dedupe_key for at in (1.0, 1.0, 2.0))
    assert first == again != later


def test_a_second_delivery_has_the_keys_of_the_first() -> None:
    assert all(
        [notice.dedupe_key for notice in heard(capture)] == [notice.dedupe_key for notice in heard(capture)]
        for capture in captures()
    )


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
REAL = {
    agent: [payload for capture in captures(agent) for name in ("hooks", "notify") for payload in capture.lines(name)]
    for agent in AGENTS
}


def spoilt(data: st.DataObject, value: Any) -> Any:
    """A real payload with something in it, at any depth, replaced by anything."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: spoilt(data, value[key])}
    return data.draw(JSON)


@pytest.mark.parametrize("agent", AGENTS)
@given(data=st.data())
def test_whatever_arrives_gives_notices_or_nothing(agent: str, data: st.DataObject) -> None:
    hooks = signals(agent).hooks()
    for _ in range(3):
        payload = spoilt(data, data.draw(st.sampled_from(REAL[agent])))
        for notice in hooks.normalise(payload, 1.0):
            assert notice.state in {None, *STATES}
            assert notice.dedupe_key.isprintable()


def test_a_payload_too_deep_to_be_anybodys_is_survived() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    notice = said(ClaudeHooks(), "PreToolUse", tool_name="Bash", tool_input={"command": deep})
    assert notice.state == "running"


@pytest.mark.parametrize("agent", AGENTS)
@given(data=st.data())
def test_a_key_stands_for_one_event_in_any_order_and_number(agent: str, data: st.DataObject) -> None:
    """Which events there are, and when, does not depend on how they are delivered: dropping known keys leaves each
    event once.
    """
    capture = data.draw(st.sampled_from(captures(agent)))
    payloads = list(enumerate(capture.lines("hooks")))
    delivered = data.draw(st.lists(st.sampled_from(payloads), max_size=20) if payloads else st.just([]))
    keys: dict[str, int] = {}
    hooks = signals(agent).hooks()
    for place, payload in delivered:
        for notice in hooks.normalise(payload, float(place)):
            assert keys.setdefault(notice.dedupe_key, place) == place
            assert notice.at == place
