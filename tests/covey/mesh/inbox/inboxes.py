"""An inbox for tests, and messages for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from covey.kernel.clock import ManualClock
from covey.mesh.inbox.inbox import Inbox, Incoming, Message

ANNA, BERT = "U" + "A" * 55, "U" + "B" * 55


def message(n: int, **given: Any) -> Incoming:
    """Return a direct message of Anna, unless told otherwise; its id follows from the rest."""
    values = {"sender": ANNA, "outbox": "ob1", "scope": "", "text": f"text {n}", **given}
    values.setdefault("id", f"{values['sender']}-{values['outbox']}-{values['scope']}-{n}")
    return Incoming(**{"stream": "DM", "sequence": max(n, 1), "n": n, "at": 1.5, "sender_name": "anna", **values})


def topical(n: int, **given: Any) -> Incoming:
    """Return a message of Anna in a topic."""
    return message(n, **{"stream": "TOPICS", "scope": "tokentoken", "topic": "builds", "epoch": 1, **given})


def texts(messages: Iterable[Message]) -> list[str]:
    return [one.text.removeprefix("text ") for one in messages]


@asynccontextmanager
async def an_inbox(
    folder: Path, clock: ManualClock | None = None, *, fts: bool = True
) -> AsyncIterator[tuple[Inbox, ManualClock]]:
    moved = clock or ManualClock()
    async with await Inbox.open(folder / "inbox.db", clock=moved, fsync="off", hold_s=300.0, fts=fts) as inbox:
        yield inbox, moved
