"""Collections of texts with metadata, searched by meaning: the vectors are made by whoever stores a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from covey.contract.mesh_services.vector import CHANGED
from covey.mesh.services.embedding.text_index import Entry, TextIndex
from covey.mesh.services.embedding.text_service import (
    EXCERPT,
    LARGEST_TEXT,
    Kind,
    TextService,
    TextValue,
    check_text,
    indexed,
    vector_bytes,
)
from covey.mesh.services.keys import check_key, new_key
from covey.mesh.services.vector.metadata import check_metadata, choices_of, labels_of
from murli import not_found

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.services.document import Document


class VectorValue(TextValue, frozen=True, kw_only=True):
    """The value of a document of this service."""

    collection: str
    text: str
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


def _entry(key: str, value: VectorValue) -> Entry:
    if not 0 < len(value.text) <= LARGEST_TEXT or key.partition("/")[2] != value.collection:
        raise ValueError("a text has a limited length, and its key names its collection")
    return Entry(
        key=key,
        area=value.collection,
        text=value.text,
        labels=labels_of(value.metadata),
        model=None if value.vector is None else value.vector.model,
        vector=vector_bytes(value.vector),
    )


INDEX = TextIndex("vector")
KIND = Kind(VectorValue, _entry, "text")


class Vector(TextService):
    """The service `vector`. The key of a document is its id, a slash and the collection."""

    name = "vector"
    migrations = INDEX.migrations()
    index = INDEX
    kind = KIND
    event = CHANGED

    @staticmethod
    def project(database: sqlite3.Connection, document: Document, before: Document | None) -> None:
        """Index a text."""
        INDEX.replace(database, indexed(KIND, before), indexed(KIND, document))

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.vector.store": self.store,
            "mesh.vector.search": self.search,
            "mesh.vector.delete": self.delete,
            "mesh.vector.collections": self.collections,
            "mesh.vector.reembed": self.reembed,
        }

    async def store(self, call: Call) -> dict[str, Any]:
        """Keep a text in a collection."""
        params = call.params
        collection, text = check_key(params["collection"], "collection"), check_text(params["text"], "text")
        metadata = check_metadata(params["metadata"] or {})
        embedded = await self.embedding.embed(text)
        value = VectorValue(collection=collection, text=text, metadata=metadata, vector=embedded.stored)
        key = f"{new_key(self.documents.now())}/{collection}"
        document = await self.documents.put(self.name, key, msgspec.to_builtins(value), after=0)
        return {**self._item(document), "embedder": embedded.as_dict()}

    async def search(self, call: Call) -> dict[str, Any]:
        """Return the texts of a collection whose meaning is nearest; without a model, by their words."""
        params = call.params
        collection = check_key(params["collection"], "collection")
        chosen = choices_of(params["filter"] or {})
        answer = await self.find(collection, params["q"], chosen, params["limit"], words=False)
        return {
            "items": [
                {
                    **self._item(hit.document),
                    "found_by": hit.found.found_by,
                    "similarity": None if hit.similarity is None else round(hit.similarity, 4),
                }
                for hit in answer.hits
            ],
            "embedder": answer.embedder,
            "left_out": answer.left_out,
        }

    async def delete(self, call: Call) -> dict[str, Any]:
        """Delete a text of a collection."""
        collection, id_ = check_key(call.params["collection"], "collection"), check_key(call.params["id"], "id")
        key = f"{id_}/{collection}"
        if self.documents.get(self.name, key) is None:
            raise not_found(
                f"there is no text {id_!r} in {collection!r}", "See `covey mesh vector collections`.", field="id"
            )
        await self.documents.put(self.name, key, None)
        return {"id": id_, "collection": collection}

    async def collections(self, _: Call) -> dict[str, Any]:
        """Return all collections, how many texts each has, and the models of their vectors."""
        found = await self.documents.replica.read(self.index.areas)
        used = await self.embedding.tier()
        return {
            "items": [
                {"collection": area, "texts": count, "models": models, "without_vector": bare}
                for area, count, models, bare in found
            ],
            "embedder": used.as_dict(),
        }

    def described(self, document: Document, before: Document | None) -> dict[str, Any]:
        """Return what the event says of a text."""
        known = document if document.value is not None or before is None else before
        id_, _, collection = document.key.partition("/")
        text = str((known.value or {}).get("text", ""))
        return {
            "id": id_,
            "collection": collection,
            "excerpt": text[:EXCERPT],
            "author": document.author,
            "author_name": self.name_of(document.author),
        }

    def _item(self, document: Document) -> dict[str, Any]:
        value = msgspec.convert(document.value, VectorValue)
        return {
            "id": document.key.partition("/")[0],
            "collection": value.collection,
            "text": value.text,
            "metadata": value.metadata,
            **self.written(document, value),
        }
