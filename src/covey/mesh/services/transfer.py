"""Documents of all services in a file: a JSON object in each line, so that they can be read, kept and brought back."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from covey.kernel.clock import timestamp
from covey.mesh.services.replica import document_of
from murli import user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.service import Service

LONGEST_LINE = 2_000_000


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One document in a file."""

    service: str
    key: str
    value: dict[str, Any]
    private: bool = False
    author: str = ""
    at: str = ""


async def export_documents(documents: Documents, path: Path, services: Collection[str]) -> int:
    """Write the documents of some services to a new file, and return how many. Raises AgentError."""

    def read(database: sqlite3.Connection) -> list[Document]:
        rows = database.execute(
            "SELECT service, key, value, revision, author, at, private FROM document WHERE value IS NOT NULL "
            "ORDER BY service, private, key"
        )
        return [document_of(row) for row in rows if row[0] in services]

    found = await documents.replica.read(read)
    await asyncio.to_thread(_write, path, found)
    return len(found)


def _write(path: Path, documents: list[Document]) -> None:
    encoder = msgspec.json.Encoder()
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise user_error(
            f"{path} cannot be written: {error.strerror}", "Name a file that does not exist yet.", field="path"
        ) from error
    with os.fdopen(descriptor, "wb") as file:
        for one in documents:
            line = Line(
                service=one.service,
                key=one.key,
                value=one.value or {},
                private=one.private,
                author=one.author,
                at=timestamp(one.at),
            )
            file.write(encoder.encode(line) + b"\n")
        file.flush()
        os.fsync(file.fileno())


async def import_documents(
    documents: Documents, path: Path, services: Mapping[str, Service], *, replace: bool
) -> dict[str, int]:
    """Write what a file holds of some services, and return what was done. Raises AgentError, before anything if a line
    of the file is wrong.
    """
    counts = {"written": 0, "same": 0, "left": 0, "skipped": 0}
    for line in await asyncio.to_thread(_read, path, services):
        if line is None:
            counts["skipped"] += 1
            continue
        present = documents.get(line.service, line.key, private=line.private)
        if present is not None and present.value == line.value:
            counts["same"] += 1
        elif present is not None and not replace:
            counts["left"] += 1
        else:
            after = present.revision if present is not None else 0
            await documents.put(line.service, line.key, line.value, private=line.private, after=after)
            counts["written"] += 1
    return counts


def _read(path: Path, services: Mapping[str, Service]) -> list[Line | None]:
    """Return the documents of a file as they are shared here, None for each that makes no sense here."""
    found: list[Line | None] = []
    try:
        with path.open("rb") as file:
            for number, text in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                if len(text) > LONGEST_LINE:
                    raise user_error(f"line {number} of {path} is too long", "Name an exported file.", field="path")
                try:
                    line = msgspec.json.decode(text, type=Line)
                    if line.service in services:
                        found.append(_imported(line, services[line.service]))
                except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                    raise user_error(
                        f"line {number} of {path} is not a document that can be shared: {error}",
                        "Name an exported file. Nothing was written.",
                        field="path",
                    ) from error
    except OSError as error:
        raise user_error(f"{path} cannot be read: {error.strerror}", "Name an exported file.", field="path") from error
    return found


def _imported(line: Line, service: Service) -> Line | None:
    found = service.imported(line.key, line.value)
    return None if found is None else msgspec.structs.replace(line, key=found[0], value=found[1])
