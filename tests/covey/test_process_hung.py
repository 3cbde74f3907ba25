"""Daemons that hang, and homes whose files are removed under a running daemon: `up` and `down` always find a way."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import combinations

import pytest

from covey.cli.perform import QUICK_S
from covey.kernel.processes.process import birth
from murli import EXIT_TIMEOUT
from tests.covey.conftest import Covey
from tests.covey.fleet.room import until

pytestmark = pytest.mark.usefixtures("no_forks")

HUNG_DAEMON = """
import asyncio, contextlib, sys, time
from covey.kernel.daemon_process import run
from covey.kernel.home import Home
from covey.kernel.subsystem import Opened, Subsystem
from covey.node.subsystems import SUBSYSTEMS

@contextlib.asynccontextmanager
async def blocked(context):
    asyncio.get_running_loop().call_later(0.5, time.sleep, 600)
    yield Opened()

home = Home(sys.argv[1])
home.node.prepare()
run(home.node, [*SUBSYSTEMS, Subsystem("blocked", blocked)], lambda news: print(news, flush=True))
"""
HUNG_START = """
import sys
if "covey.node" in sys.orig_argv:
    import time
    print("about to hang", file=sys.stderr, flush=True)
    time.sleep(600)
"""
IMPATIENT = """
import sys
from covey.cli import main
from covey.cli.verbs import process
from covey.kernel import client

