"""From the mesh to an agent of this host: a message to @host/agent is given to the node, which guards what is typed.

What is to be handed over is stored with the event of the message, so that a crash loses nothing; the id of the message
is the idempotency key at the node, so that nothing is typed twice. A message is never consent: the node refuses to type
while an agent asks something.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.contract import OPERATIONS
from covey.kernel.client import Client, Interrupted, NotAnswered, NotRunning, NotUnderstood
from covey.kernel.home import Home
from covey.kernel.store.migrations import Migration
from covey.mesh.peer.agent_queues import AgentQueues
from covey.mesh.peer.agent_text import agent_text
from covey.mesh.peer.bridge_rules import ALLOW, allowed
from murli import AgentError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from covey.kernel.store.store import Store
    from covey.kernel.subsystem import Context
    from covey.mesh.inbox.inbox import Inbox, Message

MIGRATIONS = (
    Migration(
        "mesh.bridge",
        """
CREATE TABLE mesh_bridge (
    id TEXT PRIMARY KEY,
    receipt TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL
) STRICT;
""",
    ),
)
OLDEST_S = 23 * 3600.0
"""After which a message is not handed over any more: the node keeps idempotency keys for 24 hours."""
WAIT = "24h"
"""How long a message may wait for its agent at the node."""
FORGOTTEN_S = 50 * 3600.0
"""After which nothing can come of a message that was handed over."""
LOOK_FIRST_S, LOOK_LONGEST_S, NODE_DOWN_S = 0.25, 4.0, 2.0
FEW_RECEIPTS, MOST_RECEIPTS = 50, 1000
BATCH = 200
NOT_GIVEN, NOT_KNOWN = "not_given_to_agent", "not_known_to_be_seen"
"""What the sender is told: that the agent has not got the message, or that this is not known."""
OUTCOMES = (NOT_GIVEN, NOT_KNOWN)
NOT_ALLOWED = "its owner has not allowed you to write to it (bridge.allow)"
UNREACHABLE = (NotRunning, NotAnswered, Interrupted, NotUnderstood)
OUTCOME_UNKNOWN = "outcome_unknown"

log = logging.getLogger("covey.mesh.bridge")


class Pending(NamedTuple):
    """A message that is on its way to an agent. `receipt` is the node's, empty before it has accepted it."""

    id: str
    receipt: str
    at: float


