"""From an agent that waits to a notified person, with the whole daemon: `covey needs` and `covey ps` say the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.covey.attention.test_with_beats import needs
from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        yield made


def agree(fleet: Fleet, count: int) -> None:
    """Wait until the queue, the list and the metric count so many."""

    def counted() -> bool:
        waiting = sum(row["needs_action"] for row in fleet.rows())
        open_ = json.loads(fleet.covey.request("GET", "/v1/attention")[2])["open"]
        _, _, metrics = fleet.covey.request("GET", "/v1/metrics")
        return waiting == open_ == count and f"covey_attention_open {count}" in metrics.decode()

    until(counted)


def test_an_agent_that_waits_needs_somebody_until_it_is_answered(fleet: Fleet) -> None:
    told = Path(fleet.covey.folder / "told")
    (fleet.covey.home / "config.toml").write_text(
        f"""[attention]\nnotify = ["sh", "-c", 'echo "$COVEY_TITLE" >>{told}']\n"""
    )
    one, two = fleet.agent(), fleet.agent()
    fleet.up()
    fleet.row(one)
    fleet.row(two)
    fleet.show(one, "[ask] rm -rf build/")
    agree(fleet, 1)
    (item,) = needs(fleet.covey)
    assert item["title"].endswith("asks for approval: rm -rf build/")
    assert item["data"]["ref"] == fleet.row(one)["ref"]
    until(lambda: told.exists() and "rm -rf build/" in told.read_text())
    refused = fleet.covey.run("attention", "done", item["id"])
    assert (refused.code, refused.error["error"]) == (1, "attention_open")
    fleet.kill()
    fleet.up()
    agree(fleet, 1)
    (again,) = needs(fleet.covey)
    assert (again["id"], again["times"]) == (item["id"], 1)
    fleet.show(two, "[ask] make install")
    agree(fleet, 2)
    fleet.show(one, "[work]")
    agree(fleet, 1)
    fleet.tmux("kill-pane", "-t", two)
    agree(fleet, 0)
    closed = {one["data"]["runtime_id"]: one["closed_why"] for one in needs(fleet.covey, "--all")}
    assert sorted(closed.values()) == ["it has ended", "it is running now"]


def test_an_agent_that_is_answered_while_the_daemon_is_down_needs_nobody_afterwards(fleet: Fleet) -> None:
    answered, gone = fleet.agent(), fleet.agent()
    fleet.up()
    for pane in (answered, gone):
        fleet.show(pane, "[ask] x")
    agree(fleet, 2)
    fleet.kill()
    fleet.show(answered, "[work]")
    fleet.tmux("kill-pane", "-t", gone)
    fleet.up()
    agree(fleet, 0)


def test_an_item_names_its_agent_as_the_list_does_wherever_the_agent_is(fleet: Fleet) -> None:
    pane = fleet.agent()
    fleet.tmux("rename-session", "-t", pane, "api")
    fleet.up()
    fleet.show(pane, "[ask] make install")
    agree(fleet, 1)

    def titled(place: str) -> bool:
        (item,) = needs(fleet.covey)
        told = (item["data"]["ref"], item["title"], item["times"])
        return told == (
            fleet.row(pane, "waiting_approval")["ref"],
            f"toy host{place} asks for approval: make install",
            1,
        )

    until(lambda: titled("/api:0.0"))
    fleet.tmux("rename-session", "-t", pane, "shop")
    until(lambda: titled("/shop:0.0"))
    try:
        fleet.tmux("-L", "other", "new-session", "-d", "-s", "shop", str(fleet.covey.folder / "toy-agent"))
        until(lambda: len(fleet.rows()) == 2)
        until(lambda: titled("@default/shop:0.0"))
        (item,) = needs(fleet.covey)
        assert fleet.covey.run("why", pane).error["error"] == "E_REF_AMBIGUOUS"
        command = item["detail"].splitlines()[-1].split()
        assert fleet.covey.run(*command[1:]).result["item"]["runtime_id"] == item["data"]["runtime_id"]
    finally:
        fleet.tmux("-L", "other", "kill-server")
    until(lambda: len(fleet.rows()) == 1)
    until(lambda: needs(fleet.covey)[0]["data"]["ref"] == fleet.row(pane)["ref"])
