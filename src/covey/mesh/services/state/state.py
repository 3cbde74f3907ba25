"""Values under keys, shared by all members or kept for this one: with compare-and-set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from covey.contract.mesh_services.state import CHANGED
from covey.kernel.clock import timestamp
from covey.mesh.link.errors import Overtaken
from covey.mesh.services.keys import check_key
from covey.mesh.services.replica import document_of
from covey.mesh.services.service import Service
from murli import conflict, not_found, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.services.document import Document
    from covey.mesh.services.replica import Change

LARGEST_VALUE = 256 * 1024
MEMBER = "member"


class State(Service):
    """The service `state`. A document is `{"value": …}`."""

    name = "state"

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {
            "mesh.state.set": self.set,
            "mesh.state.get": self.get,
            "mesh.state.list": self.list,
            "mesh.state.delete": self.delete,
        }

    def imported(self, key: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return it if it holds a value that could be set here."""
        if value.keys() != {"value"} or len(msgspec.json.encode(value["value"])) > LARGEST_VALUE:
            raise ValueError("it is not a value of the state")
        return super().imported(key, value)

    async def set(self, call: Call) -> dict[str, Any]:
        """Set a value, if it still has the revision that is expected."""
        key, value = check_key(call.params["key"]), call.params["value"]
        size = len(msgspec.json.encode(value))
        if size > LARGEST_VALUE:
            raise user_error(
                f"the value has {size} bytes and may have {LARGEST_VALUE}",
                "Share a file, and set its id: covey mesh file share <path>",
                field="value",
            )
        return self._entry(await self._put(call, key, {"value": value}))

    async def delete(self, call: Call) -> dict[str, Any]:
        """Delete a value, if it still has the revision that is expected."""
        key = check_key(call.params["key"])
        self._find(call, key)
        deleted = await self._put(call, key, None)
        return {"key": key, "scope": call.params["scope"], "revision": deleted.revision}

    async def _put(self, call: Call, key: str, value: dict[str, Any] | None) -> Document:
        expected, private = call.params["expect"], call.params["scope"] == MEMBER
        try:
            return await self.documents.put(self.name, key, value, private=private, after=expected)
        except Overtaken:
            found = self.documents.get(self.name, key, private=private)
            now = f"it has revision {found.revision} by {self.name_of(found.author)}" if found else "there is none"
            raise conflict(
                f"{key!r} does not have revision {expected}: {now}",
                f"Read it again, then decide: covey mesh state get {key}",
                field="expect",
            ) from None

    async def get(self, call: Call) -> dict[str, Any]:
        """Return a value."""
        return self._entry(self._find(call, check_key(call.params["key"])))

    def _find(self, call: Call, key: str) -> Document:
        found = self.documents.get(self.name, key, private=call.params["scope"] == MEMBER)
        if found is None:
            raise not_found(f"there is no value under {key!r}", "See `covey mesh state list`.", field="key")
        return found

    async def list(self, call: Call) -> dict[str, Any]:
        """Return values by key."""
        params = call.params
        limit: int = params["limit"]
        private = {None: (0, 1), "mesh": (0, 0), MEMBER: (1, 1)}[params["scope"]]

        def read(database: sqlite3.Connection) -> list[Document]:
            rows = database.execute(
                "SELECT service, key, value, revision, author, at, private FROM document WHERE service = 'state' "
                "AND private BETWEEN ? AND ? AND value IS NOT NULL AND key > ? AND substr(key, 1, ?) = ? "
                "ORDER BY key, private LIMIT ?",
                (*private, params["after"], len(params["prefix"]), params["prefix"], limit + 2),
            )
            return [document_of(row) for row in rows]

        found = await self.documents.replica.read(read)
        page = found[:limit]
        if len(found) > limit and found[limit].key == page[-1].key:  # both scopes of a key are on one page
            page = found[: limit + 1]
        return {
            "items": [self._entry(one) for one in page],
            "next": page[-1].key if len(found) > len(page) else None,
        }

    async def changed(self, change: Change) -> None:
        """Tell of a value that has changed."""
        document = change.document
        entry = self._entry(document)
        data = {name: entry[name] for name in ("key", "scope", "value", "revision", "author", "author_name")}
        data["deleted"] = document.value is None
        await self.surroundings.context.events.append(CHANGED, document.key, data, source="mesh")

    def _entry(self, document: Document) -> dict[str, Any]:
        return {
            "key": document.key,
            "scope": MEMBER if document.private else "mesh",
            "value": None if document.value is None else document.value.get("value"),
            "revision": document.revision,
            "author": document.author,
            "author_name": self.name_of(document.author),
            "at": timestamp(document.at),
        }
