"""What agents remember for each other: a text with tags, recalled by its words and by its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from covey.contract.mesh_services.memory import CHANGED
from covey.mesh.services.embedding.text_index import Choice, Entry, TextIndex
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
from murli import not_found, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.services.document import Document

MOST_TAGS = 32
AREA = ""
"""All memories are in one."""
TAG = "tag"


class MemoryValue(TextValue, frozen=True, kw_only=True):
    """The value of a document of this service."""

    content: str
    tags: list[str] = msgspec.field(default_factory=list)


def _entry(key: str, value: MemoryValue) -> Entry:
    if not 0 < len(value.content) <= LARGEST_TEXT or len(value.tags) > MOST_TAGS:
        raise ValueError("a memory has a text of limited length, and few tags")
    return Entry(
        key=key,
        area=AREA,
        text="\n".join([value.content, *value.tags]),
        labels=[(TAG, tag) for tag in value.tags],
        model=None if value.vector is None else value.vector.model,
        vector=vector_bytes(value.vector),
    )


INDEX = TextIndex("memory")
KIND = Kind(MemoryValue, _entry, "content")


class Memory(TextService):
    """The service `memory`."""

    name = "memory"
    migrations = INDEX.migrations()
    index = INDEX
    kind = KIND
    event = CHANGED

    @staticmethod
    def project(database: sqlite3.Connection, document: Document, before: Document | None) -> None:
        """Index a memory."""
        INDEX.replace(database, indexed(KIND, before), indexed(KIND, document))

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.memory.remember": self.remember,
            "mesh.memory.recall": self.recall,
            "mesh.memory.forget": self.forget,
            "mesh.memory.list": self.list,
            "mesh.memory.reembed": self.reembed,
        }

    async def remember(self, call: Call) -> dict[str, Any]:
        """Keep a text."""
        content, tags = check_text(call.params["content"], "content"), _tags(call)
        embedded = await self.embedding.embed(content)
        value = MemoryValue(content=content, tags=tags, vector=embedded.stored)
        document = await self.documents.put(
            self.name, new_key(self.documents.now()), msgspec.to_builtins(value), after=0
        )
        return {**self._item(document), "embedder": embedded.as_dict()}

    async def recall(self, call: Call) -> dict[str, Any]:
        """Return the memories that fit a question best."""
        params = call.params
        chosen = [Choice(TAG, [tag]) for tag in _tags(call)]
        answer = await self.find(AREA, params["q"], chosen, params["limit"])
        return {
            "items": [
                {
                    **self._item(hit.document),
                    "found_by": hit.found.found_by,
                    "score": round(hit.found.score, 5),
                    "similarity": None if hit.similarity is None else round(hit.similarity, 4),
                }
                for hit in answer.hits
            ],
            "embedder": answer.embedder,
            "left_out": answer.left_out,
        }

    async def forget(self, call: Call) -> dict[str, Any]:
        """Delete a memory for everybody."""
        key = check_key(call.params["id"], "id")
        found = self.documents.get(self.name, key)
        if found is None:
            raise not_found(f"there is no memory {key!r}", "See `covey mesh memory list`.", field="id")
        await self.documents.put(self.name, key, None)
        return {"id": key}

    async def list(self, call: Call) -> dict[str, Any]:
        """Return the memories, the newest first."""
        params, tags = call.params, _tags(call)
        limit: int = params["limit"]

        def read(database: sqlite3.Connection) -> list[Document]:
            keys = self.index.newest(database, AREA, [Choice(TAG, [tag]) for tag in tags], params["after"], limit + 1)
            found = self.find_documents(database, keys)
            return [found[key] for key in keys]

        found = await self.documents.replica.read(read)
        page = found[:limit]
        return {
            "items": [self._item(document) for document in page],
            "next": page[-1].key if len(found) > limit else None,
        }

    def described(self, document: Document, before: Document | None) -> dict[str, Any]:
        """Return what the event says of a memory."""
        known = document if document.value is not None or before is None else before
        value = msgspec.convert(known.value or {"content": ""}, MemoryValue)
        return {
            "id": document.key,
            "excerpt": value.content[:EXCERPT],
            "tags": value.tags,
            "author": document.author,
            "author_name": self.name_of(document.author),
        }

    def _item(self, document: Document) -> dict[str, Any]:
        value = msgspec.convert(document.value, MemoryValue)
        return {
            "id": document.key,
            "content": value.content,
            "tags": value.tags,
            **self.written(document, value),
        }


def _tags(call: Call) -> list[str]:
    """Return the tags of a call, each once. Raises AgentError."""
    tags = list(dict.fromkeys(check_key(tag, "tag") for tag in call.params["tags"]))
    if len(tags) > MOST_TAGS:
        raise user_error(f"there are {len(tags)} tags, and may be {MOST_TAGS}", "Leave some out.", field="tags")
    return tags
