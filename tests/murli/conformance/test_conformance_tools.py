"""The kit against real tools: it passes the good ones, and fails each broken one for the reason it is broken."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from murli.conformance import Outcome, assert_conforms, check

if TYPE_CHECKING:
    from collections.abc import Callable

    from murli.conformance import Report

# What each tool breaks, and by nature nothing else: a tool whose flag errors have the wrong exit code fails wherever
# there is a flag error.
BROKEN: dict[str, set[str]] = {
    "banner": {"stdout.pure", "output.json", "output.ndjson"},
    "colour_for_all": {"ansi.no_color"},
    "colour_forced": {"ansi.forced"},
    "colour_in_pipe": {"ansi.pipe", "stderr.pure"},
    "describe_lies": {"describe.safety"},
    "describe_no_summary": {"describe.summary"},
    "describe_shapes": {
        "describe.schema_version",
        "describe.output_formats",
        "describe.commands",
    },
    "describe_unstable": {"describe.stable", "describe.terminal"},
    "dry_run_deletes": {"dry_run.no_change"},
    "dry_run_says_ok": {"dry_run.plan"},
    "envelope_unsorted": {
        "stdout.envelope",
        "output.json",
        "output.ndjson",
        "dry_run.plan",
        "tty.agent",
        "fields.unknown",
    },
    "error_exit_code": {"error.unknown_flag", "error.bad_type", "error.bad_output"},
    "error_key_order": {
        "error.unknown_command",
        "error.unknown_flag",
        "error.bad_type",
        "error.missing_argument",
        "error.bad_output",
        "guard.refuses",
        "argument.not_utf8",
        "input.invalid",
    },
    "error_on_stdout": {"error.envelope"},
    "example_fails": {"examples.exit_code"},
    "exit_code_range": {"run.exit_code", "examples.exit_code", "error.envelope"},
    "guard_missing": {"guard.refuses", "guard.no_change"},
    "guard_writes": {"guard.no_change"},
    "hangs": {"run.ends", "error.unknown_flag"},
    "input_ignored": {"input.same", "input.invalid"},
    "json_on_terminal": {"tty.text", "tty.error"},
    "limit_without_total": {"limit.cuts"},
    "ndjson_indented": {"output.ndjson"},
    "noisy_stderr": {"stderr.pure"},
    "pipe_complains": {"pipe.broken", "run.no_traceback"},
    "profile_readable": {"profile.save"},
    "profile_wins": {"profile.precedence"},
    "read_only_writes": {"read_only.no_change"},
    "schema_disagrees": {"schema.agrees"},
    "schema_needs_arguments": {"schema.parses"},
    "secret_default": {"sensitive.default"},
    "secret_in_environment": {"sensitive.environment"},
    "secret_in_error": {"sensitive.not_echoed"},
    "secret_in_profile": {"sensitive.profiles"},
    "secret_in_result": {"sensitive.not_echoed"},
    "secret_in_type_error": {"sensitive.not_echoed"},
    "text_for_agents": {"stdout.pure", "output.json", "output.ndjson"},
    "traceback": {"run.no_traceback", "error.bad_type"},
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_tool_fails_for_the_reason_it_is_broken_and_for_no_other(
    name: str, tool: Callable[[str], list[str]]
) -> None:
    report = check(tool(f"broken_{name}"), timeout=3 if name == "hangs" else 20)
    assert set(report.failed) == BROKEN[name], report.text()
    assert not report.ok
    assert "stumbled" not in report.text()


def test_every_broken_tool_is_expected_to_break_something() -> None:
    present = {
        path.stem.removeprefix("broken_") for path in Path(__file__).parent.joinpath("tools").glob("broken_*.py")
    }
    assert present == {*BROKEN, "describe_banner"}


def test_a_tool_that_keeps_every_promise_passes_every_check(tool: Callable[[str], list[str]]) -> None:
    report = assert_conforms(tool("good"))
    assert report.tool == "shelf"
    assert report.counts["skipped"] == 0, report.text()
    assert report.runs <= 125


def test_a_tool_in_the_dialect_of_the_go_original_passes_and_the_additions_are_skipped(
    tool: Callable[[str], list[str]],
) -> None:
    report = assert_conforms(tool("good_go"))
    assert _ids(report, Outcome.SKIP) == {"input.same", "input.invalid", "fields.unknown", "limit.cuts"}


def test_when_describe_is_unusable_the_other_checks_are_skipped_for_that_reason(
    tool: Callable[[str], list[str]],
) -> None:
    report = check(tool("broken_describe_banner"))
    assert report.failed == ("describe.json",)
    reasons = {finding.reason for result in report.checks for finding in result.skips}
    assert len(reasons) == 1
    assert reasons.pop().startswith("describe is unusable: not JSON from here on: 'Welcome to shelf!")
    assert _ids(report, Outcome.PASS) <= {"describe.exit_code", "describe.stable", "run.ends"}


def test_two_examinations_of_one_tool_give_the_same_report(tool: Callable[[str], list[str]]) -> None:
    command = tool("broken_guard_missing")
    only = ["guard", "dry_run", "examples", "run"]
    assert check(command, only=only).text() == check(command, only=only).text()


def test_a_prefix_chooses_the_checks_and_the_order_of_the_report_stays(tool: Callable[[str], list[str]]) -> None:
    report = check(tool("good"), only=["tty", "describe.na"])
    assert [result.check for result in report.checks] == ["describe.name", "tty.text", "tty.error", "tty.agent"]
    assert report.ok


def test_a_failure_says_what_was_run_what_was_expected_and_what_came_out(tool: Callable[[str], list[str]]) -> None:
    report = check(tool("broken_dry_run_deletes"), only=["dry_run"])
    finding = report.checks[1].failures[0]
    assert finding.subject == "delete"
    assert finding.ran.endswith("broken_dry_run_deletes.py delete Dune --dry-run")
    assert finding.wrong == "changed work/shelf.json"
    assert "HOME" in finding.expected
    assert "exit code 0" in finding.output


def test_assert_conforms_raises_with_the_readable_report(tool: Callable[[str], list[str]]) -> None:
    with pytest.raises(AssertionError, match=r"✗ profile\.precedence") as caught:
        assert_conforms(tool("broken_profile_wins"), only=["profile"])
    assert "5 passed, 1 failed, 0 skipped" in str(caught.value)


def test_a_tool_that_hangs_everywhere_is_given_up_soon(script: Callable[[str], list[str]]) -> None:
    report = check(script("exec sleep 60"), timeout=0.2)
    assert "run.ends" in report.failed
    assert report.runs <= 3


def test_a_tool_that_hangs_behind_describe_is_given_up_after_three_runs(
    tool: Callable[[str], list[str]], script: Callable[[str], list[str]]
) -> None:
    document = " ".join(tool("good"))
    report = check(script(f'[ "$1" = describe ] && exec {document} describe; exec sleep 60'), timeout=0.5)
    assert "run.ends" in report.failed
    reasons = {finding.reason for result in report.checks for finding in result.skips}
    assert any("killed 3 times" in reason for reason in reasons)


def test_a_filter_does_not_turn_an_unusable_tool_into_a_passing_one(
    tool: Callable[[str], list[str]], script: Callable[[str], list[str]]
) -> None:
    assert check(tool("broken_describe_banner"), only=["guard", "describe.exit_code"]).failed == ("describe.json",)
    hanging = script(f'case "$*" in describe|--schema) exec {" ".join(tool("good"))} "$@";; esac; exec sleep 60')
    assert "run.ends" in check(hanging, only=["guard"], timeout=0.5).failed


def test_a_tool_that_prints_nothing_fails_and_nothing_stumbles(script: Callable[[str], list[str]]) -> None:
    report = check(script("exit 0"))
    assert report.failed == ("describe.json",)
    assert report.text().count("describe is unusable") <= 3


def _ids(report: Report, outcome: Outcome) -> set[str]:
    return {result.check for result in report.checks if result.outcome is outcome}
