"""A daemon that was stopped or killed continues where it was: rows, claims and times survive without double events."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        yield made


def kinds(fleet: Fleet) -> list[tuple[str, str]]:
    events = fleet.events("agent.started", "agent.state", "agent.ended")
    return [(event["kind"], event["data"]["state"]) for event in events]


def ask(fleet: Fleet, pid: int) -> None:
    """Cursor's hook says that it wants to run a command."""
    payload = {"hook_event_name": "beforeShellExecution", "conversation_id": "c", "command": "make", "cwd": "/"}
    at = time.time_ns()
    headers = {
        "X-Covey-Id": f"{at:020d}-1",
        "X-Covey-At": str(at // 1_000_000),
        "X-Covey-Pid": str(pid),
        "X-Covey-Pane": "%0",
    }
    assert fleet.covey.request("POST", "/v1/hooks/cursor", json.dumps(payload).encode(), headers)[0] == 200


@pytest.mark.parametrize("how", ["kill", "down"])
def test_what_was_known_is_known_after_a_restart_with_its_time(fleet: Fleet, how: str) -> None:
    asks, works = fleet.agent("toy-agent"), fleet.agent("cursor-agent")
    fleet.up()
    fleet.show(asks, "[ask] rm -rf build/")
    waiting = fleet.row(asks, "waiting_approval")
    ask(fleet, int(fleet.row(works)["pid"]))
    running = fleet.row(works)
    assert running["state"] != "unknown"
    before = kinds(fleet)
    if how == "kill":
        fleet.recorded()
        fleet.kill()
    else:
        assert fleet.covey.run("down").code == 0
    fleet.up()
    for row in (waiting, running):
        after = fleet.row(row["identity"]["pane_id"])
        assert [after[name] for name in ("runtime_id", "state", "reason", "since")] == [
            row[name] for name in ("runtime_id", "state", "reason", "since")
        ]
    fleet.show(asks, "[work]")
    fleet.row(asks, "running")
    assert [one for one in kinds(fleet)[len(before) :] if one[0] != "agent.state" or one[1] == "unknown"] == []
    checked = fleet.covey.run("replay", "--check").result
    assert checked["matches"], checked


def test_an_agent_that_ended_meanwhile_is_told_to_have_ended(fleet: Fleet) -> None:
    stays, goes = fleet.agent(), fleet.agent()
    fleet.up()
    fleet.row(stays)
    row = fleet.row(goes)
    fleet.recorded()
    fleet.kill()
    os.kill(row["pid"], signal.SIGKILL)
    fleet.up()
    until(lambda: [event["subject"] for event in fleet.events("agent.ended")] == [row["runtime_id"]])
    assert [one["identity"]["pane_id"] for one in fleet.rows()] == [stays]


def test_agents_of_a_server_that_was_ended_meanwhile_are_told_to_have_ended(fleet: Fleet) -> None:
    fleet.agent()
    fleet.up()
    until(fleet.rows)
    fleet.recorded()
    fleet.kill()
    fleet.tmux("kill-server")
    fleet.up()
    until(lambda: fleet.events("agent.ended"))
    assert fleet.rows() == []


@pytest.mark.once
def test_a_state_has_a_version_that_goes_on_after_a_restart(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.up()
    fleet.show(pane, "[work]")
    version = fleet.row(pane, "running")["state_version"]
    fleet.recorded()
    fleet.kill()
    fleet.up()
    assert fleet.row(pane, "running")["state_version"] == version
    fleet.show(pane, "[ask] x")
    assert fleet.row(pane, "waiting_approval")["state_version"] > version
