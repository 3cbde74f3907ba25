"""Copilot CLI runs beats: the real one with a scripted model, and what it has said before."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from covey.agents.copilot.headless import CopilotHeadless
from covey.beats.outcome import classify
from covey.beats.permissions import DEFAULT_DENY
from lab.headless import Headless, headless
from tests.covey.agents.headless.running import beat, recorded, report, run
from tests.covey.beats.real import needs

OURS = CopilotHeadless()
HARMLESS = [
    "rm -rf /covey-no-such-folder",
    "rm -rf ~/covey-no-such-folder",
    "mkfs.ext4 --help",
    "dd if=/dev/null of=/dev/null count=0",
    "shred --version",
    "sudo ls",
    "shutdown --help",
    "reboot --help",
    "halt --help",
    "poweroff --help",
    "echo a && env A=1 /usr/bin/shred --version",
]
"""For each default pattern but two a command that would do no harm if nobody refused it, and one that hides."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    with tempfile.TemporaryDirectory(prefix="covey-") as folder, headless(Path(folder)) as running:
        yield running


def rules(*deny: str) -> list[list[str | None]]:
    text = OURS.command(beat("copilot", deny=deny), "Look.", "/run/1", root=False).files["deny.json"]
    found: list[list[str | None]] = json.loads(text)["rules"]
    return found


@needs("copilot")
def test_a_run_tells_what_it_did_and_used(lab: Headless) -> None:
    ran = run(
        lab, OURS, "attention", ["say I will look.", "shell echo seen", "write note.txt", "say ATTENTION: 2 tests fail"]
    )
    assert (ran.project / "note.txt").exists()
    assert ran.tools == [("bash", "echo seen"), ("create", "note.txt")]
    assert classify(ran.report).summary == "2 tests fail"
    assert ran.report.usage.tokens == 330
    assert ran.report.num_turns == 3
    first, *_ = ran.report.turns
    assert first.text == "I will look."
    assert first.tool_calls
    assert (first.tool_calls[0].output or "").startswith("seen\n")
    assert first.tool_calls[0].duration_ms


@needs("copilot")
def test_denied_commands_and_tools_are_refused_and_named(lab: Headless) -> None:
    ran = run(
        lab,
        OURS,
        "refused",
        [*(f"shell {one}" for one in HARMLESS), "write note.txt", "say HEARTBEAT_OK"],
        deny=(*DEFAULT_DENY, "Write"),
    )
    assert list(ran.report.denials) == [*(f"bash({one})" for one in HARMLESS), "create(note.txt)"]
    assert not (ran.project / "note.txt").exists()
    assert classify(ran.report).outcome == "ok"


@needs("copilot")
def test_where_the_users_settings_turn_hooks_off_nothing_is_run_that_was_denied(lab: Headless) -> None:
    ran = run(
        lab,
        OURS,
        "hookless",
        ["shell shred --version", "say HEARTBEAT_OK"],
        own={".copilot/settings.json": '{"disableAllHooks": true}'},
    )
    assert ran.report.denials == ("bash(shred --version)",)


@needs("copilot")
def test_with_permissions_skipped_nothing_is_refused(lab: Headless) -> None:
    ran = run(lab, OURS, "skip", ["shell shred --version", "say HEARTBEAT_OK"], deny=())
    assert ran.report.denials == ()
    assert classify(ran.report).outcome == "ok"


@needs("copilot")
def test_a_key_that_is_not_valid_is_told_as_such(lab: Headless) -> None:
    failure = run(lab, OURS, "auth", ["fail 401"]).report.failure
    assert failure
    assert failure.kind == "auth"
    assert failure.message.startswith("Authentication failed with provider")


@needs("copilot")
def test_a_rate_limit_is_given_up_at_once_and_no_time_is_guessed(lab: Headless) -> None:
    ran = run(lab, OURS, "limit", ["limit 3600"])
    assert ran.report.failure
    assert (ran.report.failure.kind, ran.report.failure.retry_at) == ("rate_limit", None)
    assert ran.requests == 1


