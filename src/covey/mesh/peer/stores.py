"""What a peer keeps on its disk: records of the directory, facts about itself, the outbox and the inbox."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from covey.mesh.directory.record_store import RecordStore
from covey.mesh.inbox.inbox import Inbox
from covey.mesh.outbox.outbox import Outbox
from covey.mesh.peer import settings
from covey.mesh.peer.member_state import MemberState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from covey.kernel.subsystem import Context


class Stores(NamedTuple):
    """The stores of a peer."""

    records: RecordStore
    state: MemberState
    outbox: Outbox
    inbox: Inbox


@contextlib.asynccontextmanager
async def opened_stores(context: Context) -> AsyncIterator[Stores]:
    """Open the stores in the folder of a peer; close them at the end. Raises AgentError."""
    get, clock = context.config.current.get, context.clock
    fsync = get(settings.FSYNC_MODE)
    folder = Path(context.seat.directory)
    records = RecordStore(context.store)
    state = await MemberState.open(records)
    async with (
        await Outbox.open(folder / "outbox.db", clock=clock, fsync=fsync) as outbox,
        await Inbox.open(
            folder / "inbox.db",
            clock=clock,
            fsync=fsync,
            hold_s=float(get(settings.HOLD_S)),
            fts=bool(get(settings.FTS_ENABLED)),
        ) as inbox,
    ):
        yield Stores(records, state, outbox, inbox)
