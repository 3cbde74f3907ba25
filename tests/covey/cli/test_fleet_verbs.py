"""The verbs of the fleet, as processes, on pipes and on a terminal, against a real daemon whose fleet stands still."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.cli.verbs.watch import different
from covey.contract import fleet
from covey.kernel.client import Client
from tests.covey.cli.fleet_covey import LIMIT_S, PROGRAM, FleetCovey, serving
from tests.covey.conftest import Covey


class Terminal:
    """A verb on a terminal of its own."""

    def __init__(self, covey: FleetCovey, *words: str, columns: int = 80, rows: int = 24, **extra: str) -> None:
        self._side, theirs = pty.openpty()
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.seen = ""
        self.process = subprocess.Popen(
            [*PROGRAM, "covey", *words],
            cwd=covey.folder,
            env=covey.environment(**{"TERM": "xterm-256color", **extra}),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            process_group=0,  # as a shell starts it: with a parent that can wake it when it is suspended
        )

    def resize(self, columns: int, rows: int) -> None:
        """As a window does; whose terminal is not the controlling one gets no signal for it by itself."""
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, text: str) -> str:
        """Everything that was shown up to this text."""
        deadline = time.monotonic() + LIMIT_S
        while text not in self.seen:
            left = deadline - time.monotonic()
            assert left > 0, self.seen
            if select.select([self._side], [], [], left)[0]:
                self.seen += os.read(self._side, 65536).decode()
        end = self.seen.index(text) + len(text)
        shown, self.seen = self.seen[:end], self.seen[end:]
        return shown

    def type(self, text: str) -> None:
        os.write(self._side, text.encode())

    def ended(self) -> tuple[int, str]:
        """The exit code and the rest that was shown."""
        code = self.process.wait(LIMIT_S)
        while select.select([self._side], [], [], 0)[0]:
            try:
                part = os.read(self._side, 65536)
            except OSError:
                break
            if not part:
                break
            self.seen += part.decode()
        return code, self.seen

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._side)
        os.close(self._theirs)

    def current_modes(self) -> list[Any]:
        return termios.tcgetattr(self._theirs)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "").split("\n")


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
        (["list", "panes", "--target", "vm9"], 5, "E_TARGET_NOT_FOUND"),
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
        (["target", "connect", "vm9"], 5, "E_TARGET_NOT_FOUND"),
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


TINY = """name = "tiny"
process = { names = ["tiny"] }
screens = [{ name = "asks", state = "waiting_input", match = '^Well\\?', detail = '^(?P<detail>.*)\\nWell' }]
titles = [{ name = "works", state = "running", match = '^tiny works$' }]
"""


def test_a_saved_screen_is_read_where_the_caller_stands_and_with_what_is_written_there_now(covey: Covey) -> None:
    (covey.home / "adapters").mkdir(parents=True, mode=0o700)
    covey.home.chmod(0o700)
    (covey.home / "adapters" / "tiny.toml").write_text(TINY)
    (covey.home / "adapters" / "broken.toml").write_text("name = ")
    (covey.folder / "screen.txt").write_bytes("from a file \x1b[1m\xe9\nWell?".encode())
    read = covey.run("adapters", "explain", "tiny", "--screen", "screen.txt")
    assert (read.result["state"], read.result["rule"]) == ("waiting_input", "asks")
    assert [tried["source"] for tried in read.result["tried"]] == ["screen"]
    assert "broken.toml" in read.stderr
    titled = covey.run(
        "adapters", "explain", "tiny", "--screen", "-", "--title", "tiny sleeps", stdin="from a pipe\nWell?"
    ).result
    assert titled["detail"] == "from a pipe"
    assert [tried["rule"] for tried in titled["tried"] if tried["source"] == "title"] == ["works"]


def test_the_doctor_finds_a_description_that_cannot_be_used(covey: Covey) -> None:
    (covey.home / "adapters").mkdir(parents=True, mode=0o700)
    covey.home.chmod(0o700)
    (covey.home / "adapters" / "tiny.toml").write_text(TINY)
    found = covey.run("doctor").result["findings"]
    assert [finding["detail"] for finding in found if finding["name"] == "adapters"] == ["1 of your own"]
    (covey.home / "adapters" / "broken.toml").write_text('name = "x\n')
    looked = covey.run("doctor")
    result = json.loads(looked.stdout)["result"]
    told = next(finding for finding in result["findings"] if finding["name"] == "adapters")
    assert (looked.code, told["status"], result["ok"]) == (3, "fail", False)
    assert "broken.toml, line 1" in told["detail"]
    assert "broken.toml" in told["fix"]


def test_a_status_bar_says_so_when_nobody_looks(covey: Covey) -> None:
    shown = covey.run("bar", "--format", "tmux")
    assert (shown.code, shown.stdout) == (2, "#[dim]covey is not running#[default]\n")
    menu = covey.run("bar", "--format", "swiftbar")
    assert (menu.code, menu.stdout.splitlines()[:2]) == (2, ["covey is not running", "---"])
    assert covey.run("bar").stdout == ""


def claude_on_path(folder: Path, version: str) -> str:
    """A PATH on which Claude Code is of this version."""
    program = folder / f"claude-{version}" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.defpath}"


def test_a_connection_that_may_take_long_says_so_before(seen: FleetCovey) -> None:
    ran = seen.run("target", "connect", "vm1")
    assert ran.code == 0
    told = json.loads(ran.stderr.splitlines()[0])
    assert told["stage"] == "connecting"
    assert "vm1" in told["message"]


def test_a_dry_run_of_an_integration_is_a_plan(seen: FleetCovey) -> None:
    path = claude_on_path(seen.folder, "2.1.325")
    planned = json.loads(seen.run("integrate", "claude", "--dry-run", PATH=path).stdout)
    assert (planned["status"], planned["result"]["state"]) == ("plan", "absent")
    assert all(file["about"] and not file["diff"] for file in planned["result"]["files"])
    assert [one["version"] for one in planned["result"]["programs"]] == ["2.1.325"]
    assert all(
        file["diff"] for file in seen.run("integrate", "claude", "--dry-run", "--verbose", PATH=path).result["files"]
    )
    done = json.loads(seen.run("integrate", "claude", PATH=path).stdout)
    assert (done["status"], done["result"]["state"]) == ("ok", "installed")
    undone = json.loads(seen.run("integrate", "claude", "--remove").stdout)
    assert (undone["status"], undone["result"]["state"]) == ("ok", "absent")


def test_an_integration_that_the_installed_version_may_refuse_is_not_made_and_one_that_it_does_refuse_is_found(
    seen: FleetCovey,
) -> None:
    old = claude_on_path(seen.folder, "2.0.76")
    refused = seen.run("integrate", "claude", PATH=old)
    assert (refused.code, json.loads(refused.stderr or refused.stdout)["error"]) == (1, "not_accepted")
    assert not (seen.folder / ".claude" / "settings.json").exists()
    planned = seen.run("integrate", "claude", "--dry-run", PATH=old).result
    assert "would be refused without --any-version" in planned["notes"][0]
    assert (
        seen.run("integrate", "claude", "--any-version", PATH=claude_on_path(seen.folder, "2.1.325")).result["state"]
        == "installed"
    )
    looked = json.loads(seen.run("doctor", PATH=claude_on_path(seen.folder, "2.1.77")).stdout)["result"]
    told = next(finding for finding in looked["findings"] if finding["name"] == "claude hooks")
    assert (told["status"], told["fix"]) == ("fail", "covey integrate claude")
    assert "2.1.77 does not know PermissionDenied, StopFailure" in told["detail"]
    assert seen.run("integrate", "claude", PATH=claude_on_path(seen.folder, "2.1.77")).result["changed"]
    healed = json.loads(seen.run("doctor", PATH=claude_on_path(seen.folder, "2.1.77")).stdout)["result"]
    assert next(finding for finding in healed["findings"] if finding["name"] == "claude hooks")["status"] == "ok"
    assert seen.run("integrate", "claude", "--remove").result["state"] == "absent"


def test_removing_a_target_needs_a_yes(seen: FleetCovey, terminals: list[Terminal]) -> None:
    assert seen.run("target", "remove", "vm1", "--yes").result == {"removed": True, "target": "vm1"}
    for answer, code, said in (("n\n", 9, "Nothing was removed"), ("y\n", 0, "vm1 is forgotten")):
        terminals.append(Terminal(seen, "target", "remove", "vm1"))
        terminals[-1].until("[y/N]")
        terminals[-1].type(answer)
        terminals[-1].until(said)
        assert terminals[-1].ended()[0] == code


def test_watch_through_a_pipe_is_one_object_a_line(seen: FleetCovey) -> None:
    first, last = map(json.loads, seen.run("watch", "--once").stdout.splitlines())
    assert (first["event"], first["scope"], len(first["items"])) == ("snapshot", "panes", 6)
    assert last["result"]["events"] == 1
    assert json.loads(seen.run("watch", "--once", "--scope", "sessions").stdout.splitlines()[0])["scope"] == "sessions"


def test_a_watch_can_be_filtered_as_a_list_can(seen: FleetCovey) -> None:
    for words, total in (
        (["--needs-action"], 2),
        (["--state", "running,idle"], 3),
        (["--agent", "codex"], 1),
        (["--session", "web"], 3),
    ):
        line = json.loads(seen.run("watch", "--once", *words).stdout.splitlines()[0])
        assert (line["summary"]["total"], len(line["items"])) == (total, total)


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


def test_watch_as_a_table_can_be_piped_too(seen: FleetCovey) -> None:
    shown = seen.run("watch", "--once", "--format", "table").stdout
    assert shown.startswith("  STATE             AGENT")
    assert "\x1b" not in shown


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


def test_a_live_table_is_left_by_ctrl_c_and_leaves_the_terminal_as_it_was(
    seen: FleetCovey, terminals: list[Terminal]
) -> None:
    terminal = Terminal(seen, "watch")
    terminals.append(terminal)
    shown = terminal.until("covey why")
    assert "\x1b[?1049h\x1b[?25l" in shown
    assert "waiting_approval" in shown
    assert terminal.current_modes() != terminal.modes
    terminal.type("typed by mistake")
    terminal.until("covey why")  # drawn again, since ages grow
    terminal.process.send_signal(signal.SIGINT)
    code, rest = terminal.ended()
    assert code == 0
    assert rest.endswith("\x1b[?25h\x1b[?1049l")
    assert "typed by mistake" not in rest
    assert terminal.current_modes() == terminal.modes


def test_on_a_terminal_without_a_cursor_the_table_is_printed_when_it_changes(
    seen: FleetCovey, terminals: list[Terminal]
) -> None:
    terminal = Terminal(seen, "watch", TERM="dumb")
    terminals.append(terminal)
    shown = terminal.until("covey why vm1/web:1.0")
    assert "\x1b" not in shown
    terminal.process.send_signal(signal.SIGINT)
    code, rest = terminal.ended()
    assert (code, "STATE" in rest) == (9, False)


def test_pictures_that_show_the_same_are_not_repeated() -> None:
    item = {"identity": {}, "state": "idle", "age_ms": 1}
    same = {"items": [item], "targets": [{"health": "ok"}]}
    older = {**same, "items": [{**item, "age_ms": 2000}]}
    down = {**older, "targets": [{"health": "down"}]}
    assert list(different(iter([same, older, down, down, {**down, "lost": True}]))) == [
        same,
        down,
        {**down, "lost": True},
    ]


def test_a_live_table_follows_the_size_of_the_terminal(seen: FleetCovey, terminals: list[Terminal]) -> None:
    terminal = Terminal(seen, "watch", "--interval", "1h", columns=120)
    terminals.append(terminal)
    terminal.until("covey why")
    terminal.resize(60, 6)
    terminal.process.send_signal(signal.SIGWINCH)
    terminal.until("\x1b[H")  # what is left of the first table ends here
    shown = plain(terminal.until("q quit"))
    assert "  … 4 more" in shown
    assert all(len(line) <= 60 for line in shown)
    terminal.process.terminate()
    assert terminal.ended()[1].endswith("\x1b[?25h\x1b[?1049l")


@pytest.mark.skipif(sys.platform != "linux", reason="only there can a signal be sent to one thread")
def test_an_interrupt_that_comes_to_another_thread_ends_the_table_too(
    seen: FleetCovey, terminals: list[Terminal]
) -> None:
    """As the kernel does it when the main thread has another signal to see to."""
    terminal = Terminal(seen, "watch", "--interval", "1h")
    terminals.append(terminal)
    terminal.until("covey why")
    pid = terminal.process.pid
    (other,) = (int(task.name) for task in Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid))
    assert ctypes.CDLL(None).tgkill(pid, other, signal.SIGINT) == 0
    assert terminal.ended()[0] == 0


def test_a_suspended_table_gives_the_terminal_back_and_takes_it_again(
    seen: FleetCovey, terminals: list[Terminal]
) -> None:
    terminal = Terminal(seen, "watch", "--interval", "1h")
    terminals.append(terminal)
    terminal.until("covey why")
    terminal.process.send_signal(signal.SIGTSTP)
    terminal.until("\x1b[?1049l")
    assert os.waitpid(terminal.process.pid, os.WUNTRACED)[1] & 0xFF == 0x7F
    terminal.process.send_signal(signal.SIGCONT)
    terminal.until("\x1b[?1049h")
    terminal.until("covey why")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.ended()[0] == 0


def test_without_a_daemon_every_verb_says_how_to_start_it(covey: Covey) -> None:
    alone = FleetCovey(covey.folder)
    for words in (["ps"], ["watch"], ["wait", "--any", "--state", "idle"], ["bar"], ["why", "%1"], ["target", "list"]):
        ran = alone.run(*words)
        assert (ran.code, ran.error["error"]) == (2, "daemon_not_running"), words


def test_a_client_can_follow_the_stream_itself(seen: FleetCovey) -> None:
    watch = next(operation for operation in fleet.OPERATIONS if operation.name == "watch")
    message = next(Client(str(seen.node / "sock")).stream(watch, {"scope": "windows", "once": True}))
    assert (message["event"], message["data"]["scope"]) == ("snapshot", "windows")


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_watcher_outlives_the_daemon_and_goes_on_with_the_next(covey: Covey, end: signal.Signals) -> None:
    alone = FleetCovey(covey.folder)
    with serving(alone, end):
        watcher = subprocess.Popen(
            [*PROGRAM, "covey", "watch"],
            env=alone.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert watcher.stdout is not None
        first = json.loads(watcher.stdout.readline())
    try:
        with serving(alone):
            again = json.loads(watcher.stdout.readline())
            assert (first["event"], again["event"], len(again["items"])) == ("snapshot", "snapshot", 6)
    finally:
        watcher.kill()
        watcher.communicate()
