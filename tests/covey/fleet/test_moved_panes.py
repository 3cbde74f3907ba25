"""Panes that are moved between windows, and windows that are in two sessions: a row says where its pane is now."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        yield made


def windows(fleet: Fleet) -> list[dict[str, Any]]:
    status, _, body = fleet.covey.request("GET", "/v1/windows")
    assert status == 200
    return json.loads(body)["items"]  # type: ignore[no-any-return]


def in_step(fleet: Fleet) -> bool:
    """Whether every row is where tmux says that its pane is, and no window is listed twice."""
    where = dict(line.split() for line in fleet.tmux("list-panes", "-a", "-F", "#{pane_id} #{window_id}").splitlines())
    rows = {row["identity"]["pane_id"]: row["identity"]["window_id"] for row in fleet.rows()}
    listed = Counter(window["identity"]["window_id"] for window in windows(fleet))
    return bool(rows) and all(where[pane] == window for pane, window in rows.items()) and set(listed.values()) == {1}


def test_a_row_follows_its_pane_through_every_move(fleet: Fleet) -> None:
    one, two = fleet.agent(), fleet.agent()
    fleet.up()
    fleet.row(one)
    fleet.row(two)
    runtime = fleet.row(one)["runtime_id"]
    fleet.tmux("new-session", "-d", "-s", "other")
    for command in (
        ("join-pane", "-d", "-s", one, "-t", two),
        ("break-pane", "-d", "-s", one),
        ("move-window", "-d", "-s", one, "-t", "other:7"),
        ("swap-pane", "-d", "-s", one, "-t", two),
        ("link-window", "-d", "-s", two, "-t", "other:9"),
    ):
        fleet.tmux(*command)
        until(lambda: in_step(fleet))
    assert fleet.row(one)["runtime_id"] == runtime
