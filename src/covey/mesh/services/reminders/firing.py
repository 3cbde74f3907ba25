"""Reminders that are due come into the inbox of this member, each time once.

Every peer does that for its own member from its replica, so that nothing is needed at that moment but the peer. The id
of the message is made of the reminder and the time: a peer that was killed between the inbox and its own mark finds the
message there. The mark, up to when a reminder has come, is stored with the event.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from covey.contract.mesh_services.reminders import FIRED
from covey.kernel.clock import timestamp
from covey.kernel.store.migrations import Migration
from covey.mesh.inbox.message import Incoming
from covey.mesh.services.holder import Holder, holder_view
from covey.mesh.services.reminders.reminder import message_id, read_reminder, text_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.reminders.reminder import Due, Reminder
    from covey.mesh.services.service import Surroundings

MIGRATIONS = (
    Migration(
        "mesh.reminders",
        """
CREATE TABLE mesh_reminder (
    key  TEXT PRIMARY KEY,
    upto REAL NOT NULL
) STRICT, WITHOUT ROWID;
""",
    ),
)
"""In the store of the peer, which is not made anew like the replica."""
OUTBOX = "reminder"
"""What the inbox numbers these messages by, for each author."""


class Firing:
    """Lets reminders come."""

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        self._documents = documents
        self._surroundings = surroundings
        self._upto: dict[str, float] | None = None

    async def fire(self, documents: Sequence[Document]) -> float:
        """Let everything come that is due, and return when the next one is."""
        upto = await self._known()
        soonest = float("inf")
        for document in documents:
            reminder = read_reminder(document)
            if reminder is None or not self._surroundings.directory.is_member(document.author):
                continue
            begin = max(upto.get(document.key, 0.0), self._begin(reminder))
            now = self._documents.now()
            due = await asyncio.to_thread(reminder.due, begin, now)
            if due is not None:
                if self._is_ours(reminder):
                    await self._come(document, reminder, due)
                else:
                    await self._surroundings.context.store.write(_mark(document.key, due.at))
                upto[document.key] = due.at
            soonest = min(soonest, await asyncio.to_thread(reminder.next_after, max(now, begin)))
        return soonest

    async def _known(self) -> dict[str, float]:
        """Return up to when each reminder has come."""
        if self._upto is None:
            self._upto = dict(
                await self._surroundings.context.store.read(
                    lambda database: database.execute("SELECT key, upto FROM mesh_reminder").fetchall()
                )
            )
        return self._upto

    def _begin(self, reminder: Reminder) -> float:
        """Return from when on a reminder concerns us: since it was made, and we are a member."""
        own = self._surroundings.directory.members.get(self._documents.member)
        return max(reminder.created_at, own.joined_at if own is not None else 0.0)

    def _is_ours(self, reminder: Reminder) -> bool:
        return reminder.everybody or reminder.to.includes(self._documents.member, self._surroundings.directory)

    async def _come(self, document: Document, reminder: Reminder, due: Due) -> None:
        """Put the message of one time into the inbox, unless it is there, then tell it and mark it."""
        inbox, now = self._surroundings.inbox, self._documents.now()
        author, id_ = document.author, message_id(document.key, due.at)
        received = inbox.numbers(author).get(OUTBOX)
        stored = await inbox.store(
            [
                Incoming(
                    stream="",
                    sequence=0,
                    id=id_,
                    sender=author,
                    sender_name=self._surroundings.directory.name_of(author),
                    outbox=OUTBOX,
                    n=received.upto + 1 if received is not None else 1,
                    at=due.at,
                    text=text_of(reminder, due, now),
                    meta={"reminder": reminder_id(document.key), "due_at": timestamp(due.at), "missed": due.missed},
                    agent=reminder.to.agent or None,
                    from_agent=reminder.agent or None,
                )
            ],
            {},
        )
        self._surroundings.on_messages(stored)
        data = {
            "id": reminder_id(document.key),
            "message": reminder.message,
            "due_at": timestamp(due.at),
            "late_s": round(max(now - due.at, 0.0), 3),
            "missed": due.missed,
            "by": holder_view(Holder(author, reminder.agent), self._surroundings),
            "message_id": id_,
        }
        await self._surroundings.context.events.append(
            FIRED, reminder_id(document.key), data, source="mesh", also=_mark(document.key, due.at)
        )


def reminder_id(key: str) -> str:
    """Return what people call a reminder: the key of its document without its author."""
    return key.partition("/")[2]


def _mark(key: str, upto: float) -> Callable[[sqlite3.Connection], None]:
    """Return what stores up to when a reminder has come."""

    def store(database: sqlite3.Connection) -> None:
        database.execute("INSERT OR REPLACE INTO mesh_reminder VALUES (?, ?)", (key, upto))

    return store
