"""Where people were before they were brought to an agent: a place for each tmux client, in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3

    from covey.kernel.store.store import Store

MIGRATION = Migration(
    "fleet.navigation_places",
    """
CREATE TABLE navigation_place (
    server      TEXT NOT NULL,
    client      TEXT NOT NULL,
    socket      TEXT NOT NULL,
    origin      TEXT NOT NULL,
    destination TEXT NOT NULL,
    at          REAL NOT NULL,
    PRIMARY KEY (server, client)
) STRICT;
""",
)
KEPT_S = 30 * 86_400.0


class Place(Struct, frozen=True, kw_only=True):
    """Where one tmux client was, and where it was brought."""

    server: str
    """Pid and start of the tmux server: `123.1700000000`."""
    client: str
    socket: str
    origin: str
    """What the client showed, as a target of tmux commands; nothing if it was a terminal outside of that server."""
    destination: str
    """The pane to which it was brought last."""
    at: float


class Places:
    """The places in the database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def put(self, place: Place) -> None:
        """Store a place instead of the one that its client had. Those of a month ago are forgotten."""
        names = Place.__struct_fields__

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM navigation_place WHERE at < ?", (place.at - KEPT_S,))
            connection.execute(
                f"INSERT OR REPLACE INTO navigation_place ({', '.join(names)}) "  # noqa: S608 - our own names
                f"VALUES ({', '.join('?' * len(names))})",
                [getattr(place, name) for name in names],
            )

        await self._store.write(write)

    async def of_client(self, client: str, server: str = "") -> list[Place]:
        """Return the places of the clients with this name: of one tmux server, or of all."""
        names = Place.__struct_fields__
        query = (
            f"SELECT {', '.join(names)} FROM navigation_place "  # noqa: S608 - our own names
            "WHERE client = ?1 AND (?2 = '' OR server = ?2)"
        )

        def read(connection: sqlite3.Connection) -> list[Place]:
            return [Place(**dict(zip(names, row, strict=True))) for row in connection.execute(query, (client, server))]

        return await self._store.read(read)

    async def forget(self, place: Place) -> None:
        """Forget a place."""
        key = (place.server, place.client)
        await self._store.write(
            lambda connection: (
                connection.execute("DELETE FROM navigation_place WHERE server = ? AND client = ?", key).rowcount
            )
        )
