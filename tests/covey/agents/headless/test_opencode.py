"""opencode runs beats: the real one with a scripted model, and what it has said before."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from covey.agents.opencode.headless import OpenCodeHeadless
from covey.beats.outcome import classify
from covey.beats.permissions import DEFAULT_DENY
from lab.headless import Headless, headless
from tests.covey.agents.headless.running import beat, recorded, report, run
from tests.covey.beats.real import needs

OURS = OpenCodeHeadless()


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    with tempfile.TemporaryDirectory(prefix="covey-") as folder, headless(Path(folder)) as running:
        yield running


def permissions(*deny: str) -> dict[str, dict[str, str]]:
    variable = OURS.command(beat("opencode", deny=deny), "Look.", "/run/1", root=False).environment[
        "OPENCODE_CONFIG_CONTENT"
    ]
    settings: dict[str, Any] = json.loads(variable or "")
    found: dict[str, dict[str, str]] = settings["agent"]["covey-beat"]["permission"]
    return found


@needs("opencode")
def test_a_run_tells_what_it_did_and_used_and_asks_for_no_title(lab: Headless) -> None:
    ran = run(
        lab, OURS, "attention", ["say I will look.", "shell echo seen", "write note.txt", "say ATTENTION: 2 tests fail"]
    )
    assert (ran.project / "note.txt").exists()
    assert [name for name, _ in ran.tools] == ["bash", "write"]
    assert classify(ran.report).summary == "2 tests fail"
    assert (ran.report.usage.tokens, ran.report.num_turns) == (330, 3)
    assert not [fact for fact in lab.model.log.of("attention") if fact.kind == "side"]
    first, *_ = ran.report.turns
    assert first.text == "I will look."
    assert first.tool_calls
    assert first.tool_calls[0].output == "seen\n"


@needs("opencode")
def test_denied_commands_are_refused_and_named(lab: Headless) -> None:
    commands = [
        "rm -rf /covey-no-such-folder",
        "mkfs.ext4 --help",
        "rm -rf ~/covey-no-such-folder",
        "dd if=/dev/null of=/dev/null count=0",
        "shred --version",
        "sudo ls",
        "shutdown --help",
        "reboot --help",
        "halt --help",
        "poweroff --help",
        "echo a && env A=1 /usr/bin/shred --version",
        "bash -c 'halt --help'",
    ]
    ran = run(
        lab, OURS, "denied", [*(f"shell {one}" for one in commands), "say HEARTBEAT_OK"], max_turns=len(commands) + 1
    )
    assert list(ran.report.denials) == [f"bash({one})" for one in commands]
    assert classify(ran.report).outcome == "ok"


@needs("opencode")
def test_denied_tools_and_helpers_are_refused_and_named(lab: Headless) -> None:
    ran = run(
        lab, OURS, "tools", ["write note.txt", "subagent look around", "say HEARTBEAT_OK"], deny=(*DEFAULT_DENY, "Edit")
    )
    assert ran.report.denials == ("write()", "task()")
    assert not (ran.project / "note.txt").exists()


@needs("opencode")
def test_more_turns_than_are_given_end_the_run(lab: Headless) -> None:
    ran = run(lab, OURS, "turns", [*(f"shell echo {number}" for number in range(9)), "say HEARTBEAT_OK"])
    assert ran.report.failure
    assert ran.report.failure.kind == "max_turns"
    assert [text for _, text in ran.tools] == ["echo 0", "echo 1", "echo 2"]


@needs("opencode")
def test_a_key_that_is_not_valid_is_told_as_such(lab: Headless) -> None:
    failure = run(lab, OURS, "auth", ["fail 401"]).report.failure
    assert failure
    assert (failure.kind, failure.message) == ("auth", "scripted failure")


@needs("opencode")
def test_a_rate_limit_is_not_waited_for_and_says_when_it_is_lifted(lab: Headless) -> None:
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
        ("turns", 1, "max_turns"),
        ("auth", 1, "auth"),
        ("limit", 0, "rate_limit"),
        ("unlimited", 1, "rate_limit"),
        ("server", 1, "api"),
        ("api", 1, "api"),
        ("model", 1, "api"),
        ("settings", 1, "crash"),
        ("ok", 139, "crash"),
    ],
)
def test_a_recorded_end_is_told_by_its_kind(case: str, code: int, kind: str | None) -> None:
    failure = report(OURS, case, code).failure
    assert (failure.kind if failure else None) == kind


def test_a_limit_without_a_time_has_none() -> None:
    failure = report(OURS, "unlimited", 1).failure
    assert failure
    assert failure.retry_at is None


def test_a_time_that_the_provider_gives_with_its_last_refusal_counts() -> None:
    data = {"statusCode": 429, "message": "Slow down", "responseHeaders": {"retry-after": "20"}}
    reader = OURS.reader()
    list(reader.line(json.dumps({"type": "error", "error": {"name": "APIError", "data": data}})))
    failure = reader.report(1, "", 1000.0).failure
    assert failure
    assert (failure.kind, failure.retry_at) == ("rate_limit", 1020.0)


def test_a_run_that_ends_without_a_word_has_crashed_with_its_code() -> None:
    for code in (0, 137):
        failure = OURS.reader().report(code, "", 0.0).failure
        assert failure
        assert (failure.kind, failure.message) == ("crash", f"it ended with exit code {code} and without an answer")


def test_what_goes_wrong_before_the_run_is_told_without_colours() -> None:
    failure = report(OURS, "settings", 1).failure
    assert failure
    assert failure.message.startswith("Error: Config file at OPENCODE_CONFIG_CONTENT is not valid")


def test_cost_and_tokens_are_summed_over_the_steps_as_they_come() -> None:
    reader, seen = OURS.reader(), []
    for paid in (0.25, 0.5, "much", None):
        tokens = {"input": 10, "output": 1, "reasoning": 2, "cache": {"read": 3, "write": 4}}
        list(reader.line(json.dumps({"type": "step_finish", "part": {"tokens": tokens, "cost": paid}})))
        seen.append((reader.usage.cost_usd, reader.usage.tokens))
    assert seen == [(0.25, 20), (0.75, 40), (0.75, 60), (0.75, 80)]


def test_a_cost_of_zero_is_one_that_is_not_known() -> None:
    assert report(OURS, "ok").usage.cost_usd is None


def test_the_parts_of_a_message_are_one_answer() -> None:
    reader = OURS.reader()
    for said in ("ATTENTION: it burns", "HEARTBEAT_OK"):
        list(reader.line(json.dumps({"type": "text", "part": {"messageID": "m", "text": said}})))
    assert reader.report(0, "", 0.0).text == "ATTENTION: it burns\nHEARTBEAT_OK"


def test_words_before_a_tool_call_are_no_answer() -> None:
    reader = OURS.reader()
    for line in recorded("opencode", "attention")[0]:
        if '"ATTENTION' not in line:
            list(reader.line(line))
    assert reader.report(0, "", 0.0).text == ""


def test_patterns_become_permissions_and_helpers_are_always_denied() -> None:
    assert permissions("Bash(curl *)", "Bash(git push:*)", "Write", "mcp__mail", "mcp__my.mail__send", "webfetch") == {
        "bash": {"curl *": "deny", "git push *": "deny"},
        "edit": {"*": "deny"},
        "mail_*": {"*": "deny"},
        "my_mail_send": {"*": "deny"},
        "webfetch": {"*": "deny"},
        "task": {"*": "deny"},
    }
    assert permissions() == {"task": {"*": "deny"}}


def test_the_prompt_is_on_no_command_line_and_a_folder_may_have_any_name() -> None:
    command = OURS.command(replace(beat("opencode"), model="a/b"), "Look.", "/run/a b#1", root=True)
    assert "Look." not in command.argv
    assert command.stdin == "Look."
    assert command.argv[-2:] == ("--model", "a/b")
    assert json.loads(command.environment["OPENCODE_CONFIG_CONTENT"] or "")["plugin"] == [
        "file:///run/a%20b%231/opencode.js",
        "file:///run/a%20b%231/guard.js",
    ]
