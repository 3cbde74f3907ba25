"""Gemini CLI runs beats: the real one with a scripted model, and what it has said before."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.gemini.headless import GeminiHeadless
from covey.beats.outcome import classify
from covey.beats.permissions import DEFAULT_DENY
from lab.headless import Headless, headless
from tests.covey.agents.headless.commands import ALLOWED, REFUSED
from tests.covey.agents.headless.running import beat, recorded, report, run
from tests.covey.beats.real import needs

OURS = GeminiHeadless()
HARMLESS = [
    "sudo ls",
    "rm -rf /covey-no-such-folder",
    "dd if=/dev/null of=/dev/null count=0",
    "env A=1 /usr/bin/shred --version",
    "echo a && reboot --help",
]
UNSAFE = re.compile(r"\([^)]*[*+?{].*\)[*+?{]")
"""An expression that looks so is not taken by Gemini."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    with tempfile.TemporaryDirectory(prefix="covey-") as folder, headless(Path(folder)) as running:
        yield running


def rules(*deny: str) -> list[dict[str, str]]:
    policy = OURS.command(beat("gemini", deny=deny), "Look.", "/run/1", root=False).files["deny.toml"]
    found: list[dict[str, str]] = tomllib.loads(policy)["rule"]
    return found


def denied(command: str, *deny: str) -> bool:
    """Whether the policy matches a command, in the form in which Gemini compares it."""
    written = (
        '{\0"command":' + json.dumps(command, ensure_ascii=False) + '\0,\0"description":"reboot of=/dev/sda sudo"\0}'
    )
    return any(re.search('"command":"' + rule["commandRegex"], written) for rule in rules(*deny))


@needs("gemini")
def test_a_run_tells_what_it_did_and_used(lab: Headless) -> None:
    ran = run(
        lab,
        OURS,
        "attention",
        ["stream 0.2 I will look.", "shell echo seen", "write note.txt", "say ATTENTION: 2 tests fail"],
    )
    assert (ran.project / "note.txt").exists()
    assert ran.tools == [("run_shell_command", "echo seen"), ("write_file", "note.txt")]
    assert classify(ran.report).summary == "2 tests fail"
    assert ran.report.turns[0].text == "I will look."
    assert ran.report.usage.tokens
    assert ran.report.usage.cost_usd is None


@needs("gemini")
def test_denied_commands_and_tools_are_refused_and_named(lab: Headless) -> None:
    ran = run(
        lab,
        OURS,
        "refused",
        [*(f"shell {one}" for one in HARMLESS), "write note.txt", "say HEARTBEAT_OK"],
        deny=(*DEFAULT_DENY, "Write"),
    )
    assert list(ran.report.denials) == [*(f"run_shell_command({one})" for one in HARMLESS), "write_file(note.txt)"]
    assert not (ran.project / "note.txt").exists()
    assert classify(ran.report).outcome == "ok"


@needs("gemini")
def test_the_users_own_policies_stay_in_force(lab: Headless) -> None:
    policy = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "touch"\ndecision = "deny"\npriority = 500\n'
    ran = run(lab, OURS, "own", ["shell touch made", "say HEARTBEAT_OK"], own={".gemini/policies/own.toml": policy})
    assert ran.report.denials == ("run_shell_command(touch made)",)
    assert not (ran.project / "made").exists()


@needs("gemini")
def test_with_permissions_skipped_nothing_is_refused(lab: Headless) -> None:
    ran = run(lab, OURS, "skip", ["shell shred --version", "say HEARTBEAT_OK"], deny=())
    assert ran.report.denials == ()
    assert classify(ran.report).outcome == "ok"


@needs("gemini")
def test_a_key_that_is_not_valid_is_told_as_such(lab: Headless) -> None:
    failure = run(lab, OURS, "auth", ["fail 401"]).report.failure
    assert failure
    assert (failure.kind, failure.message) == ("auth", "scripted failure (401)")


