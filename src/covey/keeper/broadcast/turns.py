"""The finished turns of a kept agent: read from its transcript, written to the journal, told to subscribers.

A turn is in the journal with the place in the transcript up to which it was read, in one transaction: a daemon that is
killed tells none twice, and leaves none out.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import replace

from covey.agents.json_values import timestamp
from covey.agents.registry import BLOCKS
from covey.agents.transcript_turns import Position, follow_turns
from covey.contract.keeper_events import TURN_FINISHED
from covey.keeper.delivery.deliverer import CALLER
from covey.kernel.processes.process import birth
from covey.kernel.processes.process import ended as process_ended
from covey.kernel.store.migrations import Migration
from murli import AgentError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from covey.agents.blocks import FinishedTurn
    from covey.agents.transcript_turns import TurnSource
    from covey.keeper.broadcast.subscribers import Subscribers
    from covey.keeper.sessions.record import KeptSession
    from covey.kernel.subsystem import Context

MIGRATION = Migration(
    "keeper.positions",
    "CREATE TABLE keeper_position (session TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT, WITHOUT ROWID;",
)
RUNNING_S = 1.0
"""After which the transcript of an agent that works is read again, although nothing was heard."""
WRITTEN_S, MARK_S, LOOK_S = 0.2, 3.0, 0.05
"""Within which an agent writes down the end of a turn after it has told of it; with a mark, if it writes marks."""
WRITES_S = 15.0
"""After the last news of an agent, for about which its transcript is looked at, more and more rarely."""
ENDS_S = 10.0
"""Within which the process of an agent ends that is not seen any more."""
EVENT_BYTES = 600_000
"""Of the blocks in one event; longer texts in them are shortened."""
SHORTENED_CHARACTERS = 2000
TRANSCRIPTS = 20
"""Of one session whose positions are kept."""
RESTS = frozenset({"idle", "completed", "error"})


class Followed(Protocol):
    """The session whose turns are followed."""

    record: KeptSession
    row: dict[str, Any] | None
    subscribers: Subscribers

    @property
    def runtime_id(self) -> str: ...
    @property
    def state(self) -> str: ...
    async def learn(self, conversation: str) -> None:
        """Note which conversation the agent has."""
        ...


class TurnFollower:
    """Tells the turns of one session while `run` runs. `wake` has to be set when its agent has done something."""

    def __init__(self, agent: Followed, context: Context, *, thinking: Callable[[], bool]) -> None:
        self.wake = asyncio.Event()
        self.transcript = ""
        """The file that is read."""
        self._agent = agent
        self._context = context
        self._thinking = thinking
        self._turns: TurnSource | None = None
        self._runtime_id = ""
        self._process = (0, "")
        """The pid and the birth of the agent with that id."""
        self._place = ("", "")
        """The file and the conversation in it that `_turns` reads."""

    async def run(self) -> None:
        """Tell turns until cancelled."""
        if self._agent.record.agent not in BLOCKS:
            return
        await self._context.dispatcher.installed.wait()
        pause = RUNNING_S
        while True:
            self.wake.clear()
            await self._look()
            # A transcript may be written a little after the agent has told that it rests, and be found even later.
            works = self._agent.state == "running"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause if works or pause <= WRITES_S else None):
                    await self.wake.wait()
            pause = RUNNING_S if works or self.wake.is_set() else 2 * pause

    async def _look(self) -> None:
        if self._agent.runtime_id != self._runtime_id:
            await self._change_agent()
        if self._agent.runtime_id:
            await self._find()
        if self._turns is None:
            return
        await self._read()
        if self._agent.state in RESTS and self._turns.open:
            await self._finish()

    async def _change_agent(self) -> None:
        """End what is open of the former agent's turn, which comes no further, and remember the present agent.

        A process whose tmux server is gone ends a little later, and may write until then.
        """
        row = self._agent.row
        runtime_id, pid = (row["runtime_id"], row["pid"]) if row else ("", 0)
        if self._turns is not None and self._runtime_id:
            if all(self._process):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(ENDS_S):
                        await process_ended(*self._process)
            await self._read()
            await self._take(partial(self._turns.end, self._context.clock.time()))
        self._runtime_id = runtime_id
        self._process = (pid, birth(pid)) if pid else (0, "")

    async def _read(self) -> None:
        assert self._turns is not None
        await self._take(self._turns.read)
        while self._turns.behind:
            await self._take(self._turns.read)

    async def _finish(self) -> None:
        """Wait for the mark of the end of a turn that is over; without one, that the agent rests has to do."""
        assert self._turns is not None
        clock, source = self._context.clock, self._turns
        over, began = clock.time(), clock.monotonic()
        while source.open and self._rests() and clock.monotonic() - began < self._patience_s(source):
            await clock.sleep(LOOK_S)
            await self._read()
        if source.open and self._rests():
            await self._take(partial(source.end, over))

    def _rests(self) -> bool:
        return self._agent.state in RESTS and self._agent.runtime_id == self._runtime_id

    def _patience_s(self, source: TurnSource) -> float:
        """Return how long the end of the open turn is waited for.

        An agent that is said to rest since before its prompt is at work: the fleet has not noticed it yet, such as
        after a start of the daemon on a busy machine.
        """
        rests_since = timestamp((self._agent.row or {}).get("since")) or 0.0
        if rests_since < source.unanswered_since:
            return WRITES_S
        return MARK_S if source.marks_end else WRITTEN_S

    async def _find(self) -> None:
        """Find the transcript of the present agent, which may have changed with its conversation."""
        try:
            told = await self._context.dispatcher.call(
                "conversation", {"ref": f"runtime:{self._agent.runtime_id}"}, CALLER
            )
        except AgentError:
            return
        if told["id"]:
            await self._agent.learn(told["id"])
        place = (told["transcript"], told["id"])
        if told["transcript"] and place != self._place:
            self._place, self.transcript = place, told["transcript"]
            stored = await self._context.store.read(lambda db: stored_position(db, self._agent.record.name))
            position = stored.get("\n".join(place))
            self._turns = follow_turns(
                self._agent.record.agent, *place, msgspec.convert(position, Position) if position else None
            )

    async def _take(self, read: Callable[[], list[FinishedTurn]]) -> None:
        """Tell the turns that a reading finds. Up to the last of them, the place before the reading is stored."""
        assert self._turns is not None
        place = self._turns.position
        turns = await asyncio.to_thread(read)
        for turn in turns:
            place = replace(place, keys=(*place.keys, turn.key))
            await self._tell(turn, self._turns.position if turn is turns[-1] else place)

    async def _tell(self, turn: FinishedTurn, place: Position) -> None:
        record = self._agent.record
        blocks = [block for block in turn.blocks if block["type"] != "thinking" or self._thinking()]
        shown, shortened = _shortened(blocks)
        position = {"\n".join(self._place): msgspec.to_builtins(place)}
        await self._context.events.append(
            TURN_FINISHED,
            subject=record.name,
            data={
                "session": record.conversation,
                "agent": record.agent,
                "key": turn.key,
                "prompt": turn.prompt[:SHORTENED_CHARACTERS],
                "interrupted": turn.interrupted,
                "shortened": shortened,
                "turn": shown,
            },
            source="keeper",
            also=lambda db: store_position(db, record.name, position),
        )
        self._agent.subscribers.tell(record.conversation, blocks, turn.ended_at)


def stored_position(db: sqlite3.Connection, session: str) -> dict[str, Any]:
    """Return how far transcripts were read, by path."""
    row = db.execute("SELECT position FROM keeper_position WHERE session = ?", (session,)).fetchone()
    return dict(json.loads(row[0])) if row else {}


def store_position(db: sqlite3.Connection, session: str, position: dict[str, Any]) -> None:
    """Store how far a transcript of a session was read. The last ones are kept: a person may return to them."""
    earlier = {place: known for place, known in stored_position(db, session).items() if place not in position}
    kept = dict(list({**earlier, **position}.items())[-TRANSCRIPTS:])
    db.execute("INSERT OR REPLACE INTO keeper_position VALUES (?, ?)", (session, json.dumps(kept)))


def _shortened(blocks: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """Return the blocks as they fit into an event, and whether something had to be left out."""
    if len(json.dumps(blocks)) <= EVENT_BYTES:
        return list(blocks), False
    shorter = [{name: _cut(value) for name, value in block.items()} for block in blocks]
    while len(json.dumps(shorter)) > EVENT_BYTES:
        del shorter[len(shorter) // 2]
    return shorter, True


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:SHORTENED_CHARACTERS]
    text = json.dumps(value)
    return value if len(text) <= SHORTENED_CHARACTERS else text[:SHORTENED_CHARACTERS]
