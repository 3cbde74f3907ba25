"""Search in a text index by words and by meaning together."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from covey.mesh.services.embedding.matrix import Matrix
from covey.mesh.services.embedding.ranking import Found, fuse

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from covey.mesh.services.embedding.embedding import Embedded
    from covey.mesh.services.embedding.text_index import Choice, TextIndex

WORDS, MEANING = "words", "meaning"
CANDIDATES = 50
"""How many of each ranking are joined at least."""


class Hits(NamedTuple):
    """What was found, the best first."""

    items: list[Found]
    similarity: Mapping[str, float]
    """By key, for those that were found by their meaning."""
    left_out: int
    """How many were not compared, because their vector is of another model, or they have none."""


class TextSearch:
    """Keeps a matrix for each area that is searched by meaning, brought up to date at each search."""

    def __init__(self, index: TextIndex) -> None:
        self._index = index
        self._matrices: dict[tuple[str, str], Matrix] = {}
        self._one_at_a_time = threading.Lock()

    def find(
        self,
        database: sqlite3.Connection,
        area: str,
        query: str,
        asked: Embedded,
        *,
        chosen: Sequence[Choice],
        limit: int,
        words: bool = True,
    ) -> Hits:
        """Return the best entries of an area that fulfil all choices. Runs in the thread of the connection.

        Without `words` they are searched by meaning alone, unless there is no embedder.
        """
        depth = max(limit, CANDIDATES)
        rankings: dict[str, list[str]] = {}
        if words or asked.tier is None:
            rankings[WORDS] = self._index.by_words(database, area, query, chosen, depth)
        similarity: dict[str, float] = {}
        left_out = 0
        if asked.tier is not None:
            among = self._index.chosen(database, area, chosen) if chosen else None
            with self._one_at_a_time:
                matrix = self._matrix(database, area, asked)
                near = matrix.nearest(asked.numbers, depth, among, asked.tier.floor)
                left_out = matrix.left_out
            similarity = {one.key: one.similarity for one in near}
            rankings[MEANING] = [one.key for one in near]
        return Hits(fuse(rankings, limit), similarity, left_out)

    def release(self) -> None:
        """Forget the matrices; the next search makes them anew."""
        with self._one_at_a_time:
            self._matrices.clear()

    def _matrix(self, database: sqlite3.Connection, area: str, asked: Embedded) -> Matrix:
        """Return the matrix of an area, with all that this connection sees."""
        assert asked.tier is not None
        tier = asked.tier
        matrix = self._matrices.get((area, tier.model))
        if matrix is None:
            matrix = self._matrices[area, tier.model] = Matrix(tier.dimensions)
        matrix.take(self._index.rows_after(database, area, matrix.seen, tier.model))
        return matrix
