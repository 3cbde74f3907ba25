"""`covey watch`, on pipes and on a terminal."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from covey.cli.verbs.watch import different
from covey.contract import fleet
from covey.kernel.client import Client
from tests.covey.cli.fleet_covey import PROGRAM, FleetCovey, serving
from tests.covey.cli.terminal import Terminal, plain
from tests.covey.conftest import Covey


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


def test_watch_as_a_table_can_be_piped_too(seen: FleetCovey) -> None:
    shown = seen.run("watch", "--once", "--format", "table").stdout
    assert shown.startswith("  STATE             AGENT")
    assert "\x1b" not in shown


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
