"""A real daemon with a pipe, directory, socket or device in the place of a file: it starts, answers and stops."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.living import AGENT, living
from tests.covey.fleet.room import until


def make_directory(path: Path) -> None:
    path.mkdir()


def make_socket(path: Path) -> None:
    """Bind by a short name: the address of a socket must not be long."""
    with socket.socket(socket.AF_UNIX) as bound:
        before = Path.cwd()
        os.chdir(path.parent)
        try:
            bound.bind(path.name)
        finally:
            os.chdir(before)


def make_device(path: Path) -> None:
    """A link to one that never ends."""
    path.symlink_to("/dev/zero")


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "directory": make_directory,
    "socket": make_socket,
    "device": make_device,
}


def put(kind: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    KINDS[kind](path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_starts_answers_and_stops_whatever_stands_in_the_place_of_its_files(covey: Covey, kind: str) -> None:
    workspace = covey.folder / "workspace"
    covey.home.mkdir(mode=0o700)
    put(kind, covey.node / "spool" / f"{1:020d}-7-5.hook")
    put(kind, covey.home / "adapters" / "x.toml")
    put(kind, covey.node / "http.token")
    put(kind, covey.home / "beats" / "heartbeats.jsonl")
    put(kind, covey.home / "beats" / "runs" / "run" / "hand.json")
    put(kind, workspace / "HEARTBEAT.md")
    (covey.home / "config.toml").write_text(f'[[beats.workspace]]\npath = "{workspace}"\n')
    if kind == "directory":  # nothing can be put in its place, and the start says so
        assert "http.token" in covey.run("up").error["message"]
        (covey.node / "http.token").rmdir()
    assert covey.run("up").code == 0, covey.run("logs").stdout
    assert covey.run("status").code == 0
    assert "x.toml" in str(covey.run("adapters", "list").result["problems"])
    assert covey.run("down").code == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_that_is_no_file_is_refused_at_once(covey: Covey, kind: str) -> None:
    put(kind, covey.home / "config.toml")
    assert covey.run("up").error["error"] == "config_error"


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_a_pid_file_that_is_no_file_is_named_by_the_start(covey: Covey, kind: str) -> None:
    put(kind, covey.node / "pid")
    covey.home.chmod(0o700)
    error = covey.run("up").error
    assert "the pid file" in error["message"]
    assert "not a regular file" in error["message"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_that_names_what_is_no_file_holds_nobody_up(covey: Covey, kind: str) -> None:
    with living(covey) as fleet:
        (covey.folder / "claude").write_text(AGENT)
        (covey.folder / "claude").chmod(0o700)
        (covey.folder / "sessions").mkdir()
        pane = fleet.tmux(
            "new-session",
            "-d",
            "-P",
            "-F",
            "#{pane_id}",
            "-e",
            f"CLAUDE_CONFIG_DIR={covey.folder}",
            str(covey.folder / "claude"),
        )
        pid = int(fleet.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"))
        put(kind, covey.folder / "sessions" / f"{pid}.json")
        fleet.up()
        until(lambda: any(row["agent"] == "claude" for row in fleet.rows()))
        # Its files are looked for once a second: after two further changes that were seen, they have been.
        for _ in range(2):
            other = fleet.agent()
            fleet.show(other, "[work] on it")
            fleet.row(other, "running")
        assert covey.run("down").code == 0


def test_a_terminal_never_becomes_the_daemons_own(covey: Covey) -> None:
    """A daemon leads its session: a terminal that it opened without care would end it when it is closed."""
    leader, follower = os.openpty()
    try:
        (covey.home / "adapters").mkdir(parents=True, mode=0o700)
        (covey.home / "adapters" / "tty.toml").symlink_to(os.ttyname(follower))
        assert covey.run("up").code == 0
        shown = subprocess.run(["ps", "-o", "tty=", "-p", str(covey.pid)], capture_output=True, text=True, check=True)
        assert shown.stdout.strip() == "?"
    finally:
        os.close(leader)
        os.close(follower)