@needs("gemini")
def test_a_rate_limit_says_when_it_is_lifted(lab: Headless) -> None:
    ran = run(lab, OURS, "limit", ["limit 3600"])
    assert ran.report.failure
    assert ran.report.failure.kind == "rate_limit"
    assert ran.report.failure.retry_at == pytest.approx(ran.now + 3600, abs=100)
    assert ran.requests == 1


@pytest.mark.parametrize(
    ("case", "code", "kind"),
    [
        ("ok", 0, None),
        ("refused", 0, None),
        ("auth", 145, "auth"),
        ("noauth", 41, "auth"),
        ("limit", 173, "rate_limit"),
        ("api", 244, "api"),
        ("turns", 53, "max_turns"),
        ("ok", 139, "crash"),
    ],
)
def test_a_recorded_end_is_told_by_its_kind(case: str, code: int, kind: str | None) -> None:
    failure = report(OURS, case, code).failure
    assert (failure.kind if failure else None) == kind


def test_a_limit_counts_from_when_it_was_told_however_late_it_is_read() -> None:
    failure = report(OURS, "limit", 173, datetime(2027, 1, 1, tzinfo=UTC).timestamp()).failure
    assert failure
    assert failure.retry_at is not None
    assert datetime.fromtimestamp(failure.retry_at, UTC).date() == datetime(2026, 11, 15, tzinfo=UTC).date()
    assert failure.message.startswith("scripted failure Suggested retry after 3600s. Please wait")


def test_without_a_login_the_message_says_what_is_missing() -> None:
    failure = report(OURS, "noauth", 41).failure
    assert failure
    assert failure.message == "When using Gemini API, you must specify the GEMINI_API_KEY environment variable."


def test_a_run_that_ends_without_a_word_has_crashed_with_its_code() -> None:
    failure = OURS.reader().report(137, "", 0.0).failure
    assert failure
    assert (failure.kind, failure.message) == ("crash", "it ended with exit code 137 and without an answer")


def test_pieces_of_text_are_one_text_once_it_is_over() -> None:
    reader = OURS.reader()
    lines, _ = recorded("gemini", "attention")
    steps = [[(step.kind, step.text) for step in reader.line(line)] for line in lines]
    assert [step for group in steps for step in group if step[0] == "text"] == [
        ("text", "Let me look at the files."),
        ("text", "ATTENTION: 2 tests fail"),
    ]
    assert not any(group for line, group in zip(lines, steps, strict=True) if '"delta"' in line)


@pytest.mark.parametrize("command", REFUSED)
def test_the_policy_matches_what_the_default_list_means(command: str) -> None:
    assert denied(command, *DEFAULT_DENY)


@pytest.mark.parametrize("command", ALLOWED)
def test_the_policy_lets_other_commands_pass(command: str) -> None:
    assert not denied(command, *DEFAULT_DENY)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40).filter(str.strip))
def test_a_policy_is_toml_that_gemini_takes_and_matches_its_own_words(words: str) -> None:
    plain = words.replace("*", "x").strip().rstrip(":")
    for pattern in (f"Bash({words})", f"Bash(git {plain} *)"):
        if "Gemini cannot deny" not in "".join(OURS.objections(beat("gemini", deny=(pattern,)))):
            assert not any(UNSAFE.search(rule.get("commandRegex", "")) for rule in rules(pattern))
    assert denied(f"git  {plain} now", f"Bash(git {plain} *)")


def test_tools_and_servers_are_denied_by_name() -> None:
    assert [
        (rule["toolName"], rule.get("mcpName"))
        for rule in rules("Edit", "WebFetch", "Bash", "mcp__mail", "mcp__mail__send", "web_fetch")
    ] == [
        ("replace", None),
        ("web_fetch", None),
        ("run_shell_command", None),
        ("*", "mail"),
        ("send", "mail"),
        ("web_fetch", None),
    ]
