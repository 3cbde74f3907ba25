"""Starting, stopping, crashing and finding the daemon."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from covey.beats.run_folder import RunFolder
from tests.covey.fleet.room import until

if TYPE_CHECKING:
    from tests.covey.conftest import Covey

pytestmark = pytest.mark.usefixtures("no_forks")


def test_up_status_down_on_a_fresh_home(covey: Covey) -> None:
    started = covey.run("up").result
    assert started["already_running"] is False
    status = covey.run("status").result
    assert (status["pid"], status["home"]) == (started["pid"], str(covey.home))
    assert covey.run("down").result == {"pid": started["pid"], "stopping": True, "how": "asked"}
    assert covey.run("status").error["error"] == "daemon_not_running"


def test_up_twice_and_down_twice_are_no_mistakes(covey: Covey) -> None:
    first = covey.run("up").result
    assert covey.run("up").result == {"pid": first["pid"], "already_running": True, "version": first["version"]}
    assert covey.run("down").code == 0
    assert covey.run("down").result == {"pid": None, "stopping": False, "how": "none"}


def test_the_names_people_expect_work(covey: Covey) -> None:
    assert covey.run("start").code == 0
    assert json.loads(covey.run("status", "--json").stdout)["status"] == "ok"
    assert covey.run("stop").code == 0


def test_of_two_that_start_at_once_exactly_one_wins_and_the_other_says_so(covey: Covey) -> None:
    for _ in range(3):
        starters = [covey.start("up") for _ in range(4)]
        results = [json.loads(starter.communicate(timeout=60)[0])["result"] for starter in starters]
        assert [starter.returncode for starter in starters] == [0] * 4
        assert sorted(result["already_running"] for result in results) == [False, True, True, True]
        assert {result["pid"] for result in results} == {covey.pid}
        assert covey.run("down").code == 0


def test_a_killed_daemon_leaves_nothing_in_the_way(covey: Covey) -> None:
    covey.run("up")
    killed = covey.pid
    os.kill(killed, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while covey.run("status").code == 0:
        assert time.monotonic() < deadline
    error = covey.run("status").error
    assert (error["error"], error["suggestion"]) == ("daemon_not_running", "Run `covey up` to start it.")
    assert covey.run("up").result["pid"] != killed
    events = [json.loads(line) for line in covey.run("events").stdout.splitlines()]
    assert [event["kind"] for event in events[:-1] if event["kind"].startswith("node.")] == [
        "node.started",
        "node.started",
    ]


def test_a_reading_verb_never_starts_a_daemon(covey: Covey) -> None:
    for verb in (["status"], ["events"], ["metrics"], ["health"], ["config", "list"], ["logs"]):
        covey.run(*verb)
        assert not (covey.node / "sock").exists()


def test_the_files_of_the_daemon_are_private(daemon: Covey) -> None:
    assert daemon.node.stat().st_mode & 0o777 == 0o700
    for name, mode in (
        ("pid", 0o600),
        ("sock", 0o600),
        ("http.port", 0o644),
        ("http.token", 0o600),
        ("node.db", 0o600),
        ("daemon.log", 0o600),
    ):
        assert (daemon.node / name).stat().st_mode & 0o777 == mode, name


def test_a_terminated_daemon_says_goodbye(covey: Covey) -> None:
    with covey.start("up", "--foreground") as process:
        deadline = time.monotonic() + 30
        while covey.run("status").code != 0:
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert not (covey.node / "sock").exists()
    assert not (covey.node / "http.port").exists()


def test_a_home_that_others_can_write_is_refused_with_the_command_that_mends_it(covey: Covey) -> None:
    covey.home.mkdir(mode=0o777)
    covey.home.chmod(0o777)
    error = covey.run("up").error
    assert error["error"] == "permission_denied"
    assert "chmod" in error["suggestion"]


def test_a_broken_configuration_stops_the_start_and_names_the_line(covey: Covey) -> None:
    covey.home.mkdir(mode=0o700)
    (covey.home / "config.toml").write_text("[log]\nlevel = 3\nlevle = 'debug'\n")
    ran = covey.run("up")
    assert ran.code != 0
    assert "log.level" in ran.error["message"]


def test_a_reload_takes_a_good_edit_and_survives_a_broken_one(daemon: Covey) -> None:
    config = daemon.home / "config.toml"
    config.write_text("# mine\n[log]\nlevel = 'debug' # loud\n")
    assert daemon.run("reload").result["changed"] == ["log.level"]
    config.write_text("[log\n")
    assert daemon.run("reload").code == 1
    assert daemon.run("status").result["config"]["problems"]
    config.write_text("[log]\nlevel = 'warning'\n")
    os.kill(daemon.pid, signal.SIGHUP)
    deadline = time.monotonic() + 30
    while daemon.run("status").result["config"]["generation"] != 3:
        assert time.monotonic() < deadline
    assert daemon.run("status").result["config"]["problems"] == []


def test_config_set_keeps_comments_with_and_without_a_daemon(covey: Covey) -> None:
    covey.home.mkdir(mode=0o700)
    config = covey.home / "config.toml"
    config.write_text("# mine\n[log]\nlevel = 'info' # quiet\n")
    assert covey.run("config", "set", "log.level", "debug").result["new"] == "debug"
    assert covey.run("up").code == 0
    assert covey.run("config", "get", "log.level").result["value"] == "debug"
    assert covey.run("config", "set", "log.level", "error").result == {
        "key": "log.level",
        "old": "debug",
        "new": "error",
        "needs_restart": False,
    }
    assert config.read_text().startswith("# mine\n[log]\nlevel = ")
    assert "# quiet" in config.read_text()
    assert covey.run("config", "set", "log.levle", "debug").error["message"].endswith("did you mean log.level?")


def test_a_backup_is_a_database_and_never_overwrites(daemon: Covey) -> None:
    target = daemon.folder / "copy.db"
    assert daemon.run("backup", str(target)).result["bytes"] > 0
    assert target.read_bytes().startswith(b"SQLite format 3")
    assert daemon.run("backup", str(target)).error["error"] == "conflict"
    link = daemon.folder / "link"
    link.symlink_to(daemon.folder / "nowhere")
    assert daemon.run("backup", str(link)).error["error"] == "conflict", (
        "a link that leads nowhere is there all the same"
    )
    assert daemon.run("backup", str(daemon.folder / ("y" * 250))).result["bytes"] > 0, "a long name may be one"
    refused = daemon.run("backup", str(daemon.folder / ("y" * 300))).error
    assert (refused["code"], refused["field"]) == (1, "path")
    assert daemon.run("beats", "import", str(daemon.folder / ("y" * 300)), "--yes").error["field"] == "path"


def test_without_any_target_it_is_said_how_to_watch_this_machine_again(daemon: Covey) -> None:
    name = daemon.run("target", "list").result["items"][0]["target"]
    assert daemon.run("target", "remove", name, "--yes").code == 0
    findings = daemon.run("doctor").result["findings"]
    assert [one["fix"] for one in findings if one["name"] == "targets"] == ["covey target add host --kind local"]


def test_an_empty_time_limit_is_refused(daemon: Covey) -> None:
    assert daemon.run("wait", "--any", "--timeout", "").error["field"] == "timeout"


def test_a_follower_misses_and_repeats_nothing_when_the_daemon_is_killed_and_comes_back(daemon: Covey) -> None:
    with daemon.start("events", "--follow") as reader:
        lines = reader.stdout
        assert lines is not None
        seen: list[dict[str, Any]] = []

        def read_until(count: int) -> None:
            while sum(event["kind"].startswith("node.") for event in seen) < count:
                seen.append(json.loads(lines.readline()))

        read_until(1)
        daemon.run("config", "set", "log.level", "debug")
        read_until(2)
        os.kill(daemon.pid, signal.SIGKILL)
        assert daemon.run("up").code == 0
        daemon.run("config", "set", "log.level", "info")
        read_until(4)
        reader.send_signal(signal.SIGINT)
        reader.communicate(timeout=30)
    assert [event["cursor"] for event in seen] == list(range(1, len(seen) + 1))
    assert [event["kind"] for event in seen if event["kind"].startswith("node.")] == [
        "node.started",
        "node.reloaded",
    ] * 2


def test_a_damaged_database_is_moved_aside_and_the_log_says_where(covey: Covey) -> None:
    covey.run("up")
    covey.run("down")
    (covey.node / "node.db").write_bytes(b"this is no database, " * 1000)
    assert covey.run("up").code == 0
    moved = [path.name for path in covey.node.iterdir() if "corrupt" in path.name]
    assert len(moved) == 1
    assert any(moved[0] in line.get("moved_to", "") for line in covey.run("logs").result)


def test_a_home_on_a_read_only_file_system_is_refused(covey: Covey) -> None:
    if not Path("/proc/self").exists():  # macOS has no file system that even root cannot write
        return
    error = covey.run("up", COVEY_HOME="/proc/covey").error
    assert error["suggestion"]


def test_a_second_daemon_in_the_foreground_says_that_there_is_one(daemon: Covey) -> None:
    assert daemon.run("up", "--foreground").error["error"] == "conflict"


def test_the_doctor_tells_what_is_wrong_with_a_home_that_nothing_else_will_use(covey: Covey) -> None:
    covey.home.mkdir()
    covey.home.chmod(0o777)
    ran = covey.run("doctor")
    assert ran.code == 3
    findings = {finding["name"]: finding for finding in json.loads(ran.stdout)["result"]["findings"]}
    assert findings["directory"]["status"] == "fail"
    assert "chmod" in findings["directory"]["fix"]


def test_the_doctor_and_the_status_tell_what_waits_for_a_restart_and_which_beats_are_broken(daemon: Covey) -> None:
    workspace = daemon.folder / "work"
    workspace.mkdir()
    (daemon.home / "config.toml").write_text(f"[http]\nport = 1024\n[[beats.workspace]]\npath = '{workspace}'\n")
    assert daemon.run("reload").result["needs_restart"] == ["http.port"]
    assert daemon.run("status").result["config"]["needs_restart"] == ["http.port"]
    assert "http.port: in force after a restart" in daemon.run("status", "--output", "text").stdout
    until(lambda: daemon.run("status").result["beats"]["by_state"].get("broken"))
    findings = json.loads(daemon.run("doctor").stdout)["result"]["findings"]
    assert any(finding["name"] == "config" and "http.port" in finding["detail"] for finding in findings)
    assert any(finding["section"] == "beats" and finding["status"] == "fail" for finding in findings)


def test_small_mistakes_are_named_for_what_they_are(daemon: Covey) -> None:
    assert daemon.run("backup", str(daemon.folder / "none" / "copy.db")).error["error"] == "not_found"
    assert daemon.run("logs", "--lines", "-4").error["field"] == "lines"


def test_the_folders_of_runs_are_closed_to_others(daemon: Covey) -> None:
    RunFolder(daemon.home / "beats" / "runs" / "r").write_handover({})
    for name in ("beats", "beats/runs", "beats/runs/r"):
        assert (daemon.home / name).stat().st_mode & 0o777 == 0o700, name
