"""What a statement changes, counted row by row as SQLite reports it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from apsw import SQLITE_DELETE, SQLITE_INSERT

from covey.mesh.services.graph.engine import Counters

if TYPE_CHECKING:
    import apsw

PROPERTIES = ("node_props_", "edge_props_")


class Changes:
    """Counts the changes of one connection since `clear`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.total = 0
        self._rows: Counter[tuple[int, str]] = Counter()
        connection.set_update_hook(self._count)

    def clear(self) -> None:
        """Begin to count anew."""
        self.total = 0
        self._rows.clear()

    def counters(self) -> Counters:
        """Return what was changed."""
        return Counters(
            nodes_created=self._rows[SQLITE_INSERT, "nodes"],
            nodes_deleted=self._rows[SQLITE_DELETE, "nodes"],
            relationships_created=self._rows[SQLITE_INSERT, "edges"],
            relationships_deleted=self._rows[SQLITE_DELETE, "edges"],
            labels_added=self._rows[SQLITE_INSERT, "node_labels"],
            properties_set=sum(
                count
                for (what, table), count in self._rows.items()
                if what != SQLITE_DELETE and table.startswith(PROPERTIES)
            ),
        )

    def _count(self, what: int, _: str, table: str, __: int) -> None:
        self.total += 1
        self._rows[what, table] += 1
