"""Documents that belong to the member that has written them: their keys are `<member>/<name>`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.mesh.services.replica import document_of
from murli import not_found, permission_denied, user_error

if TYPE_CHECKING:
    import sqlite3

    from covey.mesh.directory.directory import Directory
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents


class OwnedDocuments:
    """Those of one service. Several members may have one of the same name: then `@member/name` says which is meant."""

    def __init__(self, documents: Documents, directory: Directory, service: str, noun: str) -> None:
        """`noun` is what one is called, for messages."""
        self._documents = documents
        self._directory = directory
        self._service = service
        self._noun = noun

    @staticmethod
    def allows(key: str, author: str) -> bool:
        """Return whether the document of a key is the author's own."""
        return key.startswith(f"{author}/")

    @staticmethod
    def name_in(key: str) -> str:
        """Return the name in a key."""
        return key.partition("/")[2]

    def key(self, name: str) -> str:
        """Return the key of this member's document of that name."""
        return f"{self._documents.member}/{name}"

    async def all(self) -> list[Document]:
        """Return all documents of present members, by name and member."""
        service = self._service

        def read(database: sqlite3.Connection) -> list[Document]:
            rows = database.execute(
                "SELECT service, key, value, revision, author, at, private FROM document "
                "WHERE service = ? AND NOT private AND value IS NOT NULL",
                (service,),
            )
            return [document_of(row) for row in rows]

        found = [one for one in await self._documents.replica.read(read) if self._directory.is_member(one.author)]
        return sorted(found, key=lambda one: (self.name_in(one.key), self._directory.name_of(one.author)))

    def find(self, reference: str) -> Document:
        """Return the document that is meant by `name`, `@member/name` or `member/name`. Raises AgentError."""
        owner, slash, name = reference.rpartition("/")
        members = [self._directory.find(owner)] if slash else self._directory.present
        found = [
            one for member in members if (one := self._documents.get(self._service, f"{member}/{name}")) is not None
        ]
        if not found:
            raise not_found(
                f"there is no {self._noun} {reference!r} in this mesh",
                f"See `covey mesh {self._service} list`.",
                field=self._noun,
            )
        if len(found) > 1:
            every = ", ".join(sorted(f"@{self._directory.name_of(one.author)}/{name}" for one in found))
            raise user_error(f"several members have a {self._noun} {name!r}", f"Say which: {every}", field=self._noun)
        return found[0]

    def own(self, reference: str) -> Document:
        """Return the document of this member that is meant. Raises AgentError."""
        own = None if "/" in reference else self._documents.get(self._service, self.key(reference))
        found = own or self.find(reference)
        if found.author != self._documents.member:
            raise permission_denied(
                f"{reference!r} belongs to {self._directory.name_of(found.author)}",
                f"Only its owner can remove or change a {self._noun}.",
            )
        return found
