"""A real agent that is suspended with Ctrl-Z and continued: a row that says so, and no end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import SHELL, until
from tests.covey.fleet.test_restart import kinds


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        yield made


def test_an_agent_that_is_suspended_is_a_row_that_says_so_until_it_is_continued(fleet: Fleet) -> None:
    pane = fleet.tmux("new-session", "-d", "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}", *SHELL)
    fleet.up()
    fleet.type(pane, str(fleet.covey.folder / "toy-agent"))
    fleet.row(pane)
    fleet.show(pane, "[work]")
    row = fleet.row(pane, "running")
    waited: list[bytes] = []
    waiting = threading.Thread(
        target=lambda: waited.append(
            fleet.covey.request("GET", f"/v1/wait?ref={row['runtime_id']}&state=idle&timeout=8s")[2]
        )
    )
    waiting.start()
    fleet.tmux("send-keys", "-t", pane, "C-z")
    suspended = until(lambda: next((one for one in fleet.rows() if one["reason"] == "suspended"), None))
    assert (suspended["runtime_id"], suspended["state"], suspended["confidence"]) == (
        row["runtime_id"],
        "unknown",
        "high",
    )
    waiting.join()
    assert json.loads(waited[0].split(b"data: ")[-1])["outcome"] == "timeout"
    fleet.recorded()
    fleet.kill()
    fleet.up()
    assert fleet.row(pane)["reason"] == "suspended"
    fleet.type(pane, "fg")
    assert fleet.row(pane, "running")["runtime_id"] == row["runtime_id"]
    assert [kind for kind, _ in kinds(fleet) if kind != "agent.state"] == ["agent.started"]
