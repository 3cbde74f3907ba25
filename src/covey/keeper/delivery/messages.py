"""The messages that wait for kept agents, in the database: stored before more is read from their channel.

A message is `sent` in the receipt of an action while it is on its way, and is removed when the agent has seen it.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.contract.keeper_events import MESSAGE_ACCEPTED
from covey.keeper.delivery.merged import Waiting
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from covey.keeper.channels.message import Message
    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

MIGRATION = Migration(
    "keeper.messages",
    """
CREATE TABLE keeper_message (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    channel TEXT NOT NULL,
    content TEXT NOT NULL,
    at      REAL NOT NULL,
    meta    TEXT NOT NULL,
    again   INTEGER NOT NULL DEFAULT 0,
    attempt TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX keeper_message_session ON keeper_message (session, id);
""",
)
CLAIMED = Migration(
    "keeper.claimed_channels", "ALTER TABLE keeper_message ADD COLUMN claimed TEXT NOT NULL DEFAULT '';"
)
"""`attempt`: the key under which the message was last handed over; empty if that never happened, or came to nothing."""
INSERT = "INSERT INTO keeper_message (session, channel, claimed, content, at, meta) VALUES (?, ?, ?, ?, ?, ?)"
MOST, MOST_CHARACTERS = 10_000, 50_000_000
"""Of the messages that may wait for one session; a channel is not read while there are more."""


class Messages:
    """The messages of one session."""

    def __init__(self, name: str, store: Store, events: Events) -> None:
        self.name = name
        self.waiting: list[Waiting] = []
        """As in the database, in order."""
        self.attempt = ""
        """The key under which the first of them were handed over, if it is not known what became of them."""
        self.attempted: list[int] = []
        """The messages that were handed over under that key."""
        self.fewer = asyncio.Event()
        """Set when messages were removed."""
        self._store = store
        self._events = events

    async def load(self) -> None:
        """Read what the last daemon left."""
        rows = await self._store.read(
            lambda db: db.execute(
                "SELECT id, channel, claimed, content, at, again, attempt FROM keeper_message WHERE session = ? "
                "ORDER BY id",
                (self.name,),
            ).fetchall()
        )
        self.waiting = [
            Waiting(id=number, channel=channel, claimed=claimed, content=content, at=at, again=bool(again))
            for number, channel, claimed, content, at, again, _ in rows
        ]
        self.attempt = rows[0][-1] if rows else ""
        self.attempted = [number for number, *_, attempt in rows if attempt and attempt == self.attempt]

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more is taken."""
        return len(self.waiting) >= MOST or sum(len(one.content) for one in self.waiting) >= MOST_CHARACTERS

    async def add(self, messages: Sequence[Message]) -> None:
        """Store messages that came in. Returns when that is durable."""
        if not messages:
            return
        channel = messages[0].channel

        def work(db: sqlite3.Connection) -> None:
            stored.clear()  # it may be run twice
            for message in messages:
                meta = json.dumps(message.meta)
                values = (self.name, message.channel, message.claimed, message.content, message.at, meta)
                stored.append(db.execute(INSERT, values).lastrowid or 0)

        stored = list[int]()
        data = {"channel": channel, "messages": len(messages)}
        await self._events.append(MESSAGE_ACCEPTED, subject=self.name, data=data, source="keeper", also=work)
        self.waiting += [
            Waiting(id=number, channel=message.channel, claimed=message.claimed, content=message.content, at=message.at)
            for number, message in zip(stored, messages, strict=True)
        ]

    async def begin(self, messages: Sequence[Waiting], attempt: str) -> None:
        """Note under which key messages are handed over, before they are."""
        await self._update("attempt = ?", messages, attempt)
        self.attempt = attempt
        self.attempted = [message.id for message in messages]

    async def send_again(self, messages: Sequence[Waiting]) -> None:
        """Note that messages have to be sent again, and that the agent may have got them."""
        await self._update("attempt = '', again = 1", messages)
        numbers = {message.id for message in messages}
        self.waiting = [replace(one, again=True) if one.id in numbers else one for one in self.waiting]
        self._attempt_is_over()

    async def take_back(self, messages: Sequence[Waiting]) -> None:
        """Note that nothing was typed of messages that were handed over."""
        await self._update("attempt = ''", messages)
        self._attempt_is_over()

    def remove(self, db: sqlite3.Connection, messages: Sequence[Waiting]) -> None:
        """Remove messages that the agent has seen. `removed` has to be called when that is durable."""
        db.executemany("DELETE FROM keeper_message WHERE id = ?", [(message.id,) for message in messages])

    def removed(self, messages: Sequence[Waiting]) -> None:
        """Forget messages that were removed from the database."""
        numbers = {message.id for message in messages}
        self.waiting = [message for message in self.waiting if message.id not in numbers]
        self.fewer.set()
        self._attempt_is_over()

    def _attempt_is_over(self) -> None:
        self.attempt = ""
        self.attempted = []

    async def _update(self, change: str, messages: Sequence[Waiting], *values: object) -> None:
        rows = [(*values, message.id) for message in messages]
        statement = f"UPDATE keeper_message SET {change} WHERE id = ?"  # noqa: S608 - constants
        await self._store.write(lambda db: db.executemany(statement, rows).rowcount)


def forget_messages(db: sqlite3.Connection, session: str) -> int:
    """Remove all messages of a session. Returns how many they were."""
    return db.execute("DELETE FROM keeper_message WHERE session = ?", (session,)).rowcount


def rename_messages(db: sqlite3.Connection, before: str, after: str) -> None:
    """Give the messages of a session to its new name."""
    db.execute("UPDATE keeper_message SET session = ? WHERE session = ?", (after, before))
