"""The verbs of the fleet, as processes, on pipes and on a terminal, against a real daemon whose fleet stands still."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.covey.cli.fleet_covey import LIMIT_S, PROGRAM, FleetCovey, serving
from tests.covey.cli.terminal import Terminal, plain
from tests.covey.conftest import Covey


def test_ps_is_list_panes(seen: FleetCovey) -> None:
    short, long = seen.run("ps").result, seen.run("list", "panes").result
    assert [item["ref"] for item in short["items"]] == [item["ref"] for item in long["items"]]
    assert seen.run("--output", "json", "ps", "--needs-action").result["summary"]["total"] == 2


@pytest.mark.parametrize(
    ("words", "total"),
    [
        (["--agent", "codex"], 1),
        (["--agent=codex"], 1),
        (["--agent-type", "codex", "--agent-type", "gemini"], 2),
        (["--agent"], 6),
        (["--agent", "codex", "--json"], 1),
        (["--target", "vm1"], 2),
        (["--all-targets"], 6),
        (["--target-session", "host/api"], 2),
        (["--session", "web", "--state", "running"], 1),
        (["--needs-action"], 2),
    ],
)
def test_every_filter_can_be_typed(seen: FleetCovey, words: list[str], total: int) -> None:
    result = seen.run("list", "panes", *words).result
    assert result["summary"]["total"] == len(result["items"]) == total


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["list", "panes", "--target", "vm9"], 5, "target_not_found"),
        (["list", "panes", "--state", "asleep"], 1, "argument_error"),
        (["list", "panes", "--target", "host", "--all-targets"], 1, "flag_error"),
        (["why", "%99"], 5, "E_REF_NOT_FOUND"),
        (["why", "%3"], 1, "E_REF_AMBIGUOUS"),
        (["wait", "%9", "--state", "idle", "--timeout", "50ms"], 4, "timeout"),
        (["wait", "%99", "--state", "idle"], 5, "E_REF_NOT_FOUND"),
        (["wait", "--state", "idle"], 1, "argument_error"),
        (["watch", "--interval", "soon"], 1, "argument_error"),
        (["logs", "--lines=--"], 1, "flag_error"),
        (["bar", "--format=--"], 1, "flag_error"),
        (["target", "remove", "vm1"], 1, "confirmation_required"),
        (["target", "connect", "vm9"], 5, "target_not_found"),
        (["adapters", "explain", "claude", "--screen", "no-such-file"], 1, "user_error"),
    ],
)
def test_what_cannot_be_done_ends_with_its_own_code(seen: FleetCovey, words: list[str], code: int, error: str) -> None:
    ran = seen.run(*words)
    envelope = ran.stderr[ran.stderr.rindex("{\n") :]  # behind what was told about progress, a line each
    assert (ran.code, json.loads(envelope)["error"]) == (code, error), ran.stderr


def test_windows_sessions_and_why_answer(seen: FleetCovey) -> None:
    assert seen.run("list", "windows", "--with-agent-status").result["items"][0]["agents"]
    assert len(seen.run("list", "sessions", "--group-by", "session-name").result["items"]) == 3
    assert seen.run("why", "host/api:2.1").result["item"]["identity"]["pane_id"] == "%14"


def test_a_wait_that_is_met_says_by_whom(seen: FleetCovey) -> None:
    result = seen.run("wait", "--any", "--state", "waiting_approval", "--state", "error").result
    assert (result["outcome"], result["items"][0]["identity"]["pane_id"]) == ("met", "%14")


def test_a_wait_says_what_it_waits_for_in_seconds_and_how_things_are(seen: FleetCovey) -> None:
    late = seen.run("wait", "%14", "--state", "idle", "--timeout", "0.2")
    assert late.code == 4
    assert '"message": "not idle within 0.2s: claude %14 is waiting_approval"' in late.stderr


def test_a_wait_without_a_state_is_until_it_needs_you_or_is_done(seen: FleetCovey) -> None:
    assert seen.run("wait", "%14").result["items"][0]["state"] == "waiting_approval"
    late = seen.run("wait", "%9", "--timeout", "0.2")
    assert late.code == 4
    assert "waiting until it needs you or is done, at most 0.2s" in late.stderr
    assert '"message": "not done, nor in need of you, within 0.2s: claude %9 is running"' in late.stderr


def test_a_wait_is_not_longer_than_was_asked_for_when_the_daemon_goes(tmp_path: Path) -> None:
    home = FleetCovey(tmp_path)
    with serving(home, signal.SIGKILL):
        waiting = subprocess.Popen(
            [*PROGRAM, "covey", "wait", "%14", "--state", "idle", "--timeout", "1"],
            cwd=home.folder,
            env=home.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        waiting.stderr.readline()
    told = waiting.communicate(timeout=LIMIT_S)[1]
    assert waiting.returncode == 4, told


def test_bar_prints_its_line_bare_and_json_when_asked(seen: FleetCovey) -> None:
    assert seen.run("bar").stdout == "2▲ 2● 1○ 1?\n"
    assert seen.run("bar", "--format", "tmux").stdout.startswith("#[fg=yellow]2▲#[default]")
    assert seen.run("bar", "--json").result["needs_action"] == 2


def test_a_status_bar_says_so_when_nobody_looks(covey: Covey) -> None:
    shown = covey.run("bar", "--format", "tmux")
    assert (shown.code, shown.stdout) == (2, "#[dim]covey is not running#[default]\n")
    menu = covey.run("bar", "--format", "swiftbar")
    assert (menu.code, menu.stdout.splitlines()[:2]) == (2, ["covey is not running", "---"])
    assert covey.run("bar").stdout == ""


def test_a_connection_that_may_take_long_says_so_before(seen: FleetCovey) -> None:
    ran = seen.run("target", "connect", "vm1")
    assert ran.code == 0
    told = json.loads(ran.stderr.splitlines()[0])
    assert told["stage"] == "connecting"
    assert "vm1" in told["message"]


def test_removing_a_target_needs_a_yes(seen: FleetCovey, terminals: list[Terminal]) -> None:
    assert seen.run("target", "remove", "vm1", "--yes").result == {"removed": True, "target": "vm1"}
    for answer, code, said in (("n\n", 9, "Nothing was removed"), ("y\n", 0, "vm1 is forgotten")):
        terminals.append(Terminal(seen, "target", "remove", "vm1"))
        terminals[-1].until("[y/N]")
        terminals[-1].type(answer)
        terminals[-1].until(said)
        assert terminals[-1].ended()[0] == code


def test_a_reduced_list_as_ndjson_is_a_row_a_line_too(seen: FleetCovey) -> None:
    whole = [json.loads(line) for line in seen.run("ps", "--output", "ndjson").stdout.splitlines()]
    count = len(whole) - 1
    *rows, last = map(json.loads, seen.run("ps", "--output", "ndjson", "--fields", "state,ref").stdout.splitlines())
    assert [row.keys() for row in rows] == [{"state", "ref"}] * count
    assert last["status"] == "ok"
    row, last = map(json.loads, seen.run("ps", "--output", "ndjson", "--limit", "1").stdout.splitlines())
    assert row["ref"] == whole[0]["ref"]
    assert last["result"].get("total", 1) == count


def test_a_list_as_ndjson_is_a_row_a_line(seen: FleetCovey) -> None:
    *rows, last = map(json.loads, seen.run("ps", "--output", "ndjson").stdout.splitlines())
    assert [row["identity"]["pane_id"] for row in rows][:2] == ["%3", "%14"]
    assert (len(rows), last["status"], last["result"]["summary"]["total"]) == (6, "ok", 6)


def test_signs_become_ascii_where_the_terminal_is_not_utf_8(seen: FleetCovey, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(seen, "ps", PYTHONIOENCODING="ascii", NO_COLOR="1"))
    shown = plain(terminals[-1].ended()[1])
    assert shown[1].startswith("! waiting_input")
    assert all(len(line) <= 80 and line.isascii() and "\\u" not in line for line in shown)
    assert seen.run("bar", PYTHONIOENCODING="ascii").stdout == "2! 2* 1o 1?\n"


def test_a_list_has_the_order_that_was_asked_for(seen: FleetCovey) -> None:
    rows = seen.run("ps", "--sort", "agent").result["items"]
    assert [row["agent"] for row in rows] == sorted(row["agent"] for row in rows)


def test_every_column_is_shown_when_asked_for(seen: FleetCovey, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(seen, "ps", "--wide", columns=200, NO_COLOR="1"))
    assert plain(terminals[-1].ended()[1])[0].split() == [
        "STATE",
        "AGENT",
        "VERSION",
        "WHERE",
        "PANE",
        "SURE",
        "FOR",
        "WHAT",
    ]


def test_ps_on_a_terminal_is_a_table_in_colour_unless_declined(seen: FleetCovey, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(seen, "ps"))
    code, shown = terminals[-1].ended()
    assert code == 0
    assert "\x1b[33m▲\x1b[0m" in shown
    assert all(len(line) <= 80 for line in plain(shown))
    terminals.append(Terminal(seen, "ps", NO_COLOR="1"))
    assert "\x1b" not in terminals[-1].ended()[1]


def test_a_limit_holds_for_people_too(seen: FleetCovey, terminals: list[Terminal]) -> None:
    terminals.append(Terminal(seen, "ps", "--limit", "1"))
    shown = terminals[-1].ended()[1]
    assert "waiting_input" in shown
    assert "idle" not in shown


def test_without_a_daemon_every_verb_says_how_to_start_it(covey: Covey) -> None:
    alone = FleetCovey(covey.folder)
    for words in (["ps"], ["watch"], ["wait", "--any", "--state", "idle"], ["bar"], ["why", "%1"], ["target", "list"]):
        ran = alone.run(*words)
        assert (ran.code, ran.error["error"]) == (2, "daemon_not_running"), words


def test_an_alias_that_is_misspelt_is_suggested(seen: FleetCovey) -> None:
    error = seen.run("pss").error
    assert "Did you mean ps?" in error["suggestion"]
    assert "ps" in error["valid_values"]