class Bridge:
    """Hands messages to the node, and learns from its receipts when their agents have seen them."""

    def __init__(
        self,
        context: Context,
        slug: str,
        inbox: Inbox,
        *,
        on_seen: Callable[[str], Awaitable[None]],
        on_not_seen: Callable[[Message, str, str], Awaitable[None]],
    ) -> None:
        """`on_seen` gets the id of a message that an agent has seen.

        `on_not_seen` gets one of which that will never be known, NOT_GIVEN or NOT_KNOWN, and a sentence. It may be
        called again with the same message after a crash.
        """
        self._context = context
        self._store: Store = context.store
        self._slug = slug
        self._inbox = inbox
        self._on_seen = on_seen
        self._on_not_seen = on_not_seen
        self._socket = Home(context.seat.home).node.socket
        self._wake = asyncio.Event()
        self._reached = True

    @staticmethod
    def store(database: sqlite3.Connection, message: Message) -> None:
        """Store that a message is to be handed over, in the transaction of its event."""
        database.execute("INSERT OR IGNORE INTO mesh_bridge (id, at) VALUES (?, ?)", (message.id, message.received_at))

    def wake(self) -> None:
        """Look for messages that are to be handed over."""
        self._wake.set()

    async def run(self) -> None:
        """Hand messages over, and look after those that wait, for ever: more rarely the longer nothing happens."""
        async with asyncio.TaskGroup() as group:
            queues = AgentQueues(group, self._hand_over, self.wake)
            pause, known = LOOK_FIRST_S, set[str]()
            while True:
                self._wake.clear()
                new = await self._take(queues)
                waiting = await self._store.read(_handed_over)
                if not new and not waiting:
                    await self._wake.wait()
                    continue
                news = new or any(one.id not in known for one in waiting)
                known = {one.id for one in waiting}
                try:
                    news = await self._look(waiting) or news
                except UNREACHABLE as error:
                    self._tell_reached(error.message)
                if self._reached:
                    pause = LOOK_FIRST_S if news else min(2 * pause, LOOK_LONGEST_S)
                    await self._rest(pause)
                else:
                    await self._context.clock.sleep(NODE_DOWN_S)

    async def _take(self, queues: AgentQueues) -> bool:
        """Put messages that are to be handed over into the queues of their agents. Returns whether there were any."""
        rows = await self._store.read(lambda database: _not_handed_over(database, BATCH + len(queues.taken)))
        new = [row.id for row in rows if row.id not in queues.taken]
        for id_ in new:
            message = await self._inbox.get(id_)
            if message is None:
                await self._done(id_)
            else:
                queues.add(message)
        return bool(new)

    async def _rest(self, pause: float) -> None:
        """Wait for a new message, but not longer than so many seconds."""
        waits = [asyncio.ensure_future(self._context.clock.sleep(pause)), asyncio.ensure_future(self._wake.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()

    def _tell_reached(self, reason: str) -> None:
        """Log when the node is not reached any more, and when it is again."""
        if reason and self._reached:
            log.warning("messages to agents wait for the node", extra={"reason": reason})
        elif not reason and not self._reached:
            log.info("the node is reached again")
        self._reached = not reason

    async def _hand_over(self, message: Message) -> bool:
        """Give a message to the node. Returns False if the node is not reached."""
        if self._context.clock.time() - message.received_at > OLDEST_S:
            await self._give_up(message, NOT_GIVEN, "Covey did not run on its host for too long")
            return True
        if not allowed(self._context.config.current.get(ALLOW), message.sender, message.agent):
            await self._give_up(message, NOT_GIVEN, NOT_ALLOWED)
            return True
        params = {
            "ref": message.agent,
            "text": agent_text(message.text, name=message.sender_name or message.sender, mesh=self._slug),
            "when_ready": True,
            "timeout": WAIT,
        }
        try:
            result = await asyncio.to_thread(self._call, "send", params, f"mesh-{message.id}")
        except UNREACHABLE as error:
            self._tell_reached(error.message)
            return False
        except AgentError as error:
            known = error.error != OUTCOME_UNKNOWN
            reason = error.message if known else "Covey on its host ended while it was typed"
            await self._give_up(message, NOT_GIVEN if known else NOT_KNOWN, reason)
            return True
        self._tell_reached("")
        receipt = str(result["receipt"]["id"])
        await self._store.write(
            lambda database: (
                database.execute("UPDATE mesh_bridge SET receipt = ? WHERE id = ?", (receipt, message.id)) and None
            )
        )
        return True

    async def _look(self, waiting: Sequence[Pending]) -> bool:
        """Look what became of messages that were handed over. Returns whether something is known of one now."""
        if not waiting:
            return False
        receipts = await self._receipts(FEW_RECEIPTS)
        self._tell_reached("")
        complete = len(receipts) < FEW_RECEIPTS
        if not complete and any(one.receipt not in receipts for one in waiting):
            receipts = await self._receipts(MOST_RECEIPTS)
            complete = len(receipts) < MOST_RECEIPTS
        before = len(waiting)
        for one in waiting:
            row = receipts.get(one.receipt)
            if row is None and (complete or self._context.clock.time() - one.at > FORGOTTEN_S):
                await self._close(one, NOT_KNOWN, "Covey on its host has forgotten it")
            elif row is None or row["open"]:
                before -= 1
            elif row["rung"] in ("seen", "answered"):
                await self._on_seen(one.id)
                await self._done(one.id)
            else:
                outcome = NOT_GIVEN if _is_untyped(row) else NOT_KNOWN
                await self._close(one, outcome, row["why"] or "it ended before the agent had seen it")
        return before > 0

    async def _receipts(self, limit: int) -> dict[str, Mapping[str, Any]]:
        listed = await asyncio.to_thread(self._call, "receipts.list", {"limit": limit}, "")
        return {row["id"]: row for row in listed["items"]}

    async def _close(self, one: Pending, outcome: str, reason: str) -> None:
        message = await self._inbox.get(one.id)
        if message is None:
            await self._done(one.id)
        else:
            await self._give_up(message, outcome, reason)

    async def _give_up(self, message: Message, outcome: str, reason: str) -> None:
        log.warning("message not known to be seen", extra={"id": message.id, "outcome": outcome, "reason": reason})
        if outcome == NOT_GIVEN:
            sentence = f"Your message was not given to {message.agent}: {reason}"
        else:
            sentence = f"Whether {message.agent} has your message is not known: {reason}"
        await self._on_not_seen(message, outcome, sentence)
        await self._done(message.id)

    async def _done(self, id_: str) -> None:
        await self._store.write(
            lambda database: database.execute("DELETE FROM mesh_bridge WHERE id = ?", (id_,)) and None
        )

    def _call(self, name: str, params: dict[str, Any], key: str) -> Any:
        operation = next(one for one in OPERATIONS if one.name == name)
        return Client(self._socket, surface="http").call(operation, params, idempotency_key=key)


def _is_untyped(receipt: Mapping[str, Any]) -> bool:
    """Return whether a receipt that is closed says that nothing was typed."""
    why = str(receipt["why"])
    return bool(receipt["rung"] == "accepted") and (
        why.endswith("nothing was typed") or why.startswith("it has waited for too long")
    )


def _not_handed_over(database: sqlite3.Connection, limit: int) -> list[Pending]:
    """Return the next messages to be handed over, in the order in which they came."""
    query = "SELECT id, receipt, at FROM mesh_bridge WHERE receipt = '' ORDER BY rowid LIMIT ?"
    return [Pending(*row) for row in database.execute(query, (limit,))]


def _handed_over(database: sqlite3.Connection) -> list[Pending]:
    rows = database.execute("SELECT id, receipt, at FROM mesh_bridge WHERE receipt <> '' ORDER BY rowid")
    return [Pending(*row) for row in rows]
