"""Turns of a kept agent, from its transcript to the journal and to subscribers, each once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from covey.contract.fleet import OPERATIONS
from covey.contract.keeper_events import TURN_FINISHED
from covey.keeper.broadcast.subscribers import Subscribers
from covey.keeper.broadcast.turns import MARK_S, MIGRATION, TRANSCRIPTS, TurnFollower, store_position, stored_position
from covey.keeper.sessions.record import KeptSession
from covey.kernel.clock import timestamp
from covey.kernel.daemon import Daemon
from covey.kernel.operations.call import Call
from covey.kernel.store.store import Store
from covey.kernel.subsystem import Context, Opened, Subsystem
from tests.covey.attention.rooms import homes
from tests.covey.conftest import TIME_LIMIT
from tests.covey.fleet.room import until
from tests.covey.keeper.kept import Kept

CONVERSATION = next(operation for operation in OPERATIONS if operation.name == "conversation")


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


class SeenAgent:
    """A kept Claude Code whose state the fleet says, and whose transcript a test writes."""

    def __init__(self, folder: Path, context: Context) -> None:
        self.transcript = folder / "transcript.jsonl"
        self.record = KeptSession(
            name="api",
            agent="claude",
            cwd=str(folder),
            conversation="c1",
            created_at=1.0,
            folder=str(folder),
            socket="",
        )
        self.subscribers = Subscribers("api", folder, clock=context.clock, is_own=lambda _: True)
        self.runtime_id = "runtime1"
        self.row: dict[str, Any] | None = None

    @property
    def state(self) -> str:
        return str(self.row["state"]) if self.row else ""

    def is_in(self, state: str, since: float) -> None:
        self.row = {"runtime_id": self.runtime_id, "pid": 0, "state": state, "since": timestamp(since)}

    def write(self, kind: str, **more: object) -> None:
        line = {"type": kind, "uuid": f"{time.time_ns()}", "timestamp": timestamp(time.time()), **more}
        with self.transcript.open("a") as file:
            file.write(json.dumps(line) + "\n")

    async def learn(self, conversation: str) -> None:
        assert conversation == self.record.conversation


@contextlib.asynccontextmanager
async def followed(folder: Path) -> AsyncIterator[tuple[SeenAgent, TurnFollower, Daemon]]:
    """Follow the turns of an agent, in a daemon whose fleet is the test."""
    made: list[tuple[SeenAgent, TurnFollower]] = []

    async def conversation(_: Call) -> object:
        (agent, _follower) = made[0]
        return {"runtime_id": "runtime1", "agent": "claude", "id": "c1", "transcript": str(agent.transcript)}

    @contextlib.asynccontextmanager
    async def opened(context: Context) -> AsyncIterator[Opened]:
        agent = SeenAgent(folder, context)
        made.append((agent, TurnFollower(agent, context, thinking=lambda: True)))
        yield Opened({"conversation": conversation})

    subsystem = Subsystem("test", opened, operations=[CONVERSATION], migrations=[MIGRATION], events=[TURN_FINISHED])
    with homes() as home:
        async with Daemon.running(home.node, [subsystem]) as daemon:
            ((agent, follower),) = made
            task = asyncio.create_task(follower.run())
            try:
                yield agent, follower, daemon
            finally:
                task.cancel()


async def finished_turns(daemon: Daemon) -> list[dict[str, Any]]:
    return [dict(event.data) for event in await daemon.events.history(kinds=[TURN_FINISHED])]


async def test_a_turn_of_an_agent_that_is_not_yet_seen_to_work_is_told_whole(tmp_path: Path) -> None:
    async with followed(tmp_path) as (agent, follower, daemon):
        agent.is_in("completed", time.time() - 60)  # what was known before the prompt, such as before a restart
        agent.write("user", promptId="p1", message={"role": "user", "content": "work"})
        follower.wake.set()
        await asyncio.sleep(MARK_S + 1)  # the moment is what is tested
        assert await finished_turns(daemon) == []
        agent.write("assistant", message={"role": "assistant", "content": [{"type": "text", "text": "Done."}]})
        agent.write("system", subtype="turn_duration")
        async with daemon.events.subscribe(since=0, kinds=[TURN_FINISHED]) as turns:
            (told,) = await turns.take(TIME_LIMIT)
        assert told.data["turn"] == [{"type": "text", "text": "Done."}]
        assert (told.data["prompt"], told.data["interrupted"]) == ("work", False)