client.SILENCE_S = 2.0
client.Client.__init__.__kwdefaults__["timeout"] = 2.0
process.READY_S, process.ANSWER_S, process.STOP_S, process.TERM_S = 3.0, 2.0, 3.0, 1.0
main(sys.argv[1:])
"""
"""The command with less patience than it has for people."""


def impatient(covey: Covey, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", IMPATIENT, *words],
        env=covey.environment(**extra),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@contextmanager
def hung(covey: Covey) -> Iterator[subprocess.Popen[str]]:
    """A daemon whose loop is blocked for good."""
    with subprocess.Popen(
        [sys.executable, "-c", HUNG_DAEMON, str(covey.home)], env=covey.environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert "pid" in process.stdout.readline()
            until(lambda: impatient(covey, "health").returncode == EXIT_TIMEOUT)
            yield process
        finally:
            process.kill()


def test_a_daemon_that_was_stopped_by_a_signal_is_ended(daemon: Covey) -> None:
    pid = daemon.pid
    os.kill(pid, signal.SIGSTOP)
    ended = impatient(daemon, "down")
    assert ended.returncode == 0, ended.stderr
    assert '"terminated"' in ended.stdout
    assert birth(pid) == ""
    assert daemon.run("up").result["already_running"] is False


def test_readers_of_a_stopped_daemon_give_up_soon_and_say_how_to_end_it(daemon: Covey) -> None:
    os.kill(daemon.pid, signal.SIGSTOP)
    verbs = (["ps"], ["needs"], ["why", "%0"], ["status"], ["bar"])
    with ThreadPoolExecutor() as pool:
        ran = pool.map(lambda verb: daemon.run(*verb), verbs)
    for verb, one in zip(verbs, ran, strict=True):
        error = one.error
        assert (error["code"], error["message"]) == (EXIT_TIMEOUT, f"the daemon did not answer within {QUICK_S:g} s"), (
            verb
        )
        assert "covey down && covey up" in error["suggestion"]
    waited = daemon.run("wait", "--timeout", "1s").error
    assert (waited["code"], waited["message"]) == (EXIT_TIMEOUT, "the time is up, and the daemon does not answer")
    assert "covey down && covey up" in waited["suggestion"]
    assert "covey does not answer" in daemon.run("bar", "--format", "tmux").stdout


def test_a_daemon_whose_loop_is_blocked_is_killed_and_the_command_says_so(covey: Covey) -> None:
    with hung(covey) as process:
        shown = impatient(covey, "up")
        assert "does not work" in shown.stderr
        assert "covey down" in shown.stderr
        ended = impatient(covey, "down", "--output", "text")
        assert ended.returncode == 0, ended.stderr
        assert "SIGKILL" in ended.stdout
        assert process.wait(30) == -signal.SIGKILL
    assert covey.run("up").code == 0


def test_a_process_that_only_has_its_pid_in_the_file_is_left_alone(daemon: Covey) -> None:
    pid = daemon.pid
    with subprocess.Popen(["sleep", "600"]) as innocent, contextlib.ExitStack() as after:
        after.callback(innocent.kill)
        (daemon.node / "pid").write_text(f"{innocent.pid}\n")
        os.kill(pid, signal.SIGSTOP)
        ended = impatient(daemon, "down")
        assert ended.returncode == 0, ended.stderr
        assert birth(pid) == ""
        assert innocent.poll() is None


def test_a_daemon_that_is_not_ready_in_time_does_not_stay_behind(covey: Covey) -> None:
    (covey.folder / "sitecustomize.py").write_text(HUNG_START)
    shown = impatient(covey, "up", PYTHONPATH=str(covey.folder))
    assert shown.returncode == 2
    assert "was not ready after 3 s and has been ended" in shown.stderr
    assert "about to hang" in shown.stderr
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"covey.node {covey.home}" not in found
    assert covey.run("up").result["already_running"] is False


def test_a_daemon_that_crashes_at_its_start_is_told_with_its_last_words(covey: Covey) -> None:
    (covey.folder / "uvloop.py").write_text("raise SystemExit('no loop today')")
    ran = covey.run("up", PYTHONPATH=str(covey.folder))
    assert "ended before it was ready (exit code 1)" in ran.error["message"]
    assert "no loop today" in ran.error["message"]


def test_a_mistake_in_the_configuration_is_the_same_error_for_up_and_for_others(covey: Covey) -> None:
    covey.home.mkdir(mode=0o700)
    (covey.home / "config.toml").write_text("[log]\nlevel = 3\n")
    up, other = covey.run("up"), covey.run("config", "list")
    assert (up.code, up.error["error"], up.error["recoverable"]) == (
        other.code,
        other.error["error"],
        other.error["recoverable"],
    )


REMOVABLE = ("pid", "sock", "http.port")


@pytest.mark.parametrize(
    "removed", [names for count in (1, 2, 3) for names in combinations(REMOVABLE, count)], ids="+".join
)
def test_removed_files_are_made_anew_and_there_is_never_a_second_daemon(
    daemon: Covey, removed: tuple[str, ...]
) -> None:
    pid, port = daemon.pid, daemon.port
    for name in removed:
        (daemon.node / name).unlink()
    again = daemon.run("up").result
    assert (again["pid"], again["already_running"]) == (pid, True)
    until(lambda: all((daemon.node / name).exists() for name in REMOVABLE))
    assert (daemon.pid, daemon.port) == (pid, port)
    assert daemon.run("status").result["pid"] == pid
    assert daemon.run("down").result == {"pid": pid, "stopping": True, "how": "asked"}
    assert not (daemon.node / "sock").exists()


def test_a_daemon_without_its_socket_can_be_stopped_at_once(daemon: Covey) -> None:
    pid = daemon.pid
    (daemon.node / "sock").unlink()
    assert daemon.run("down").result["pid"] == pid
    assert birth(pid) == ""


def test_connections_stay_open_while_the_socket_is_made_anew(daemon: Covey) -> None:
    with contextlib.closing(daemon.unix()) as kept:
        kept.request("GET", "/v1/health")
        assert kept.getresponse().read()
        (daemon.node / "sock").unlink()
        until((daemon.node / "sock").exists)
        kept.request("GET", "/v1/health")
        assert kept.getresponse().status == 200


def test_a_daemon_whose_directory_is_removed_ends_and_leaves_the_next_one_alone(daemon: Covey) -> None:
    pid = daemon.pid
    shutil.rmtree(daemon.node)
    second = daemon.run("up").result
    until(lambda: birth(pid) == "")
    assert second["pid"] != pid
    assert daemon.run("status").result["pid"] == second["pid"]
    assert (daemon.node / "sock").exists()


def test_a_database_that_is_removed_is_told_in_the_status(daemon: Covey) -> None:
    (daemon.node / "node.db").unlink()
    problems = until(lambda: daemon.run("status").result["problems"])
    assert "covey backup" in problems[0]
