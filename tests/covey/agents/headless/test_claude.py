"""Claude runs beats: how it is started, and what it has said before, whole, damaged and made up."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from covey.agents.claude import AGENT
from covey.agents.claude.headless import ClaudeHeadless
from covey.agents.headless.report import Report, Step
from covey.beats.beat import Budget
from covey.beats.outcome import classify
from tests.covey.agents.headless.running import beat, cases, recorded, report

OURS = ClaudeHeadless()
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC).timestamp()
EXITS = {"auth": 1, "budget": 1, "busy": 1, "cut": 1, "max_turns": 1, "overloaded": 1}
"""With which code the recorded runs have ended, if not with 0."""


def told(*lines: object, exit_code: int = 0, complaints: str = "") -> Report:
    reader = OURS.reader()
    for line in lines:
        list(reader.line(json.dumps(line)))
    return reader.report(exit_code, complaints, NOON)


def result(**fields: object) -> dict[str, object]:
    return {"type": "result", "is_error": True, "api_error_status": 429, "result": "no", **fields}


@pytest.mark.parametrize(
    ("case", "outcome", "kind"),
    [
        ("ok", "ok", None),
        ("retry", "ok", None),
        ("tools", "ok", None),
        ("denied", "ok", None),
        ("attention", "attention", None),
        ("auth", "error", "auth"),
        ("busy", "error", "rate_limit"),
        ("overloaded", "error", "api"),
        ("cut", "error", "api"),
        ("max_turns", "error", "max_turns"),
        ("budget", "error", "budget"),
    ],
)
def test_what_it_has_said_is_read_as_what_it_was(case: str, outcome: str, kind: str | None) -> None:
    found = report(OURS, case, EXITS.get(case, 0))
    assert classify(found).outcome == outcome
    assert (found.failure.kind if found.failure else None) == kind
    assert found.failure is None or found.failure.message


def test_every_recording_is_read_by_some_test_with_the_code_with_which_it_ended() -> None:
    for case in cases("claude"):
        assert (report(OURS, case, EXITS.get(case, 0)).failure is not None) is (case in EXITS)


def test_a_refused_tool_is_reported_though_the_run_ends_well() -> None:
    assert report(OURS, "denied").denials == ("Bash(sudo ls)",)


def test_a_conversation_has_its_tools_with_what_they_answered_and_how_long_they_took() -> None:
    *said, end = report(OURS, "attention").turns
    first = said[0].tool_calls
    assert first
    assert (first[0].name, first[0].input["command"], first[0].output) == ("Bash", "echo hi; echo there", "hi\nthere")
    assert first[0].duration_ms is not None
    assert (end.role, end.num_turns) == ("result", 3)
    assert end.cost_usd == pytest.approx(0.0018)


def test_the_tokens_of_all_models_and_of_the_last_turn_count() -> None:
    assert report(OURS, "budget", 1).usage.tokens == 220, "its own sum leaves out the turn that went over the budget"


def test_what_was_spent_is_known_before_the_end() -> None:
    reader = OURS.reader()
    lines, _ = recorded("claude", "tools")
    for line in lines[:-1]:
        list(reader.line(line))
    assert reader.usage.cost_usd is None
    assert (reader.usage.tokens or 0) >= 300


def test_steps_come_in_order_and_in_short() -> None:
    reader = OURS.reader()
    steps = [step for line in recorded("claude", "attention")[0] for step in reader.line(line)]
    assert steps == [
        Step(kind="tool", name="Bash", text="echo hi; echo there"),
        Step(kind="tool", name="Bash", text="sudo ls"),
        Step(kind="text", text="ATTENTION: 2 tests fail in auth.test.ts"),
    ]


def test_only_a_rejection_tells_when_the_provider_serves_again() -> None:
    window = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "resetsAt": NOON + 9000}}
    shut = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": NOON + 3600}}
    open_one, closed = told(window, result(), exit_code=1).failure, told(window, shut, result(), exit_code=1).failure
    assert open_one
    assert closed
    assert (open_one.kind, open_one.retry_at) == ("rate_limit", None), "it is never guessed"
    assert closed.retry_at == NOON + 3600


def test_without_a_result_the_last_complaint_tells_why() -> None:
    assert (
        told(exit_code=1, complaints="warning\nInvalid API key · Please run /login\n").failure
        == told(exit_code=1, complaints="Invalid API key · Please run /login").failure
    )
    crashed = told(exit_code=134).failure
    assert crashed
    assert (crashed.kind, crashed.message) == ("crash", "it ended with exit code 134 and said nothing")


def test_a_result_with_an_exit_code_that_is_not_zero_is_no_answer() -> None:
    assert told(result(is_error=False, api_error_status=None, result="HEARTBEAT_OK"), exit_code=137).failure is not None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, True, 10**400, "1", [1], None])
def test_a_cost_that_is_none_does_not_count(value: object) -> None:
    found = told(result(total_cost_usd=value, errors=value, api_error_status=value), exit_code=1)
    assert found.usage.cost_usd is None
    assert found.failure


@pytest.mark.parametrize(
    ("subtype", "kind"),
    [("error_max_turns", "max_turns"), ("error_max_budget_usd", "budget"), ("error_during_execution", "api")],
)
def test_an_older_result_without_a_reason_is_read_by_its_subtype(subtype: str, kind: str) -> None:
    reader = ClaudeHeadless().reader()
    list(
        reader.line(
            json.dumps({"type": "result", "subtype": subtype, "is_error": True, "num_turns": 3, "total_cost_usd": 0.1})
        )
    )
    failure = reader.report(1, "", 0.0).failure
    assert failure is not None
    assert failure.kind == kind


def test_a_reason_that_is_not_text_is_a_failure_like_any_other() -> None:
    reader = OURS.reader()
    list(reader.line(json.dumps({"type": "result", "is_error": True, "terminal_reason": ["max_turns"]})))
    assert reader.report(0, "", NOON).failure


def test_the_prompt_is_not_swallowed_by_the_tools_that_are_denied() -> None:
    command = OURS.command(beat("claude", deny=("Bash(sudo:*)",)), "Look.", "/run", root=True)
    assert command.stdin == "Look."
    denied = command.argv.index("--disallowedTools")
    assert command.argv[denied + 1 : denied + 3] == ("Bash(sudo:*)", "--settings")


def test_root_gets_a_mode_that_works_for_root() -> None:
    assert "--dangerously-skip-permissions" not in OURS.command(beat("claude"), "", "", root=True).argv
    assert "--dangerously-skip-permissions" in OURS.command(beat("claude"), "", "", root=False).argv


def test_the_budget_of_a_run_the_model_and_the_turns_are_told_to_it() -> None:
    wanted = replace(beat("claude"), budget=Budget(run_usd=0.5), model="haiku", max_turns=7)
    argv = OURS.command(wanted, "", "", root=False).argv
    assert " ".join(argv).endswith("--max-turns 7 --model haiku --max-budget-usd 0.5")


def test_what_an_agent_tells_its_children_is_taken_away() -> None:
    environment = OURS.command(beat("claude"), "", "", root=False).environment
    assert environment == dict.fromkeys(AGENT.session_variables)
    (answer,) = (
        call.output
        for turn in report(OURS, "tools").turns
        for call in turn.tool_calls or []
        if "AI_AGENT" in (call.output or "")
    )
    given_on = {
        name for name in (answer or "").split() if not name.startswith(("CLAUDE_CODE_DISABLE", "CLAUDE_CODE_MAX"))
    }
    assert given_on - set(AGENT.session_variables) == {
        "CLAUDE_CODE_EXECPATH",
        "CLAUDE_CODE_TMPDIR",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_EFFORT",
    }, "these do no harm"
