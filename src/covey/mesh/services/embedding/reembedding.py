"""The job that writes documents again whose vector is of another model than the one that is configured, or is missing.

It is asked for, runs in the background, and goes on where it was when it is asked for again after a restart: what is
done has a vector of the new model.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from murli import AgentError, conflict, user_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.embedding.embedding import Embedding
    from covey.mesh.services.embedding.text_index import TextIndex

AT_ONCE = 8
"""How many documents are written at the same time."""
MOST_FAILURES = 20
"""After so many the job ends: there is no connection, or this member may not write."""

log = logging.getLogger("covey.mesh.services")


class Progress(Struct, frozen=True, kw_only=True):
    """How far the job is, or how the last one ended."""

    model: str | None = None
    running: bool = False
    total: int = 0
    done: int = 0
    failed: int = 0
    error: str = ""
    """Why the last one failed that did."""


class Reembedding:
    """The job of one service; `run` has to run as long as the peer does."""

    def __init__(
        self,
        documents: Documents,
        service: str,
        index: TextIndex,
        embedding: Embedding,
        text_of: Callable[[Mapping[str, Any]], str],
    ) -> None:
        """`text_of` returns the text in the value of a document."""
        self._documents = documents
        self._service = service
        self._index = index
        self._embedding = embedding
        self._text_of = text_of
        self._wanted = asyncio.Event()
        self._keys: deque[str] = deque()
        self._progress = Progress()

    async def start(self, area: str | None) -> dict[str, Any]:
        """Begin the job, unless it runs, and return how far it is. Raises AgentError without an embedder.

        `area` is where the documents are; None: everywhere.
        """
        if not self._progress.running:
            used = await self._embedding.tier()
            if used.tier is None:
                raise user_error(
                    f"there is no model to make vectors with: {used.note}", "Install one, or configure another."
                )
            model = used.tier.model
            keys = await self._documents.replica.read(
                lambda database: self._index.of_other_models(database, area, model)
            )
            self._keys = deque(keys)
            self._progress = Progress(model=model, running=bool(keys), total=len(keys))
            self._wanted.set()
        return msgspec.to_builtins(self._progress)  # type: ignore[no-any-return]

    async def run(self) -> None:
        """Do the job whenever it was asked for."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            async with asyncio.TaskGroup() as group:
                for _ in range(AT_ONCE):
                    group.create_task(self._work())
            self._progress = replace(self._progress, running=False)
            log.info("documents embedded again", extra={"service": self._service, "done": self._progress.done})

    async def _work(self) -> None:
        while self._keys:
            key = self._keys.popleft()
            try:
                await self._write_again(key)
            except AgentError as error:
                self._progress = replace(self._progress, failed=self._progress.failed + 1, error=error.message)
                if self._progress.failed >= MOST_FAILURES:
                    self._keys.clear()
            else:
                self._progress = replace(self._progress, done=self._progress.done + 1)

    async def _write_again(self, key: str) -> None:
        """Write one document with a vector of the present model; one that was deleted meanwhile stays so."""
        found = self._documents.get(self._service, key)
        if found is None or found.value is None:
            return
        text = self._text_of(found.value)
        embedded = await self._embedding.embed(text)
        vector = embedded.stored
        if vector is None:
            raise user_error(f"the model is gone: {embedded.note}", "Install one, or configure another.")

        def with_vector(present: Document | None) -> dict[str, Any]:
            if present is None or present.value is None or self._text_of(present.value) != text:
                raise conflict("the document has changed meanwhile", "Begin again.")
            origin = present.value.get("origin") or {"author": present.author, "at": present.at}
            return {**present.value, "vector": msgspec.to_builtins(vector), "origin": origin}

        await self._documents.change(self._service, key, with_vector)
