"""One vocabulary of reasons for all agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from covey.agents.codex.signals import CodexTranscript
from covey.agents.reasons import REASONS, reason_of
from covey.agents.registry import SIGNALS
from covey.fleet.state.model import Claim
from tests.captured import Capture, captures
from tests.covey.agents.screens.adapters_seen import REGISTRY, read

ALL = captures()
CAPTURES = Path(__file__).parents[2] / "captures"


def claims(capture: Capture) -> Iterator[Claim]:
    """What the hooks and the transcript of a capture claim."""
    folder = CAPTURES / str(capture)
    signals = SIGNALS[capture.about["agent"]]
    hooks = signals.hooks()
    if (folder / "hooks.jsonl").exists():
        for line in (folder / "hooks.jsonl").read_text().splitlines():
            yield from filter(None, (notice.claim("hook") for notice in hooks.normalise(json.loads(line), 0.0)))


@pytest.mark.parametrize("agent", REGISTRY.adapters)
def test_every_rule_gives_a_reason_of_the_vocabulary(agent: str) -> None:
    rules = [rule for patterns in REGISTRY.adapters[agent].versions for rule in (*patterns.screens, *patterns.titles)]
    assert {reason_of(rule.state, rule.reason) for rule in rules} <= set(REASONS)


def test_every_screen_and_hook_that_was_captured_gives_a_reason_of_the_vocabulary() -> None:
    seen = {reading.reason for capture in ALL if (reading := read(capture))}
    said = {claim.reason for capture in ALL for claim in claims(capture)}
    assert seen <= set(REASONS)
    assert said <= set(REASONS)
    assert said, "there are hooks among the captures"


@pytest.mark.parametrize(
    "capture", [capture for capture in ALL if capture.about["case"].startswith("error-rate-limit")], ids=str
)
def test_a_rate_limit_has_one_name(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert reading.reason == "rate_limited"


@pytest.mark.parametrize(
    "capture", [capture for capture in ALL if capture.about["case"].startswith("error-server")], ids=str
)
def test_an_error_of_the_model_has_one_name(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert reading.reason == "api_error"


@pytest.mark.parametrize(
    ("told", "detail", "reason"),
    [
        ("rate_limit", "", "rate_limited"),
        ("usage_limit", "", "rate_limited"),
        ("authentication_failed", "", "signed_out"),
        ("api_error", "API Error: 401 scripted failure", "signed_out"),
        ("api_error", "exceeded retry limit, last status: 429 Too Many Requests", "rate_limited"),
        ("unknown", "API Error: 400 the request is wrong", "api_error"),
        ("query", "Something failed", "api_error"),
        ("server_error", "", "api_error"),
        ("api_error", "port 4010 is in use", "api_error"),
    ],
)
def test_what_agents_call_an_error_is_translated(told: str, detail: str, reason: str) -> None:
    assert reason_of("error", told, detail) == reason


def test_other_states_keep_their_reason_whatever_they_quote() -> None:
    assert reason_of("running", "tool", "curl answered 401 and 429") == "tool"
    assert reason_of("idle", "session_resume") == "session_started"


@pytest.mark.parametrize(
    ("call", "detail"),
    [
        (
            {
                "name": "exec",
                "input": 'text(await tools.exec_command({"cmd": "touch marker && sleep 3", "justification": "x"}))',
            },
            "Shell: touch marker && sleep 3",
        ),
        (
            {"name": "exec", "input": "const r = await tools.exec_command({cmd: 'ls -l', yield_time: 1});\ntext(r)"},
            "Shell: ls -l",
        ),
        ({"name": "exec", "input": "text(1 + 1)\nmore"}, "Script: text(1 + 1)"),
        (
            {"name": "apply_patch", "input": "*** Begin Patch\n*** Add File: notes.txt\n+x\n*** End Patch\n"},
            "apply_patch: notes.txt",
        ),
    ],
)
def test_what_codex_runs_is_told_in_words(call: dict[str, str], detail: str) -> None:
    line = json.dumps(
        {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "custom_tool_call", **call}}
    )
    notice = CodexTranscript().feed(line, 0.0)
    assert notice
    assert notice.detail == detail


def test_the_guide_has_every_reason() -> None:
    guide = (CAPTURES.parents[1] / "docs" / "guide" / "fleet.md").read_text()
    assert [reason for reason in REASONS if f"| `{reason}` |" not in guide] == []
