"""Turns of a kept agent, from its transcript to the journal and to subscribers, each once."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from covey.keeper.broadcast.turns import MIGRATION, TRANSCRIPTS, store_position, stored_position
from covey.kernel.store.store import Store
from tests.covey.conftest import TIME_LIMIT
from tests.covey.fleet.room import until
from tests.covey.keeper.kept import Kept


def subscribe(kept: Kept) -> socket.socket:
    found = socket.socket(socket.AF_UNIX)
    found.settimeout(TIME_LIMIT)
    found.connect(str(Path(kept.session()["path"]) / "output.sock"))
    return found


def said(subscriber: socket.socket) -> dict[str, Any]:
    with subscriber.makefile() as lines:
        return json.loads(lines.readline())  # type: ignore[no-any-return]


@pytest.mark.once
def test_a_turn_is_told_once_also_when_the_daemon_is_killed_and_its_file_is_known(kept: Kept) -> None:
    kept.begin()
    session = kept.start()
    with subscribe(kept) as one, subscribe(kept) as two:
        kept.write("one")
        turns = [said(one), said(two)]
    assert turns[0] == turns[1]
    assert turns[0]["session"] == session["conversation"]
    assert [block["type"] for block in turns[0]["turn"]] == ["text"]
    assert turns[0]["turn"][0]["text"].startswith("You said")
    status, _, body = kept.covey.request("GET", f"/v1/conversation?ref={quote(session['ref'])}")
    assert status == 200
    told = json.loads(body)
    assert (told["runtime_id"], told["agent"], told["id"]) == (session["runtime_id"], "claude", session["conversation"])
    assert told["transcript"] == kept.session()["transcript"]
    assert Path(told["transcript"]).name == f"{session['conversation']}.jsonl"

    hold = kept.told_file.with_name("hold")
    hold.touch()
    kept.write("two")
    kept.when(state="running")
    kept.kill()
    hold.unlink()  # it finishes its turn while no daemon runs
    until(lambda: "turn_duration" in Path(told["transcript"]).read_text().splitlines()[-1])
    kept.begin()
    until(lambda: len(kept.kept_events("turn.finished")) == 2)
    kept.ready()
    kept.write("three")
    until(lambda: len(kept.kept_events("turn.finished")) == 3)
    finished = kept.kept_events("turn.finished")
    assert [event["prompt"].rpartition(" ")[2] for event in finished] == ["one", "two", "three"]
    assert len({event["key"] for event in finished}) == 3
    assert {event["session"] for event in finished} == {session["conversation"]}


@pytest.mark.once
def test_what_an_agent_writes_after_its_terminal_is_gone_is_part_of_its_turn(kept: Kept) -> None:
    kept.begin()
    for name in ("outlives", "hold"):
        kept.told_file.with_name(name).touch()
    kept.start()
    kept.write("one")
    kept.when(state="running")
    until(lambda: kept.kept_events("keeper.delivered"))
    kept.kill_tmux()
    kept.ready(restarts=1)
    (turn,) = until(lambda: kept.kept_events("turn.finished"))
    assert [block["type"] for block in turn["turn"]] == ["text"]
    assert not turn["interrupted"]


async def test_positions_of_several_transcripts_are_kept_but_not_of_all(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
        for number in range(TRANSCRIPTS + 5):
            await store.write(lambda db, place=f"t{number}": store_position(db, "api", {place: {"offset": 1}}))  # type: ignore[misc]
        await store.write(lambda db: store_position(db, "api", {"t5": {"offset": 2}}))
        found = await store.read(lambda db: stored_position(db, "api"))
        assert len(found) == TRANSCRIPTS
        assert list(found)[-1] == "t5"
        assert found["t5"] == {"offset": 2}
        assert "t4" not in found
        assert await store.read(lambda db: stored_position(db, "web")) == {}