@pytest.mark.parametrize(
    ("case", "code", "kind"),
    [
        ("ok", 0, None),
        ("refused", 0, None),
        ("recovered", 0, None),
        ("auth", 1, "auth"),
        ("noauth", 1, "auth"),
        ("limit", 1, "rate_limit"),
        ("api", 1, "api"),
        ("server", 1, "api"),
        ("cut", 1, "api"),
        ("ok", 139, "crash"),
    ],
)
def test_a_recorded_end_is_told_by_its_kind(case: str, code: int, kind: str | None) -> None:
    failure = report(OURS, case, code).failure
    assert (failure.kind if failure else None) == kind


def test_without_a_login_the_message_says_so() -> None:
    failure = report(OURS, "noauth", 1).failure
    assert failure
    assert failure.message == "Error: No authentication information found."


def test_a_run_that_ends_without_a_word_has_crashed_with_its_code() -> None:
    for code in (0, 137):
        failure = OURS.reader().report(code, "", 0.0).failure
        assert failure
        assert (failure.kind, failure.message) == ("crash", f"it ended with exit code {code} and without an answer")


def test_a_limit_that_is_told_counts_from_when_it_was_told() -> None:
    lines, _ = recorded("copilot", "limit")
    reader = OURS.reader()
    for line in lines:
        list(reader.line(line.replace("429 scripted failure", "429 You have used it up. Please try again in 2 hours.")))
    failure = reader.report(1, "", datetime(2027, 1, 1, tzinfo=UTC).timestamp()).failure
    assert failure
    assert failure.retry_at is not None
    assert datetime.fromtimestamp(failure.retry_at, UTC).date() == datetime(2026, 11, 15, tzinfo=UTC).date()


def test_what_a_helper_does_is_shown_and_counted_but_is_not_the_answer() -> None:
    lines, _ = recorded("copilot", "helper")
    reader = OURS.reader()
    steps = [step for line in lines for step in reader.line(line)]
    found = reader.report(0, "", 0.0)
    assert [step.name for step in steps if step.kind == "tool"] == ["task", "bash", "bash"]
    assert (found.text, found.num_turns, found.usage.tokens) == ("HEARTBEAT_OK", 2, 550)
    assert found.denials == ("bash(sudo ls)",)
    assert "done looking" not in [step.text for step in steps]


def test_where_the_hook_does_not_run_every_command_is_refused() -> None:
    assert report(OURS, "unguarded").denials == ("bash(touch made)",)


def test_tokens_are_told_while_it_runs() -> None:
    reader, seen = OURS.reader(), []
    for line in recorded("copilot", "refused")[0]:
        list(reader.line(line))
        seen.append(reader.usage.tokens)
    assert list(dict.fromkeys(seen)) == [None, 110, 220, 330, 440, 550]


def test_the_parts_of_a_message_are_one_answer() -> None:
    reader = OURS.reader()
    for said in ("ATTENTION: it burns", "HEARTBEAT_OK"):
        list(reader.line(json.dumps({"type": "assistant.message", "data": {"turnId": "0", "content": said}})))
    assert reader.report(0, "", 0.0).text == "ATTENTION: it burns\nHEARTBEAT_OK"


def test_the_default_list_is_known_by_its_meaning_and_needs_no_rules() -> None:
    assert rules(*DEFAULT_DENY) == []


def test_tools_and_servers_are_denied_by_name() -> None:
    assert rules("Edit", "Task", "Bash", "mcp__mail", "mcp__mail__send", "mcp__my-mail__*") == [
        ["Edit", None],
        ["Agent", None],
        ["Bash", None],
        ["mail-*", None],
        ["mail-send", None],
        ["my-mail-*", None],
    ]


def test_nothing_is_allowed_but_by_the_hook_and_the_prompt_is_on_no_command_line() -> None:
    plain = OURS.command(replace(beat("copilot"), model="gpt-5"), "Look.", "/run/1", root=True)
    assert not {"--allow-all-tools", "--allow-all", "--yolo", "Look."} & set(plain.argv)
    assert plain.argv[-2:] == ("--model", "gpt-5")
    assert plain.environment["COPILOT_ALLOW_ALL"] is None
    assert plain.stdin == "Look."
    assert "--allow-all-tools" in OURS.command(beat("copilot", deny=()), "Look.", "/run/1", root=True).argv
