"""From a heartbeat that finds something to the person who is told, with the whole daemon."""

from __future__ import annotations

import os
import signal
from typing import Any

from tests.covey.beats.pretended import Pretended, until
from tests.covey.conftest import Covey


def needs(covey: Covey, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = covey.run("needs", *words).result["items"]
    return found


def beat(covey: Covey) -> None:
    answer = covey.decide("POST", "/v1/beats/run", path=str(covey.folder / "shed"))
    assert answer[0] == 200, answer


def test_what_a_beat_found_needs_somebody_until_a_run_is_ok(covey: Covey) -> None:
    agent = Pretended(covey.folder / "bin")
    (covey.folder / "shed").mkdir()
    (covey.folder / "shed" / "HEARTBEAT.md").write_text("---\ninterval: 1d\n---\nLook.\n")
    told = covey.folder / "told"
    covey.home.mkdir()
    (covey.home / "config.toml").write_text(
        f"""[attention]\nnotify = ["sh", "-c", 'echo "$COVEY_TITLE" >>{told}']\n"""
        f"""[[beats.workspace]]\npath = "{covey.folder}/shed"\n"""
    )
    path = {"PATH": f"{agent.folder}:{os.environ['PATH']}"}
    agent.wish(says="ATTENTION: the roof leaks")
    assert covey.run("up", **path).code == 0
    beat(covey)
    until(lambda: bool(needs(covey)), "the item")
    (item,) = needs(covey)
    assert (item["title"], item["data"]["beat"], item["source"]) == ("shed: the roof leaks", "shed", "beats")
    until(lambda: told.exists() and told.read_text() == "shed: the roof leaks\n", "the notification")
    os.kill(covey.pid, signal.SIGKILL)
    assert covey.run("up", **path).code == 0
    assert [one["id"] for one in needs(covey)] == [item["id"]]
    agent.wish(says="HEARTBEAT_OK")
    beat(covey)
    until(lambda: not needs(covey), "the end of the item")
    (closed,) = needs(covey, "--all")
    assert (closed["id"], closed["closed_why"]) == (item["id"], "the last run was ok")
