"""Leases on names and files: one holder at a time, expiring, seen by all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from covey.contract.mesh_services import leases as contract
from covey.kernel.clock import timestamp
from covey.mesh.services.holder import calling_holder, holder_view
from covey.mesh.services.keys import check_key
from covey.mesh.services.leases.file_name import file_name
from covey.mesh.services.leases.lease import Lease, Rules, read_lease, written
from covey.mesh.services.removal import remove_documents, remove_now_and_then
from covey.mesh.services.replica import document_of
from covey.mesh.services.service import Service
from covey.mesh.services.waiting import Waiting, length_of
from murli import EXIT_CONFLICT, AgentError, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.link.session import Session
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.holder import Holder
    from covey.mesh.services.replica import Change
    from covey.mesh.services.service import Surroundings

LONGEST_NOTE = 500
KEPT_S = 3600.0


class LeaseService(Service):
    """The service `lease`. A document is a `Lease` under the name it is on; released ones are deleted."""

    name = "lease"

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        self._waiting = Waiting(surroundings.context.clock, documents.now)

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.lease.acquire": self.acquire,
            "mesh.lease.renew": self.renew,
            "mesh.lease.release": self.release,
            "mesh.lease.list": self.list,
        }

    def imported(self, key: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return a lease whose holder is a member here; None for others, which nobody could release."""
        lease = read_lease(value)
        if lease is None:
            raise ValueError("it is not a lease")
        return super().imported(key, value) if self.surroundings.directory.is_member(lease.holder.member) else None

    async def acquire(self, call: Call) -> dict[str, Any]:
        """Acquire a lease, and wait for it as long as the caller wants. Raises AgentError if somebody else has it."""
        name, caller = await self._named(call), await calling_holder(call, self.surroundings)
        length, note = length_of(call.params["ttl"]), call.params["note"]
        if len(note) > LONGEST_NOTE:
            raise user_error(f"the note is longer than {LONGEST_NOTE} characters", "Shorten it.", field="note")
        refusals: list[AgentError] = []

        async def look() -> Document | None:
            def new_value(document: Document | None) -> dict[str, Any]:
                return written(self._rules(name, caller).acquired(_lease_of(document), length, note))

            try:
                return await self.documents.change(self.name, name, new_value)
            except AgentError as error:
                if error.code != EXIT_CONFLICT:
                    raise
                refusals.append(error)
                return None

        async def expires() -> float | None:
            lease = _lease_of(self.documents.get(self.name, name))
            return None if lease is None else lease.until

        acquired = await self._waiting.until_had(look, expires, call)
        if acquired is None:
            raise refusals[-1]
        return self._view(acquired)

    async def renew(self, call: Call) -> dict[str, Any]:
        """Make a lease last longer."""
        name, caller = await self._named(call), await calling_holder(call, self.surroundings)
        length = length_of(call.params["ttl"])

        def new_value(document: Document | None) -> dict[str, Any]:
            return written(self._rules(name, caller).renewed(_lease_of(document), length))

        return self._view(await self.documents.change(self.name, name, new_value))

    async def release(self, call: Call) -> dict[str, Any]:
        """Give a lease back, and return what it was."""
        name, caller = await self._named(call), await calling_holder(call, self.surroundings)
        before: list[Document] = []

        def new_value(document: Document | None) -> None:
            self._rules(name, caller).check_releasable(_lease_of(document))
            before[:] = [document] if document is not None else []

        await self.documents.change(self.name, name, new_value)
        return self._view(before[0])

    async def list(self, call: Call) -> dict[str, Any]:
        """Return the leases that somebody has, by name."""
        prefix, limit, now = call.params["prefix"], call.params["limit"], self.documents.now()

        def read(database: sqlite3.Connection) -> list[Document]:
            rows = database.execute(
                "SELECT service, key, value, revision, author, at, private FROM document WHERE service = 'lease' "
                "AND NOT private AND value IS NOT NULL AND key > ? AND substr(key, 1, ?) = ? "
                "AND json_extract(value, '$.until') > ? ORDER BY key LIMIT ?",
                (call.params["after"], len(prefix), prefix, now, limit + 1),
            )
            return [document_of(row) for row in rows]

        found = await self.documents.replica.read(read)
        return {
            "items": [self._view(one) for one in found[:limit] if _lease_of(one) is not None],
            "next": found[limit - 1].key if len(found) > limit else None,
        }

    async def changed(self, change: Change) -> None:
        """Tell who has a lease now, or has given it back."""
        self._waiting.wake()
        lease, before = _lease_of(change.document), _lease_of(change.before)
        kind, told = None, lease
        if lease is not None and lease.until > self.documents.now():
            kind = None if before is not None and before.acquired_at == lease.acquired_at else contract.ACQUIRED
        elif lease is None and before is not None and before.until > self.documents.now():
            kind, told = contract.RELEASED, before
        if kind is None or told is None:
            return
        name = change.document.key
        data = {"name": name, "holder": holder_view(told.holder, self.surroundings), "note": told.note}
        if kind == contract.ACQUIRED:
            data["until"] = timestamp(told.until)
        await self.surroundings.context.events.append(kind, name, data, source="mesh")

    async def serve(self, session: Session) -> None:
        """Remove leases that expired, now and then."""
        await remove_now_and_then(session, self.surroundings.context.clock, self.prune)

    async def prune(self) -> int:
        """Remove leases that nobody has had for an hour, and return how many this peer has removed."""
        before = self.documents.now() - KEPT_S

        def read(database: sqlite3.Connection) -> list[str]:
            rows = database.execute(
                "SELECT key FROM document WHERE service = 'lease' AND NOT private AND value IS NOT NULL "
                "AND coalesce(json_extract(value, '$.until'), 0) < ? LIMIT 1000",
                (before,),
            )
            return [key for (key,) in rows]

        return await remove_documents(self.documents, self.name, await self.documents.replica.read(read))

    async def _named(self, call: Call) -> str:
        """Return the name that a call is about: the one it gives, or the canonical one of a file."""
        name, path = call.params["name"], call.params["path"]
        if bool(name) == bool(path):
            raise user_error("a lease is on a name or on a file", "Give a name, or --path and a file.", field="name")
        if name:
            return check_key(name, "name")
        if not path.startswith("/"):
            raise user_error("the path of the file is relative", "Pass an absolute path.", field="path")
        own = self.name_of(self.documents.member)
        return check_key(await asyncio.to_thread(file_name, path, own), "path")

    def _rules(self, name: str, caller: Holder) -> Rules:
        return Rules(
            name,
            caller,
            self.documents.now(),
            label=lambda holder: str(holder_view(holder, self.surroundings)["label"]),
            is_member=self.surroundings.directory.is_member,
        )

    def _view(self, document: Document) -> dict[str, Any]:
        lease = _lease_of(document)
        assert lease is not None  # it was read as one before
        return {
            "name": document.key,
            "holder": holder_view(lease.holder, self.surroundings),
            "note": lease.note,
            "acquired_at": timestamp(lease.acquired_at),
            "until": timestamp(lease.until),
            "revision": document.revision,
        }


def _lease_of(document: Document | None) -> Lease | None:
    return None if document is None or document.value is None else read_lease(document.value)
