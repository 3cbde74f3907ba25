"""Codex runs beats: the real one with a scripted model, and what it has said before."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from covey.agents.codex.headless import CodexHeadless
from covey.agents.headless.report import Turn
from covey.beats.outcome import classify
from lab.headless import Headless, headless
from tests.covey.agents.headless.running import Ran, beat, recorded, report, run
from tests.covey.beats.real import needs
from tests.covey.namespaces import needs_codex_sandbox

OURS = CodexHeadless()
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
]
"""For each default pattern but two a command that would do no harm if nobody refused it."""
WRAPPED = [
    "cd . && sudo ls",
    "env A=1 /usr/bin/shred --version",
    "bash -c 'echo a; reboot --help'",
    "echo $(halt --help)",
]


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    with tempfile.TemporaryDirectory(prefix="covey-") as folder, headless(Path(folder)) as running:
        yield running


@needs("codex")
def test_a_run_that_finds_nothing_is_ok_and_tells_its_tokens(lab: Headless) -> None:
    ran = run(lab, OURS, "ok", ["say HEARTBEAT_OK"])
    assert classify(ran.report).outcome == "ok"
    assert ran.report.usage.tokens == 110
    assert ran.report.usage.cost_usd is None
    assert ran.report.denials == ()


@needs("codex")
@needs_codex_sandbox
def test_a_run_may_look_and_write_in_its_workspace_and_tells_what_it_did(lab: Headless) -> None:
    ran = run(
        lab, OURS, "attention", ["say I will look.", "shell echo seen", "write note.txt", "say ATTENTION: 2 tests fail"]
    )
    assert (ran.project / "note.txt").exists()
    assert ran.tools == [("Bash", "echo seen"), ("Edit", str(ran.project / "note.txt"))]
    assert classify(ran.report).summary == "2 tests fail"
    first, *_ = ran.report.turns
    assert first.text == "I will look."
    assert first.tool_calls
    assert first.tool_calls[0].output == "seen\n"


@needs("codex")
def test_every_default_pattern_is_refused_and_named(lab: Headless) -> None:
    commands = [*HARMLESS, *WRAPPED]
    ran = run(lab, OURS, "refused", [*(f"shell {command}" for command in commands), "say HEARTBEAT_OK"])
    assert ran.tools == []
    assert list(ran.report.denials) == [f"Bash({command})" for command in commands]
    assert classify(ran.report).outcome == "ok"


@needs("codex")
def test_nothing_runs_if_the_guard_cannot(lab: Headless, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/covey/no/such/python")
    ran = run(lab, OURS, "unguarded", ["shell echo hi", "say HEARTBEAT_OK"])
    assert ran.tools == []
    assert ran.report.denials


@needs("codex")
@needs_codex_sandbox
def test_the_sandbox_holds_where_no_pattern_does(lab: Headless) -> None:
    outside = Path("/var/tmp") / f"covey-{time.time_ns()}"  # everybody may write there, but not from within the sandbox
    ran = run(
        lab,
        OURS,
        "outside",
        [f"shell touch {outside}; touch inside", f"write {outside}", f"approval touch {outside}", "say HEARTBEAT_OK"],
    )
    assert not outside.exists()
    assert (ran.project / "inside").exists()
    assert ran.report.denials == ("Edit(outside the workspace)", "Bash(outside the sandbox)")


@needs("codex")
def test_a_denied_tool_is_refused(lab: Headless) -> None:
    ran = run(lab, OURS, "edit", ["write note.txt", "say HEARTBEAT_OK"], deny=("Edit",))
    assert not (ran.project / "note.txt").exists()
    assert ran.report.denials == ("Edit(note.txt)",)


@needs("codex")
def test_with_permissions_skipped_nothing_is_refused(lab: Headless) -> None:
    ran = run(lab, OURS, "skip", ["shell shred --version", "say HEARTBEAT_OK"], deny=())
    assert ran.tools == [("Bash", "shred --version")]
    assert ran.report.denials == ()


@needs("codex")
@pytest.mark.parametrize(("step", "kind"), [("fail 401", "auth"), ("limit 3600", "rate_limit"), ("fail 500", "api")])
def test_failures_of_the_api_are_kept_apart(lab: Headless, step: str, kind: str) -> None:
    ran: Ran = run(lab, OURS, step.replace(" ", "-"), [step])
    assert ran.report.failure
    assert ran.report.failure.kind == kind
    assert ran.report.failure.retry_at is None  # Codex passes on no header
    assert ran.requests == 1


@pytest.mark.parametrize(
    ("case", "code", "kind"),
    [
        ("ok", 0, None),
        ("attention", 0, None),
        ("refused", 0, None),
        ("auth", 1, "auth"),
        ("reconnect", 1, "auth"),
        ("nokey", 1, "auth"),
        ("limit", 1, "rate_limit"),
        ("usage", 1, "rate_limit"),
        ("usage_none", 1, "rate_limit"),
        ("sse_rate", 1, "rate_limit"),
        ("sse_quota", 1, "rate_limit"),
        ("api", 1, "api"),
        ("cut", 1, "api"),
        ("config", 1, "crash"),
        ("ok", 139, "crash"),
    ],
)
def test_a_recorded_end_is_told_by_its_kind(case: str, code: int, kind: str | None) -> None:
    failure = report(OURS, case, code).failure
    assert (failure.kind if failure else None) == kind


def test_the_message_says_what_was_wrong_and_not_how_often_it_was_tried() -> None:
    failures = {case: report(OURS, case, 1).failure for case in ("reconnect", "config")}
    assert failures["reconnect"]
    assert failures["reconnect"].message.startswith("unexpected status 401 Unauthorized")
    assert failures["config"]
    assert failures["config"].message == "Error loading config.toml: invalid type: integer `3`, expected a map"


@pytest.mark.parametrize(("case", "resets"), [("usage", (15, 16, 1)), ("usage_far", (18, 14, 1)), ("usage_none", None)])
def test_a_usage_limit_says_when_it_is_lifted_however_late_it_is_read(
    case: str, resets: tuple[int, int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        late = datetime(2026, 11, 16, 9, tzinfo=UTC).timestamp()
        failure = report(OURS, case, 1, late).failure
    finally:
        monkeypatch.undo()
        time.tzset()
    assert failure
    assert failure.retry_at == (datetime(2026, 11, *resets, tzinfo=UTC).timestamp() if resets else None)


def test_a_limit_that_is_lifted_after_seconds_is_counted_from_now() -> None:
    failure = report(OURS, "sse_rate", 1, 1000.0).failure
    assert failure
    assert failure.retry_at == 1001.5


def test_a_run_that_ends_without_a_word_has_crashed_with_its_code() -> None:
    failure = OURS.reader().report(137, "", 0.0).failure
    assert failure
    assert (failure.kind, failure.message) == ("crash", "it ended with exit code 137 and without an answer")


def test_what_is_refused_is_told_whoever_refused_it() -> None:
    assert report(OURS, "escalate").denials == (
        "Bash(outside the sandbox)",
        "Edit(outside the workspace)",
        "Bash(rm -rf /covey-no-such-folder)",
    )
    assert report(OURS, "mcp").denials == ("mcp__my-srv__ping()",)


def test_what_was_said_before_the_last_tool_is_no_answer() -> None:
    reader = OURS.reader()
    lines, _ = recorded("codex", "attention")
    said = [at for at, line in enumerate(lines) if "agent_message" in line]
    for line in lines[: said[-1]]:
        list(reader.line(line))
    assert reader.report(0, "", 0.0).turns[-1] == Turn(role="result", text="")


def test_the_command_takes_the_model_and_turns_off_a_denied_search() -> None:
    command = OURS.command(replace(beat("codex", deny=("WebSearch",)), model="small"), "Look.", "/run/1", root=False)
    assert command.argv[0] == "codex"
    assert command.argv[-3:] == ("--model", "small", "-")
    assert 'web_search="disabled"' in command.argv
    assert command.stdin == "Look."
