"""A host with a Covey of its own: what its agents report there arrives here, over the existing ssh connection."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from covey import __version__
from tests.covey.conftest import Covey
from tests.covey.fleet.far import Far, far
from tests.covey.fleet.room import until
from tests.covey.fleet.test_targets import Fleet


@pytest.fixture
def a() -> Iterator[Far]:
    with far("a", installed=True) as host:
        yield host


@pytest.fixture
def fleet(covey: Covey, a: Far) -> Fleet:
    """A daemon here and one there, which knows the one agent of its host."""
    a.quiet_agent("work")
    assert a.covey.run("up").code == 0
    until(lambda: a.covey.run("ps").result["items"])
    found = Fleet(covey, a)
    found.connected("a")
    until(lambda: found.target("a")["node"] == f"ok {__version__}")
    found.row("a", "unknown")
    return found


def pid_of(a: Far) -> int:
    return int(a.room.tmux("display-message", "-p", "-t", "work", "#{pane_pid}"))


def hooks(covey: Covey) -> list[str]:
    """What hooks have told, as this journal has it."""
    events = [json.loads(line) for line in covey.run("events", "--kind", "agent.signal").stdout.splitlines()]
    return [
        event["data"]["claim"]["detail"] for event in events if event.get("kind") and event["data"]["source"] == "hook"
    ]


def test_what_a_hook_tells_a_far_node_is_evidence_here(fleet: Fleet, a: Far) -> None:
    watch = fleet.covey.start("watch")
    try:
        assert watch.stdout is not None
        assert json.loads(watch.stdout.readline())["event"] == "snapshot"
        a.hook(pid_of(a), "beforeSubmitPrompt", prompt="mend the roof")
        line = json.loads(watch.stdout.readline())
    finally:
        watch.kill()
        watch.communicate()
    [item] = line["items"]
    assert (line["event"], item["identity"]["target"], item["state"], item["detail"]) == (
        "agent.state",
        "a",
        "running",
        "mend the roof",
    )
    assert [evidence["source"] for evidence in item["evidence"]] == ["hook"]
    told = fleet.ask("why", f"a/{item['identity']['pane_id']}")
    assert (told["because"]["source"], told["because"]["evidence"], told["caveat"]) == (
        "hook",
        "hook beforeSubmitPrompt",
        "",
    )
    assert [target["node"] for target in fleet.ask("status")["fleet"]["targets"]] == [f"ok {__version__}"] * 2


@pytest.mark.once
def test_what_a_far_node_was_told_before_is_known_when_it_is_met(covey: Covey, a: Far) -> None:
    _, pid = a.quiet_agent("work")
    assert a.covey.run("up").code == 0
    until(lambda: a.covey.run("ps").result["items"])
    a.hook(pid, "beforeSubmitPrompt", prompt="one")
    a.hook(pid, "beforeSubmitPrompt", prompt="two")
    fleet = Fleet(covey, a)
    fleet.connected("a")
    row = fleet.row("a", "running")
    there = a.covey.run("ps").result["items"][0]
    assert (row["detail"], hooks(covey)) == ("two", ["two"])
    assert row["runtime_id"] != there["runtime_id"]


@pytest.mark.once
def test_a_cut_connection_loses_and_doubles_nothing(fleet: Fleet, a: Far) -> None:
    pid = pid_of(a)
    a.hook(pid, "beforeSubmitPrompt", prompt="0")
    until(lambda: hooks(fleet.covey) == ["0"])
    expected = ["0"]
    for turn in range(1, 4):
        a.cut()
        a.hook(pid, "beforeSubmitPrompt", prompt=f"{turn} while nobody listens")
        a.hook(pid, "beforeSubmitPrompt", prompt=f"{turn} and another")
        a.let_in()
        a.hook(pid, "beforeSubmitPrompt", prompt=f"{turn} soon after")
        expected.extend(f"{turn} {moment}" for moment in ("while nobody listens", "and another", "soon after"))
        until(lambda: len(hooks(fleet.covey)) >= len(expected))
    assert hooks(fleet.covey) == expected
    fleet.becomes("a", "ok")
    assert fleet.row("a", "running")["detail"] == "3 soon after"


def test_without_its_node_a_host_is_watched_as_any_other_and_with_it_again_in_full(fleet: Fleet, a: Far) -> None:
    pane = fleet.row("a", "unknown")["identity"]["pane_id"]
    os.kill(a.covey.pid, signal.SIGKILL)
    node = until(lambda: found if (found := fleet.target("a"))["node"].startswith("none") else None)
    assert ("not running" in node["node"], node["health"]) == (True, "ok")
    assert "only its process, title and screen" in fleet.ask("why", f"a/{pane}")["caveat"]
    b = a.agent("other")
    row = until(lambda: next((row for row in fleet.rows("--target", "a") if row["state"] == "waiting_approval"), None))
    assert (row["identity"]["pane_id"], [evidence["source"] for evidence in row["evidence"]]) == (b, ["screen"])
    assert a.covey.run("up").code == 0
    until(lambda: len(a.covey.run("ps").result["items"]) == 2)
    a.hook(pid_of(a), "beforeSubmitPrompt", prompt="back again")
    assert running(fleet)["detail"] == "back again"
    assert fleet.target("a")["node"] == f"ok {__version__}"


def running(fleet: Fleet) -> dict[str, Any]:
    found: dict[str, Any] = until(
        lambda: next((row for row in fleet.rows("--target", "a") if row["state"] == "running"), None)
    )
    return found


@pytest.mark.once
def test_a_far_node_that_hangs_harms_nobody(fleet: Fleet, a: Far) -> None:
    os.kill(a.covey.pid, signal.SIGSTOP)
    try:
        a.agent("other")
        until(lambda: any(row["state"] == "waiting_approval" for row in fleet.rows("--target", "a")))
        assert fleet.target("a")["health"] == "ok"
    finally:
        os.kill(a.covey.pid, signal.SIGCONT)
