"""Transfers: what is being shared from here or fetched to here, kept so that it goes on after a crash of the peer."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from covey.kernel.clock import timestamp
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3

    from covey.mesh.services.replica import Replica

State = Literal["waiting", "hashing", "uploading", "downloading", "done", "failed"]
ENDED: Final = frozenset({"done", "failed"})
KEPT_S: Final = 7 * 86_400.0
"""How long a transfer that has ended is told of."""

MIGRATION = Migration(
    "file.transfer",
    """
CREATE TABLE file_transfer (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
""",
)


class Transfer(msgspec.Struct, kw_only=True):
    """One transfer. It changes as it goes on."""

    id: str
    direction: Literal["up", "down"]
    file: str
    """The id of the file."""
    path: str
    name: str
    size: int = 0
    state: State = "waiting"
    done: int = 0
    """How many chunks are at the broker, or in the partial file: all before them too."""
    reason: str = ""
    """Why it waits or has failed, or what is to be known of it."""
    error: str = ""
    """The kind of the error with which it has failed."""
    began_at: float
    ended_at: float | None = None
    # Of one that is shared:
    document: str = ""
    """The key of its document."""
    modified_ns: int = 0
    sha256: str = ""
    blob: str = ""
    key: bytes = b""
    to: list[str] = []
    """As the caller has named them."""
    message: str = ""
    persistent: bool = False
    # Of one that is fetched:
    force: bool = False
    part: str = ""
    written: tuple[int, int] | None = None
    """Device and inode of the partial file: how it is known again under its final name."""

    @property
    def is_active(self) -> bool:
        """Whether it goes on."""
        return self.state not in ENDED

    def view(self, done_bytes: int) -> dict[str, Any]:
        """Return what is told of it."""
        return {
            "transfer": self.id,
            "id": self.file,
            "direction": self.direction,
            "state": self.state,
            "name": self.name,
            "path": self.path,
            "size": self.size,
            "done_bytes": done_bytes,
            "reason": self.reason,
            "error": self.error,
            "began_at": timestamp(self.began_at),
            "ended_at": None if self.ended_at is None else timestamp(self.ended_at),
        }


def new_transfer_id() -> str:
    """Return the id of a new transfer."""
    return secrets.token_hex(6)


class Transfers:
    """All transfers of this peer, the newest last. They are in memory and in the replica's file."""

    def __init__(self, replica: Replica) -> None:
        self.by_id: dict[str, Transfer] = {}
        self._replica = replica

    async def load(self) -> None:
        """Read what was stored before."""

        def work(database: sqlite3.Connection) -> list[tuple[str]]:
            return database.execute("SELECT body FROM file_transfer").fetchall()

        rows = await self._replica.read(work)
        found = [msgspec.json.decode(body, type=Transfer) for (body,) in rows]
        self.by_id = {one.id: one for one in sorted(found, key=lambda one: one.began_at)}

    async def save(self, transfer: Transfer) -> None:
        """Store a transfer as it is now."""
        self.by_id[transfer.id] = transfer
        row = (transfer.id, msgspec.json.encode(transfer).decode())
        await self._replica.write(lambda database: database.execute("REPLACE INTO file_transfer VALUES (?, ?)", row))

    async def forget(self, before: float) -> None:
        """Forget the transfers that ended before a time."""
        old = [one.id for one in self.by_id.values() if one.ended_at is not None and one.ended_at < before]
        for id_ in old:
            del self.by_id[id_]
        rows = [(id_,) for id_ in old]
        if rows:
            await self._replica.write(
                lambda database: database.executemany("DELETE FROM file_transfer WHERE id = ?", rows)
            )
