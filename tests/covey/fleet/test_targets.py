"""Targets behind ssh: two hosts on loopback, each with an sshd and a tmux server of its own, and a real daemon."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey import __version__
from tests.covey.conftest import Covey
from tests.covey.fleet.far import Far, far
from tests.covey.fleet.room import until

QUICK_S = 2.0
"""A listing is a matter of milliseconds; the rest is the start of a command on a busy machine."""
REAPED_S = 3.0
"""Until whoever inherits the children of the dead has noticed."""


@pytest.fixture
def a() -> Iterator[Far]:
    with far("a") as host:
        yield host


@pytest.fixture
def b() -> Iterator[Far]:
    with far("b") as host:
        yield host


class Fleet:
    """A daemon that knows how to reach the hosts, and none of them yet."""

    def __init__(self, covey: Covey, *hosts: Far) -> None:
        self.covey = covey
        config = covey.folder / "ssh_config"
        config.write_text("".join(host.ssh_config for host in hosts) + "Host nobody\n HostName 127.0.0.1\n Port 1\n")
        covey.home.mkdir(mode=0o700)
        (covey.home / "config.toml").write_text(f'[fleet]\nssh_config = "{config}"\n')
        assert covey.run("up").code == 0

    def ask(self, *words: str) -> Any:
        return self.covey.run(*words).result

    def connected(self, name: str) -> None:
        self.ask("target", "add", name, "--kind", "ssh")
        assert self.ask("target", "connect", name)["health"] == "ok"

    def rows(self, *words: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("ps", *words)["items"]
        return found

    def row(self, target: str, state: str) -> dict[str, Any]:
        """The agent of a target, as soon as it is in a state."""
        return until(lambda: next((row for row in self.rows("--target", target) if row["state"] == state), None))

    def target(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(item for item in self.ask("target", "list")["items"] if item["target"] == name)
        return found

    def becomes(self, name: str, health: str) -> dict[str, Any]:
        return until(lambda: found if (found := self.target(name))["health"] == health else None)


def test_an_agent_on_another_host_is_seen_by_its_process_and_its_screen(covey: Covey, a: Far, b: Far) -> None:
    pane = a.agent("work")
    fleet = Fleet(covey, a, b)
    fleet.connected("a")
    fleet.connected("b")
    row = fleet.row("a", "waiting_approval")
    assert (row["agent"], row["identity"]["session_name"], row["identity"]["pane_id"]) == ("cursor", "work", pane)
    assert [evidence["source"] for evidence in row["evidence"]] == ["screen"]
    assert fleet.rows("--target", "b") == fleet.rows("--target", "host") == []
    told = fleet.ask("why", f"a/{pane}")
    assert (told["item"]["ref"], "only its process, title and screen" in told["caveat"]) == (row["ref"], True)
    assert (fleet.target("a")["node"], fleet.target("host")["node"]) == ("none", f"ok {__version__}")
    b.agent("work")  # the tmux server of this host begins only now
    other = fleet.row("b", "waiting_approval")
    assert other["runtime_id"] != row["runtime_id"]
    a.room.tmux("send-keys", "-t", pane, "C-c")
    until(lambda: not fleet.rows("--target", "a"))
    assert [row["identity"]["target"] for row in fleet.rows()] == ["b"]


@pytest.mark.once
def test_a_host_that_hangs_is_down_within_seconds_and_delays_nobody(covey: Covey, a: Far, b: Far) -> None:
    a.agent("work")
    b.agent("work")
    fleet = Fleet(covey, a, b)
    fleet.connected("a")
    fleet.connected("b")
    seen = fleet.row("a", "waiting_approval")
    fleet.row("b", "waiting_approval")
    a.hang()
    hung = time.monotonic()
    slowest = 0.0
    while fleet.target("a")["health"] != "down":
        began = time.monotonic()
        assert any(row["identity"]["target"] == "b" and row["state"] == "waiting_approval" for row in fleet.rows())
        slowest = max(slowest, time.monotonic() - began)
        assert began - hung < 10
    assert slowest < QUICK_S
    assert "a did not" in fleet.target("a")["reason"]
    [lost] = fleet.rows("--target", "a")
    assert (lost["state"], lost["reason"], lost["confidence"]) == ("unknown", "target_unreachable", "low")
    assert (lost["runtime_id"], lost["ref"]) == (seen["runtime_id"], seen["ref"])
    assert fleet.target("b")["health"] == "ok"
    assert fleet.ask("bar", "--output", "json")["down"] == ["a"]
    a.go_on()
    fleet.becomes("a", "ok")
    assert fleet.row("a", "waiting_approval")["runtime_id"] == seen["runtime_id"]
    told = [event["data"]["health"] for event in _events(covey, "target.health") if event["subject"] == "a"]
    assert told[-2:] == ["down", "ok"]


@pytest.mark.once
def test_a_daemon_is_stopped_in_time_although_a_target_hangs(covey: Covey, a: Far) -> None:
    a.agent("work")
    fleet = Fleet(covey, a)
    fleet.connected("a")
    fleet.row("a", "waiting_approval")
    a.hang()
    pid, began = covey.pid, time.monotonic()
    assert covey.run("down").code == 0
    until(lambda: not Path(f"/proc/{pid}").exists())
    assert time.monotonic() - began < QUICK_S + REAPED_S
    a.go_on()


@pytest.mark.once
def test_a_host_that_cannot_be_reached_says_why(covey: Covey) -> None:
    fleet = Fleet(covey)
    added = fleet.ask("target", "add", "vm1", "--kind", "ssh", "--ssh-target", "nobody")
    assert (added["ssh_target"], added["last_seen_at"]) == ("nobody", None)
    tried = fleet.covey.run("target", "connect", "vm1")
    assert (tried.code, tried.error["error"]) == (4, "target_down")
    assert "Connection refused" in tried.error["message"]
    assert fleet.target("vm1")["health"] == "down"
    assert fleet.target("host")["health"] == "ok"


def test_removing_a_target_forgets_its_rows_and_leaves_its_agents_alone(covey: Covey, a: Far) -> None:
    pane = a.agent("work")
    fleet = Fleet(covey, a)
    fleet.connected("a")
    fleet.row("a", "waiting_approval")
    assert fleet.ask("target", "remove", "a", "--yes") == {"target": "a", "removed": True}
    assert fleet.rows() == []
    assert covey.run("ps", "--target", "a").error["error"] == "target_not_found"
    assert a.room.tmux("list-sessions", "-F", "#{session_name}") == "work"
    assert a.room.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}") == "cursor-agent"
    assert not a.sshd.children()
    [ended] = _events(covey, "agent.ended")
    assert ended["data"]["why"] == "target_removed"
    fleet.connected("a")
    fleet.row("a", "waiting_approval")


@pytest.mark.once
def test_targets_outlive_the_daemon_and_this_machine_may_have_another_name(covey: Covey, a: Far) -> None:
    a.agent("work")
    fleet = Fleet(covey, a)
    fleet.connected("a")
    fleet.ask("target", "remove", "host", "--yes")
    fleet.ask("target", "add", "laptop", "--kind", "local")
    assert covey.run("down").code == 0
    assert covey.run("up").code == 0
    items = fleet.ask("target", "list")["items"]
    assert [(item["target"], item["kind"], item["ssh_target"], item["is_default"]) for item in items] == [
        ("a", "ssh", "a", False),
        ("laptop", "local", "", True),
    ]
    fleet.row("a", "waiting_approval")
    subprocess.run(
        ["tmux", "-u", "-f", "/dev/null", "new-session", "-d", "bash", "-c", "exec -a cursor-agent sleep 1000"],
        env={**covey.environment(), "SHELL": "/bin/sh"},
        check=True,
        timeout=30,
    )
    try:
        fleet.row("laptop", "unknown")
    finally:
        subprocess.run(["tmux", "kill-server"], env=covey.environment(), check=True, timeout=30)


@pytest.mark.once
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["add", "vm1", "--kind", "ssh"], 7, "target_exists"),
        (["add", "host", "--kind", "ssh"], 7, "target_exists"),
        (["add", "here", "--kind", "local"], 7, "target_exists"),
        (["add", "vm2", "--kind", "ssh", "--ssh-target", "nobody"], 7, "target_exists"),
        (["add", "a/b", "--kind", "ssh"], 1, "target_invalid"),
        (["add", "a b", "--kind", "ssh"], 1, "target_invalid"),
        (["add", "x" * 64, "--kind", "ssh"], 1, "target_invalid"),
        (["add", "vm2", "--kind", "ssh", "--ssh-target", "a b"], 1, "target_invalid"),
        (["add", "vm2", "--kind", "ssh", "--ssh-target", "x;touch"], 1, "target_invalid"),
        (["add", "vm2", "--kind", "ssh", "--ssh-target", "$(id)"], 1, "target_invalid"),
        (["add", "vm2", "--kind", "ssh", "--ssh-target", "root:secret@127.0.0.1"], 1, "target_invalid"),
        (["add", "vm2", "--kind", "ssh", "--ssh-target", "ssh://root:secret@127.0.0.1"], 1, "target_invalid"),
        (["connect", "vm1"], 4, "target_down"),
        (["add", "vm2", "--kind", "local", "--ssh-target", "vm2"], 1, "target_invalid"),
        (["add", "vm2", "--kind", "telnet"], 1, "flag_error"),
        (["add", "vm2"], 1, "flag_error"),
        (["connect", "vm9"], 5, "target_not_found"),
        (["remove", "vm9", "--yes"], 5, "target_not_found"),
        (["remove", "vm1"], 1, "confirmation_required"),
    ],
)
def test_what_cannot_be_a_target_is_refused(known: Fleet, words: list[str], code: int, error: str) -> None:
    before = [item["target"] for item in known.ask("target", "list")["items"]]
    ran = known.covey.run("target", *words)
    assert (ran.code, ran.error["error"]) == (code, error)
    assert [item["target"] for item in known.ask("target", "list")["items"]] == before


@pytest.fixture(scope="module")
def known() -> Iterator[Fleet]:
    """A daemon with one target that nobody can reach."""
    covey = Covey(Path(tempfile.mkdtemp(prefix="cv-")))
    fleet = Fleet(covey)
    fleet.ask("target", "add", "vm1", "--kind", "ssh", "--ssh-target", "nobody")
    yield fleet
    covey.run("down")
    shutil.rmtree(covey.folder, ignore_errors=True)


@pytest.mark.once
def test_nothing_but_the_alias_is_stored(covey: Covey, a: Far) -> None:
    fleet = Fleet(covey, a)
    fleet.connected("a")
    key = (a.sshd.folder / "user").read_text().splitlines()[1]
    assert covey.run("down").code == 0
    for file in covey.home.rglob("*"):
        if file.is_file():
            assert key.encode() not in file.read_bytes(), file
            assert str(a.sshd.folder / "user").encode() not in file.read_bytes(), file
    assert list((covey.node / "ssh").iterdir()) == []


def _events(covey: Covey, kind: str) -> list[dict[str, Any]]:
    return [
        event
        for line in covey.run("events", "--kind", kind).stdout.splitlines()
        if (event := json.loads(line)).get("kind") == kind
    ]
