"""What the services memory and vector have in common: documents with a text, its vector, and who first wrote it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec
from msgspec import Struct

from covey.kernel.clock import timestamp
from covey.mesh.peer.settings import EMBEDDER
from covey.mesh.services.embedding.embedder import DIMENSIONS
from covey.mesh.services.embedding.embedding import Embedding
from covey.mesh.services.embedding.reembedding import Reembedding
from covey.mesh.services.embedding.stored_vector import StoredVector, is_sound, numbers_of
from covey.mesh.services.embedding.text_search import TextSearch
from covey.mesh.services.replica import document_of
from covey.mesh.services.service import Service
from covey.mesh.storable_text import storable
from murli import user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from covey.contract.event_kind import EventKind
    from covey.kernel.operations.call import Call
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.embedding.ranking import Found
    from covey.mesh.services.embedding.text_index import Choice, Entry, TextIndex
    from covey.mesh.services.replica import Change
    from covey.mesh.services.service import Surroundings

LARGEST_TEXT = 32_768
LONGEST_QUERY = 2_000
EXCERPT = 200
RELEASE_AFTER_S = 600.0
"""After how long without a search the matrices in memory are released."""


class Origin(Struct, frozen=True, kw_only=True):
    """Who wrote a text, and when, in a document that another member has written again with a vector of its own model.

    It is that member who says so; its name is in every answer.
    """

    author: str
    at: float


class TextValue(Struct, frozen=True, kw_only=True):
    """The value of a document; services add fields of their own."""

    vector: StoredVector | None = None
    origin: Origin | None = None


class Kind(NamedTuple):
    """What one service says about its documents."""

    value: type[TextValue]
    entry: Callable[[str, Any], Entry]
    """Returns what is indexed of a value, by the key of its document. Raises ValueError for a value that cannot be."""
    text_field: str
    """The field of a value whose meaning the vector is."""


class Hit(NamedTuple):
    """A document that was found, and how."""

    document: Document
    found: Found
    similarity: float | None


class Answer(NamedTuple):
    """The result of a search."""

    hits: list[Hit]
    embedder: dict[str, Any]
    left_out: int


class TextService(Service):
    """Base of the services whose documents are texts that are found by words and meaning."""

    index: ClassVar[TextIndex]
    kind: ClassVar[Kind]
    event: ClassVar[EventKind]

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        self.embedding = Embedding(lambda: str(surroundings.context.config.current.get(EMBEDDER)))
        self._search = TextSearch(self.index)
        field = self.kind.text_field
        self._reembedding = Reembedding(
            documents, self.name, self.index, self.embedding, lambda value: str(value[field])
        )
        self._searched = asyncio.Event()

    def is_valid(self, key: str, value: Mapping[str, object]) -> bool:
        """Return whether a value is what this service writes, with a sound vector."""
        try:
            converted = msgspec.convert(value, self.kind.value)
            self.kind.entry(key, converted)
        except ValueError:  # msgspec's own is one
            return False
        return converted.vector is None or is_sound(converted.vector, DIMENSIONS)

    async def changed(self, change: Change) -> None:
        """Tell of a text that is new or gone; not of those that were there when this peer came, nor of a new vector."""
        document, before = change
        if document.private or not self.documents.caught_up.is_set():
            return
        now, former = indexed(self.kind, document), indexed(self.kind, before)
        if now is not None and former is not None and (now.text, now.labels) == (former.text, former.labels):
            return
        data = {**self.described(document, before), "deleted": document.value is None}
        await self.surroundings.context.events.append(self.event, document.key, data, source="mesh")

    def described(self, document: Document, before: Document | None) -> dict[str, Any]:
        """Return what the event says of a document; `before` is the version that was deleted."""
        raise NotImplementedError

    async def run(self) -> None:
        """Write documents again with the configured model, when that was asked for; release what is not used."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._reembedding.run())
            group.create_task(self._release_unused())

    async def _release_unused(self) -> None:
        while True:
            await self._searched.wait()
            while self._searched.is_set():
                self._searched.clear()
                await asyncio.sleep(RELEASE_AFTER_S)
            self._search.release()

    async def reembed(self, call: Call) -> dict[str, Any]:
        """Begin to write again what has no vector of the configured model, or tell how far that is."""
        return await self._reembedding.start(call.params.get("collection"))

    async def find(self, area: str, query: str, chosen: Sequence[Choice], limit: int, *, words: bool = True) -> Answer:
        """Return the documents that fit a query best."""
        check_query(query)
        self._searched.set()
        asked = await self.embedding.embed(query)

        def read(database: sqlite3.Connection) -> Answer:
            found = self._search.find(database, area, query, asked, chosen=chosen, limit=limit, words=words)
            documents = self.find_documents(database, [one.key for one in found.items])
            hits = [
                Hit(documents[one.key], one, found.similarity.get(one.key))
                for one in found.items
                if one.key in documents
            ]
            return Answer(hits, asked.as_dict(), found.left_out)

        return await self.documents.replica.read(read)

    def find_documents(self, database: sqlite3.Connection, keys: list[str]) -> dict[str, Document]:
        """Return the documents of some keys, as far as they are there."""
        places = ", ".join("?" * len(keys))
        rows = database.execute(
            "SELECT service, key, value, revision, author, at, private FROM document "  # noqa: S608 - question marks
            f"WHERE service = ? AND private = 0 AND value IS NOT NULL AND key IN ({places})",
            (self.name, *keys),
        )
        return {document.key: document for document in map(document_of, rows)}

    def written(self, document: Document, value: TextValue) -> dict[str, Any]:
        """Return for an answer by whom and when a text was written, and which model its vector is of."""
        origin = value.origin
        author = document.author if origin is None else origin.author
        return {
            "author": author,
            "author_name": self.name_of(author),
            "at": timestamp(document.at if origin is None else origin.at),
            "rewritten_by": None if origin is None else self.name_of(document.author),
            "model": None if value.vector is None else value.vector.model,
        }


def indexed(kind: Kind, document: Document | None) -> Entry | None:
    """Return what is indexed of a document; None for one that is private, was deleted or is not valid."""
    if document is None or document.value is None or document.private:
        return None
    try:
        return kind.entry(document.key, msgspec.convert(document.value, kind.value))
    except ValueError:
        return None


def check_text(text: str, field: str) -> str:
    """Return a text that can be kept, without characters that are none. Raises AgentError."""
    if not text.strip():
        raise user_error(f"the {field} is empty", "Pass a text.", field=field)
    if len(text) > LARGEST_TEXT:
        raise user_error(
            f"the {field} has {len(text)} characters and may have {LARGEST_TEXT}",
            "Share a file, and keep a summary with its id: covey mesh file share <path>",
            field=field,
        )
    return storable(text)


def check_query(query: str) -> str:
    """Return a query that can be asked. Raises AgentError."""
    if not query.strip() or len(query) > LONGEST_QUERY:
        raise user_error(
            f"the query has {len(query.strip())} characters; it needs 1 to {LONGEST_QUERY}",
            "Ask in a sentence or with some words.",
            field="q",
        )
    return query


def vector_bytes(vector: StoredVector | None) -> bytes | None:
    """Return the numbers of a vector for the index. Raises ValueError if they are not base64."""
    return None if vector is None else numbers_of(vector)
