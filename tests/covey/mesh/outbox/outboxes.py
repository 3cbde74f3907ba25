"""An outbox for tests, and drafts for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from covey.kernel.clock import ManualClock
from covey.mesh.outbox.outbox import Draft, Item, Outbox

ANNA, BERT = "U" + "A" * 55, "U" + "B" * 55


def to(target: str, text: str = "hello") -> Draft:
    return Draft(kind="direct", target=target, body=text.encode())


def on(topic: str, text: str = "hello") -> Draft:
    return Draft(kind="topic", target=topic, body=text.encode())


@asynccontextmanager
async def an_outbox(
    folder: Path, clock: ManualClock | None = None
) -> AsyncIterator[tuple[Outbox, ManualClock, list[Item]]]:
    """Yield an outbox, its clock and the items that were handed over, in order."""
    moved = clock or ManualClock()
    handed = list[Item]()
    async with await Outbox.open(folder / "outbox.db", clock=moved, fsync="off") as outbox:
        outbox.on_accepted = handed.extend
        yield outbox, moved, handed
