"""What a service is: a part of the mesh with documents of its own, and what it may use of its peer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from covey.kernel.clock import timestamp
from covey.mesh.services.keys import is_key

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from covey.kernel.operations.call import Handler
    from covey.kernel.store.migrations import Migration
    from covey.kernel.subsystem import Context
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.hooks.hooks import Hooks
    from covey.mesh.inbox.inbox import Inbox, Message
    from covey.mesh.link.link import Link
    from covey.mesh.link.session import Session
    from covey.mesh.membership_file import Membership
    from covey.mesh.peer.sending import Sending
    from covey.mesh.services.document import Document
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.replica import Change


class Surroundings(NamedTuple):
    """What services may use of their peer."""

    context: Context
    """Of the peer's daemon: events, clock, metrics, configuration, seat."""
    membership: Membership
    keys: Callable[[], KeyPair]
    directory: Directory
    link: Link
    hooks: Hooks
    sending: Sending
    inbox: Inbox
    on_messages: Callable[[Sequence[Message]], None]
    """Tells of messages that a service has put into the inbox."""

    def connection(self) -> dict[str, Any]:
        """Return whether there is a connection to the broker, else since when there is none, and why."""
        since = self.link.disconnected_at
        return {
            "connected": since is None,
            "since": None if since is None else timestamp(since),
            "reason": None if since is None else self.link.reason,
        }


class Service:
    """Base of all services. A service keeps documents under its name; `documents` reads and writes them."""

    name = ""
    migrations: Sequence[Migration] = ()
    """Tables of its own in the replica, which `project` fills. They begin with the name of the service."""

    exported = True
    """Whether its documents make sense in a file by themselves: see `transfer`."""

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        self.documents = documents
        self.surroundings = surroundings

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations by their names."""
        return {}

    def allows(self, key: str, author: str) -> bool:  # noqa: ARG002 - for those that have rules
        """Return whether this author may write the document of that key. Asked for every version that comes."""
        return True

    def is_valid(self, key: str, value: Mapping[str, object]) -> bool:  # noqa: ARG002 - for those that have rules
        """Return whether a value can be a document of that key. Asked before it is written, and for all that come.

        It depends on nothing but its arguments, so that all replicas refuse the same.
        """
        return True

    def imported(self, key: str, value: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return key and value under which this member shares a document of a file.

        Returns None if it makes no sense in this mesh, and raises ValueError if it is none of this service.
        """
        if not is_key(key) or not self.is_valid(key, value):
            raise ValueError(f"it is not one of the service {self.name}")
        return key, value

    @staticmethod
    def project(database: sqlite3.Connection, document: Document, before: Document | None) -> None:
        """Derive what the service needs from a version, in the transaction that stores it.

        It depends on nothing but its arguments and the replica, so that all replicas are equal.
        """

    async def changed(self, change: Change) -> None:
        """Tell others of a change, when it is stored. Called for every version, also one of this member."""

    async def run(self) -> None:
        """Do what the service does by itself, as long as the peer runs."""

    async def serve(self, session: Session) -> None:
        """Do what needs the connection, until the session breaks. Called when the replica has caught up."""

    def name_of(self, member: str) -> str:
        """Return the name of a member."""
        return self.surroundings.directory.name_of(member)
