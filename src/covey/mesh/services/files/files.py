"""The service of files: what is shared, fetched, listed and deleted, and how far it is."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from covey.contract.mesh_services.files import DELETED, SHARED, TRANSFERRED
from covey.kernel.byte_sizes import MB, compared_sizes
from covey.mesh.authority.authority_file import AuthorityFile
from covey.mesh.broker.streams import CHUNK_BYTES
from covey.mesh.services.files.collector import Collector
from covey.mesh.services.files.downloads import Downloads
from covey.mesh.services.files.names import safe_name
from covey.mesh.services.files.runner import Runner
from covey.mesh.services.files.settings import LARGEST_MB
from covey.mesh.services.files.share import LONGEST_MESSAGE, MOST_RECIPIENTS, file_id
from covey.mesh.services.files.shares import BLOB, FILE, MIGRATION, Shares, owner_of, project_share
from covey.mesh.services.files.source import Source
from covey.mesh.services.files.target import check_place, place_of
from covey.mesh.services.files.threads import in_thread
from covey.mesh.services.files.transfer import KEPT_S, Transfer, Transfers, new_transfer_id
from covey.mesh.services.files.transfer import MIGRATION as TRANSFERS
from covey.mesh.services.files.uploads import Uploads
from covey.mesh.services.own_folder import check_outside
from covey.mesh.services.service import Service
from murli import not_found, permission_denied, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.link.session import Session
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.replica import Change
    from covey.mesh.services.service import Surroundings

HOOK: Final = "on-file-share"
FORGET_EVERY_S: Final = 3600.0

log = logging.getLogger("covey.mesh.services")


class Files(Service):
    """The service `file`."""

    name = FILE
    migrations = (MIGRATION, TRANSFERS)
    exported = False  # a document is worth nothing without the chunks, and only its author may write it

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        clock = surroundings.context.clock
        self.shares = Shares(documents, surroundings.keys, surroundings.directory)
        self.transfers = Transfers(documents.replica)
        self.uploads = Uploads(documents, surroundings, self.shares, self.transfers)
        downloads = Downloads(self.shares, self.transfers)
        self.runner = Runner(self.transfers, self.uploads, downloads, clock, self._on_ended)
        self._collector: Collector | None = None
        if AuthorityFile.load(surroundings.context.seat) is not None:
            self._collector = Collector(documents, self.shares, clock)
        self._loaded = asyncio.Event()

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.file.share": self.share,
            "mesh.file.get": self.get,
            "mesh.file.list": self.list,
            "mesh.file.delete": self.delete,
            "mesh.file.status": self.status,
        }

    def allows(self, key: str, author: str) -> bool:
        """A file belongs to its author; the authority may delete it. Contents are kept by whoever shares them."""
        record = self.surroundings.directory.record
        return (
            key.startswith(BLOB)
            or author == owner_of(key)
            or (record is not None and author == record.authority_member)
        )

    @staticmethod
    def project(database: sqlite3.Connection, document: Document, before: Document | None) -> None:  # noqa: ARG004
        """Keep the table of shared files."""
        project_share(database, document)

    async def run(self) -> None:
        """Read which transfers there are; forget old ones now and then."""
        await self.transfers.load()
        self._loaded.set()
        while True:
            clock = self.surroundings.context.clock
            await self.transfers.forget(clock.time() - KEPT_S)
            await clock.sleep(FORGET_EVERY_S)

    async def serve(self, session: Session) -> None:
        """Perform transfers, and at the authority remove what nobody needs, until the session breaks."""
        await self._loaded.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.runner.run(session))
            if self._collector is not None:
                group.create_task(self._collector.run(session))

    async def share(self, call: Call) -> dict[str, Any]:
        """Begin to share a file, or go on with it, and return how far it is."""
        await self._loaded.wait()
        params = call.params
        self.documents.check_may_write()
        path, to = _path(params["path"], "path"), list(dict.fromkeys(params["to"]))
        if len(params["message"]) > LONGEST_MESSAGE:
            raise user_error(
                f"the message is longer than {LONGEST_MESSAGE} characters", "Share it too.", field="message"
            )
        if to and len(self.uploads.readers(to)) > MOST_RECIPIENTS:
            raise user_error(f"a file is sealed for at most {MOST_RECIPIENTS} members", "Leave `to` out.", field="to")
        size, modified_ns = await self._examined(path)
        wanted = (path, size, modified_ns, to, params["message"], params["persistent"])
        for known in self.transfers.by_id.values():
            given = (known.path, known.size, known.modified_ns, known.to, known.message, known.persistent)
            if known.direction == "up" and known.is_active and given == wanted:
                return await self._answer(known, params["wait_s"])
        document = f"{self.documents.member}/{os.urandom(16).hex()}"
        transfer = Transfer(
            id=new_transfer_id(),
            direction="up",
            file=file_id(document),
            path=path,
            name=safe_name(Path(path).name),
            size=size,
            began_at=self.surroundings.context.clock.time(),
            document=document,
            modified_ns=modified_ns,
            to=to,
            message=params["message"],
            persistent=params["persistent"],
        )
        return await self._begin(transfer, params["wait_s"])

    async def _examined(self, path: str) -> tuple[int, int]:
        """Return size and time of a file that can be shared. Raises AgentError."""
        home = self.surroundings.context.seat.home
        await in_thread(lambda: check_outside(path, home, "Copy it elsewhere first.", "path"))
        source = await Source.open(path)
        source.close()
        largest = int(self.surroundings.context.config.current.get(LARGEST_MB)) * MB
        if source.size > largest:
            size, most = compared_sizes(source.size, largest)
            raise user_error(
                f"{path} has {size}, and a file may have {most}",
                f"Set {LARGEST_MB} in the peer's config.toml, or share it in parts.",
                field="path",
            )
        return source.size, source.modified_ns

    async def get(self, call: Call) -> dict[str, Any]:
        """Begin to fetch a file, or go on with it, and return how far it is."""
        await self._loaded.wait()
        params = call.params
        shared = await self.shares.find(params["id"])
        out, force = _path(params["out"], "out"), params["force"]
        name = safe_name(shared.content.name, f"file-{shared.id}")
        path = await in_thread(lambda: place_of(out, name))
        for known in self.transfers.by_id.values():
            if known.direction == "down" and known.is_active and (known.file, known.path) == (shared.id, path):
                return await self._answer(known, params["wait_s"])
        home = self.surroundings.context.seat.home
        await in_thread(lambda: check_outside(path, home, "Choose another folder with `out`.", "out"))
        await in_thread(lambda: check_place(path, force=force))
        id_ = new_transfer_id()
        transfer = Transfer(
            id=id_,
            direction="down",
            file=shared.id,
            path=path,
            name=shared.content.name,
            size=shared.content.size,
            began_at=self.surroundings.context.clock.time(),
            force=force,
            part=f".covey-{id_}.part",
        )
        return await self._begin(transfer, params["wait_s"])

    async def _begin(self, transfer: Transfer, wait_s: float) -> dict[str, Any]:
        if self.surroundings.link.session is None:
            transfer.reason = "it goes on when there is a connection to the broker"
        await self.transfers.save(transfer)
        self.runner.wake()
        return await self._answer(transfer, wait_s)

    async def _answer(self, transfer: Transfer, wait_s: float) -> dict[str, Any]:
        await self.runner.wait_for(transfer, wait_s)
        return _view(transfer)

    async def status(self, call: Call) -> dict[str, Any]:
        """Return how far transfers are, the newest first."""
        await self._loaded.wait()
        id_ = call.params["transfer"]
        if id_ is None:
            return {"items": [_view(one) for one in reversed(self.transfers.by_id.values())]}
        found = self.transfers.by_id.get(id_)
        if found is None:
            raise not_found(f"there is no transfer {id_!r}", "See `covey mesh file status`.", field="transfer")
        return {"items": [await self._answer(found, call.params["wait_s"])]}

    async def list(self, call: Call) -> dict[str, Any]:
        """Return the files that this member may read, the newest first."""
        before = call.params["before"]
        found, following = await self.shares.newest(call.params["limit"], before)
        return {"items": [self.shares.view(one) for one in found], "next": following}

    async def delete(self, call: Call) -> dict[str, Any]:
        """Delete a file of this member, or one that is being shared; the authority may delete any."""
        await self._loaded.wait()
        id_ = call.params["id"]
        ended = await self._cancelled(id_)
        found = await self.shares.document(id_)
        if found is None:
            if ended:
                return {"id": id_}
            raise not_found(f"there is no file {id_!r}", "See `covey mesh file list`.", field="id")
        owner = owner_of(found.key)
        if owner != self.documents.member and self._collector is None:
            raise permission_denied(f"it is @{self.name_of(owner)}'s file", "Ask its author to delete it.")
        shared = self.shares.opened(found)
        await self.documents.put(FILE, found.key, None, after=found.revision)
        if shared is not None and not await self.shares.references(shared.share.blob):
            await self.uploads.blobs.drop(shared.share.blob)
        return {"id": id_}

    async def _cancelled(self, id_: str) -> bool:
        """End the upload of a file that is being shared. Returns whether there was one."""
        found = [one for one in self.transfers.by_id.values() if one.file == id_ and one.direction == "up"]
        active = [one for one in found if one.is_active]
        for transfer in active:
            await self.runner.cancel(transfer)
        return bool(active)

    async def changed(self, change: Change) -> None:
        """Tell of a file that was shared or deleted."""
        document, before = change
        if self._collector is not None:
            self._collector.wake()
        if document.key.startswith(BLOB):
            return
        events = self.surroundings.context.events
        if document.value is None:
            if before is not None and before.value is not None and self.shares.opened(before) is not None:
                data = {"author": owner_of(document.key), "by": self.name_of(document.author)}
                await events.append(DELETED, file_id(document.key), data, source="mesh")
            return
        shared = self.shares.opened(document)
        if shared is None or (before is not None and before.value is not None):
            return
        data = {name: value for name, value in self.shares.view(shared).items() if name != "id"}
        await events.append(SHARED, shared.id, data, source="mesh")
        own = self.surroundings.directory.members.get(self.documents.member)
        is_new = own is not None and document.at >= own.joined_at
        if document.author != self.documents.member and is_new:
            self.surroundings.hooks.fire([HOOK], {"event": str(SHARED), "id": shared.id, **data})

    async def _on_ended(self, transfer: Transfer) -> None:
        data = {name: value for name, value in _view(transfer).items() if name not in ("began_at", "ended_at")}
        await self.surroundings.context.events.append(TRANSFERRED, transfer.id, data, source="mesh")


def _view(transfer: Transfer) -> dict[str, Any]:
    return transfer.view(min(transfer.done * CHUNK_BYTES, transfer.size))


def _path(path: str, field: str) -> str:
    """Return a path that is not relative. Raises AgentError."""
    if not Path(path).is_absolute() or "\0" in path:
        raise user_error(
            f"{path!r} is not an absolute path", "The peer has no folder of its own: give the whole path.", field=field
        )
    return path if path.endswith("/") else os.path.normpath(path)
