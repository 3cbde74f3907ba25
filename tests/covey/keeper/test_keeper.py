"""Kept sessions with a real daemon and a real tmux: started, crashed, ended on purpose, and found again."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from covey.kernel.processes.process import birth
from tests.covey.conftest import COMMAND
from tests.covey.fleet.room import until
from tests.covey.keeper.kept import Kept

STARTED, ENDED = "keeper.started", "keeper.ended"


@pytest.mark.once
def test_a_session_is_started_shown_stopped_and_forgotten(kept: Kept) -> None:
    kept.begin()
    missing = kept.keep("status", "api")
    assert (missing.code, missing.error["error"]) == (5, "not_found")
    assert "covey keep start api" in missing.error["suggestion"]
    kept.start("--model", "opus", "--", "--verbose")
    shown = kept.keep("status", "api").result["session"]
    assert (shown["phase"], shown["model"], shown["args"]) == ("running", "opus", ["--verbose"])
    assert kept.tmux("list-sessions", "-F", "#{session_name}") == "api"
    twice = kept.keep("start", "api")
    assert (twice.code, twice.error["message"]) == (7, "api runs already")
    other = kept.keep("start", "api", "--agent", "codex")
    assert "with another agent" in other.error["message"]
    assert "covey keep stop api && covey keep forget api" in other.error["suggestion"]
    os.mkfifo(Path(shown["path"]) / "out.phone")
    unread = kept.keep("send", "api", "phone", "hello")
    assert unread.error["message"] == (
        "the message cannot be sent on phone: no program reads it now; other channels to send to: none"
    )
    (Path(shown["path"]) / "out.phone").unlink()
    running = kept.keep("forget", "api")
    assert (running.code, "covey keep stop api" in running.error["suggestion"]) == (7, True)

    folder = Path(shown["path"])
    pid = kept.agent_pid()
    stopped = kept.keep("stop", "api").result
    assert (stopped["phase"], stopped["why"]) == ("stopped", "it was stopped")
    assert not birth(pid)
    assert kept.keep("stop", "api").result["phase"] == "stopped"
    kept.write("kept for later")  # the channels of a session that does not run are read
    assert kept.when(waiting=1)["phase"] == "stopped"
    assert [item["name"] for item in kept.keep("list").result["items"]] == ["api"]
    assert kept.keep("forget", "api").result == {
        "name": "api",
        "messages": 1,
        "worktree": "",
        "removed": False,
        "why": "",
    }
    assert kept.keep("list").result["items"] == []
    assert not folder.exists()
    assert not (kept.covey.node / "keeper" / "api").exists()


def test_a_session_that_was_ended_on_purpose_stays_ended_and_a_restart_keeps_the_conversation(kept: Kept) -> None:
    kept.begin()
    first = kept.start()
    kept.write("remember me")
    until(lambda: kept.kept_events("keeper.delivered"))
    again = kept.keep("restart", "api").result
    assert (again["phase"], again["conversation"]) == ("running", first["conversation"])
    kept.ready()
    assert [start["options"][:2] for start in kept.starts] == [
        ["--session-id", first["conversation"]],
        ["--resume", first["conversation"]],
    ]
    kept.tmux("new-session", "-d", "-s", "mine", "sleep 1000")  # or tmux ends with its last session
    kept.tmux("send-keys", "-t", "=api:", "C-c")
    ended = kept.when(phase="stopped")
    assert (ended["why"], ended["restarts"]) == ("it was ended at its terminal", 0)
    until(lambda: kept.tmux("list-sessions", "-F", "#{session_name}") == "mine")

    assert kept.start()["conversation"] == first["conversation"]
    kept.tmux("kill-session", "-t", "=api")
    assert kept.when(phase="stopped")["why"] == "its tmux pane was closed"
    assert len(kept.starts) == 3
    until(lambda: len(kept.kept_events(ENDED)) == 3)
    assert [event.get("starts_in") for event in kept.kept_events(ENDED)] == [None] * 3

    kept.tmux("kill-session", "-t", "=mine")  # and with it the server
    kept.start()
    kept.tmux("kill-session", "-t", "=api")  # the last session of a server that Covey has started
    assert kept.when(phase="stopped")["why"] == "its tmux pane was closed"


def test_a_crashed_agent_comes_back_in_its_pane_after_longer_and_longer_pauses(kept: Kept) -> None:
    kept.begin()
    first = kept.start()
    leftover = subprocess.Popen(["sleep", "1000"], env={**os.environ, **kept.starts[0]["env"]})
    kept.write("remember me")
    until(lambda: kept.kept_events("keeper.delivered"))
    pid = kept.agent_pid()
    os.kill(pid, signal.SIGKILL)
    again = kept.ready(restarts=1)
    assert leftover.wait() == -signal.SIGTERM  # what it left running was ended first
    assert (again["pane_id"], again["conversation"]) == (first["pane_id"], first["conversation"])
    assert kept.agent_pid() != pid
    kept.tmux("send-keys", "-t", "=api:", "-l", "crash")
    kept.tmux("send-keys", "-t", "=api:", "Enter")
    kept.ready(restarts=2)
    os.kill(kept.agent_pid(), signal.SIGSEGV)
    kept.ready(restarts=3)
    assert kept.kept_events(ENDED) == [
        {"why": "it was ended by signal 9", "starts_in": 0.1},
        {"why": "it ended with exit code 3", "starts_in": 0.2},
        {"why": "it was ended by signal 11", "starts_in": 0.4},
    ]
    started, ended = kept.events(STARTED), kept.events(ENDED)
    pauses = [after["time"] - before["time"] for before, after in zip(ended, started[1:], strict=True)]
    assert all(pause >= event["data"]["starts_in"] for pause, event in zip(pauses, ended, strict=True))
    assert [event["data"]["resumed"] for event in started] == [False, True, True, True]
    assert {event["data"]["pane_id"] for event in started} == {first["pane_id"]}


def test_a_session_survives_its_tmux_server_and_the_daemon(kept: Kept) -> None:
    kept.begin()
    first = kept.start()
    kept.write("one")
    until(lambda: kept.kept_events("keeper.delivered"))
    kept.kill_tmux()
    kept.ready(restarts=1)
    assert kept.kept_events(ENDED)[-1]["why"] == "its tmux server has ended"
    assert kept.session()["conversation"] == first["conversation"]

    pid, runtime = kept.agent_pid(), kept.session()["runtime_id"]
    folder = Path(first["path"])
    kept.kill()
    writer = subprocess.Popen(["bash", "-c", f"echo two > {folder}/in"])  # it waits for a reader
    kept.begin()
    assert kept.ready(restarts=1)["runtime_id"] == runtime
    assert writer.wait() == 0
    until(lambda: len(kept.told) == 2)
    assert (kept.agent_pid(), len(kept.starts)) == (pid, 2)
    assert [text.partition("] ")[2] for text in kept.told] == ["one", "two"]

    kept.kill()  # and one that dies while no daemon runs
    os.kill(pid, signal.SIGKILL)
    kept.begin()
    kept.ready(restarts=2)
    assert len(kept.starts) == 3


@pytest.mark.once
def test_names_and_words_that_cannot_be_are_refused_and_leave_nothing_behind(kept: Kept) -> None:
    kept.begin()
    for words, field in {
        ("no good",): "name",
        ("../x",): "name",
        ("api", "--env", "1A=secret"): "env",
        ("api", "--cwd", str(kept.work / "none")): "cwd",
        ("api", "--branch", "x"): "branch",
        ("api", "--permission-mode", "none"): "permission_mode",
        ("api", "--", "--resume"): "args",
        ("api", "--agent", "codex", "--env", f"PATH={kept.bin}"): "agent",
        ("api", "--worktree"): "worktree",
    }.items():
        ran = kept.keep("start", *words)
        assert (ran.code, ran.error.get("field")) in {(1, field), (5, field)}, ran.stderr
        assert ran.error["suggestion"]
        assert "secret" not in ran.stderr
    assert kept.keep("list").result["items"] == []
    assert list((kept.covey.home / "run").glob("*")) == []


def test_a_name_that_tmux_has_for_somebody_else_is_refused(kept: Kept) -> None:
    kept.begin()
    kept.tmux("new-session", "-d", "-s", "api", "sleep 1000")
    ran = kept.keep("start", "api")
    assert (ran.code, "not Covey's" in ran.error["message"]) == (7, True)
    kept.start("--env", "CLAUDE_CONFIG_DIR", name="web")  # this tmux server does not have it; the daemon does
    assert (kept.keep("rename", "web", "api").code, kept.keep("rename", "web", "a b").code) == (7, 1)
    assert [item["name"] for item in kept.keep("list").result["items"]] == ["web"]  # nothing is left of the refused one
    assert not (kept.covey.node / "keeper" / "api").exists()
    kept.tmux("kill-session", "-t", "=api")

    before = kept.ready("web")
    kept.write("under the old name", name="web")
    until(lambda: kept.told)
    kept.when("web", waiting=0)
    logged = kept.keep("logs", "web").result["items"]
    renamed = kept.keep("rename", "web", "api").result
    assert (renamed["name"], renamed["pane_id"]) == ("api", before["pane_id"])
    assert kept.tmux("list-sessions", "-F", "#{session_name}") == "api"
    assert not Path(before["path"]).exists()
    assert kept.keep("status", "web").code == 5
    kept.ready()
    kept.write("under the new name")
    until(lambda: len(kept.told) == 2)
    assert kept.keep("logs", "api").result["items"][: len(logged)] == logged
    assert kept.keep("channels", "api").result["items"][0]["taken"] == 2
    pid = kept.agent_pid()
    kept.kill()
    kept.begin()
    kept.ready()
    assert (kept.agent_pid(), len(kept.starts)) == (pid, 1)


def test_a_renamed_session_takes_the_fifos_of_the_user_along_and_leaves_nothing_to_write_to(kept: Kept) -> None:
    kept.begin()
    old = Path(kept.start()["path"])
    os.mkfifo(old / "in.phone")
    until(lambda: len(kept.keep("channels", "api").result["items"]) == 2)
    with (old / "in.phone").open("w") as writer:
        new = Path(kept.keep("rename", "api", "web").result["path"])
        writer.write("from a writer of before\n")
    assert not old.exists()
    assert subprocess.run(["bash", "-c", f"echo lost > {old}/in"], stderr=subprocess.DEVNULL, check=False).returncode
    assert (new / "in.phone").is_fifo()
    until(lambda: kept.told)
    assert kept.told[0].endswith(" phone] from a writer of before")
    (new / "output.sock").unlink()
    until((new / "output.sock").is_socket)
    kept.keep("stop", "web")
    kept.keep("forget", "web")


@pytest.mark.once
def test_two_who_start_the_same_session_at_once_start_one(kept: Kept) -> None:
    kept.begin()
    starting = [kept.covey.start("keep", "start", "api", "--cwd", str(kept.work)) for _ in range(3)]
    codes = sorted(process.wait() for process in starting)
    for process in starting:
        process.communicate()
    kept.ready()
    assert codes == [0, 7, 7]
    assert len(kept.starts) == 1
    kept.write("once")
    until(lambda: kept.told)
    until(lambda: kept.session()["waiting"] == 0)
    assert len(kept.told) == 1


@pytest.mark.once
def test_the_folder_of_a_session_is_one_line_for_scripts(kept: Kept) -> None:
    kept.begin(COVEY_RUNTIME_DIR=str(kept.covey.folder / "r"), COVEY_TMUX_SESSION="main")
    ran = kept.keep("start", "--cwd", str(kept.work))
    assert ran.result["name"] == "main"
    assert kept.keep("path").stdout == f"{kept.covey.folder}/r\n"
    assert (kept.covey.folder / "r").stat().st_mode & 0o777 == 0o700
    kept.start(name="api")
    assert kept.keep("path", "api").stdout == f"{kept.covey.folder}/r/api\n"
    script = f'set -e; folder="$({COMMAND} keep path api)"; echo "from a script" > "$folder/in"'
    subprocess.run(["bash", "-c", script], env=kept.covey.environment(), check=True)
    until(lambda: kept.told)
    assert kept.told[0].endswith(" default] from a script")
    lines = [item["text"] for item in kept.keep("logs", "api", "--limit", "2").result["items"]]
    assert len(lines) == 2


@pytest.mark.once
def test_a_worktree_is_made_for_a_session_and_stays_while_it_holds_changes(kept: Kept) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", str(kept.work), *words], env=kept.covey.environment(), check=True)
    kept.begin()
    shown = kept.start("--worktree")
    tree = Path(shown["worktree"])
    assert (shown["branch"], shown["cwd"], kept.starts[0]["cwd"]) == ("keep/api", str(tree), str(tree))
    (tree / "new").write_text("work\n")
    kept.keep("stop", "api")
    left = kept.keep("forget", "api").result
    assert (left["removed"], left["why"]) == (False, "it holds new (not in git)")
    assert (tree / "new").read_text() == "work\n"
    again = kept.keep("start", "api", "--cwd", str(kept.work), "--worktree", "--branch", "other")
    assert (again.code, again.error["field"]) == (7, "worktree")
    assert "is in the way" in again.error["message"]
    assert kept.keep("start", "web", "--cwd", str(kept.work), "--worktree").code == 0
    kept.keep("stop", "web")
    forgotten = kept.keep("forget", "web").result
    assert forgotten["removed"] is True
    assert not Path(forgotten["worktree"]).exists()
