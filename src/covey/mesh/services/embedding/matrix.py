"""All vectors of one model and one area in one matrix: exact search is one product with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from covey.mesh.services.embedding.numeric import numpy

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

SMALLEST = 256


class Row(NamedTuple):
    """An entry as it is now."""

    number: int
    """Grows with every change of any entry."""
    key: str
    present: bool
    """False: it was deleted."""
    numbers: bytes | None
    """Little-endian half-precision numbers; None if it has no vector of this model."""


class Near(NamedTuple):
    """An entry and how similar it is to what was asked: 1 is the same, 0 has nothing to do with it."""

    key: str
    similarity: float


class Matrix:
    """The vectors, each of length 1, with the key of each."""

    def __init__(self, dimensions: int) -> None:
        self._np = numpy()
        self._vectors = self._np.zeros((SMALLEST, dimensions), self._np.float32)
        self._numbers = self._np.zeros(SMALLEST, self._np.int64)
        self._keys: list[str] = []
        self._place_of: dict[str, int] = {}
        self._left_out: set[str] = set()
        self.seen = 0
        """The greatest number of the rows that were taken."""

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def left_out(self) -> int:
        """How many entries have no vector of this model."""
        return len(self._left_out)

    def take(self, rows: Sequence[Row]) -> None:
        """Bring the matrix up to date with what has changed; at most one row for each key."""
        added = []
        for row in rows:
            self._remove(row.key)
            self._left_out.discard(row.key)
            self.seen = max(self.seen, row.number)
            if row.numbers is not None:
                added.append(row)
            elif row.present:
                self._left_out.add(row.key)
        if added:
            self._append(added)

    def nearest(self, asked: Any, limit: int, among: Collection[int] | None = None, floor: float = 0.0) -> list[Near]:
        """Return the entries that are most similar to a vector, at least `floor`, the best first.

        With `among` only those with these numbers are compared.
        """
        np = self._np
        count = len(self._keys)
        if among is None:
            places = None
            similarities = self._vectors[:count] @ asked
        else:
            wanted = np.fromiter(among, np.int64, len(among))
            places = np.flatnonzero(np.isin(self._numbers[:count], wanted))
            similarities = self._vectors[places] @ asked
        if limit < len(similarities):
            best = np.argpartition(similarities, -limit)[-limit:]
        else:
            best = np.arange(len(similarities))
        found = [
            Near(self._keys[int(place if places is None else places[place])], float(similarities[place]))
            for place in best
        ]
        return sorted((one for one in found if one.similarity >= floor), key=lambda one: (-one.similarity, one.key))

    def _remove(self, key: str) -> None:
        """Remove an entry; the last one takes its place."""
        place = self._place_of.pop(key, None)
        if place is None:
            return
        last = len(self._keys) - 1
        moved = self._keys.pop()
        if place != last:
            self._keys[place] = moved
            self._place_of[moved] = place
            self._vectors[place] = self._vectors[last]
            self._numbers[place] = self._numbers[last]

    def _append(self, rows: Sequence[Row]) -> None:
        np = self._np
        begin, end = len(self._keys), len(self._keys) + len(rows)
        if end > len(self._vectors):
            # Filled rows are copied once for each doubling; the memory of empty ones is not used before they are.
            room = max(end, 2 * len(self._vectors))
            vectors, numbers = np.zeros((room, self._vectors.shape[1]), np.float32), np.zeros(room, np.int64)
            vectors[:begin], numbers[:begin] = self._vectors[:begin], self._numbers[:begin]
            self._vectors, self._numbers = vectors, numbers
        block = np.frombuffer(b"".join(row.numbers or b"" for row in rows), "<f2").astype(np.float32)
        block = block.reshape(len(rows), -1)
        # A writer may have published longer ones, to be found before all others.
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        self._vectors[begin:end] = block / np.where(lengths == 0, 1, lengths)
        self._numbers[begin:end] = [row.number for row in rows]
        for place, row in enumerate(rows, begin):
            self._keys.append(row.key)
            self._place_of[row.key] = place
