"""What the authority has decided, in its database: members, invites and epochs of topic keys.

One process decides, in one transaction each, so an invite for one has one winner whoever asks at the same time.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from covey.kernel.store.migrations import Migration
from covey.mesh.crypto.topic_keys import EpochSecret
from covey.mesh.names import SHORTEST_KEY
from murli import conflict, not_found, permission_denied, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.store.store import Store

MIGRATIONS = (
    Migration(
        "mesh.authority",
        """
CREATE TABLE authority_member (
    member TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    number INTEGER NOT NULL,
    joined_at REAL NOT NULL,
    revoked_at REAL,
    certificate BLOB NOT NULL,
    last_ask REAL NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE authority_invite (
    id TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    created_at REAL NOT NULL,
    created_by TEXT NOT NULL,
    expires_at REAL NOT NULL,
    uses INTEGER NOT NULL,
    cancelled_at REAL
) STRICT;
CREATE TABLE authority_invite_use (
    invite TEXT NOT NULL,
    member TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (invite, member)
) STRICT;
CREATE TABLE authority_epoch (
    epoch INTEGER PRIMARY KEY,
    secret BLOB NOT NULL,
    topic_name_key BLOB NOT NULL,
    at REAL NOT NULL
) STRICT;
""",
    ),
    Migration("mesh.authority_left", "ALTER TABLE authority_member ADD COLUMN left INTEGER NOT NULL DEFAULT 0;"),
)
OWNER, ADMIN, MEMBER, READER = "authority", "admin", "member", "reader"
"""Roles; a reader takes part in everything but does not change what the members share."""
MAY_ADMINISTER = frozenset({OWNER, ADMIN})


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """A member as the authority has it."""

    member: str
    name: str
    role: str
    number: int
    joined_at: float
    revoked_at: float | None
    certificate: bytes
    left: bool = False
    """It has left by itself."""


class InviteRow(NamedTuple):
    """An invite as the authority has it."""

    id: str
    role: str
    created_at: float
    created_by: str
    expires_at: float
    uses: int
    cancelled_at: float | None
    used: int


class Register:
    """Members, invites and epochs. Every decision is one transaction."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def members(self) -> list[Registered]:
        """Return every member that was ever admitted."""
        return await self._store.read(_members)

    async def invites(self) -> list[dict[str, Any]]:
        """Return the invites, each with the members that joined with it."""

        def read(database: sqlite3.Connection) -> list[dict[str, Any]]:
            found = []
            for row in database.execute(_INVITES + " ORDER BY created_at DESC").fetchall():
                invite = InviteRow(*row)
                uses = "SELECT member FROM authority_invite_use WHERE invite = ? ORDER BY at"
                joined = [one[0] for one in database.execute(uses, (invite.id,))]
                found.append({**invite._asdict(), "joined": joined})
            return found

        return await self._store.read(read)

    async def epochs(self) -> list[EpochSecret]:
        """Return the epochs of topic keys, the oldest first."""
        return await self._store.read(_epochs)

    async def found(self, member: str, name: str, certificate: bytes, epoch: EpochSecret) -> None:
        """Write down the first member, who owns the mesh, and the first epoch. Nothing happens if they are there."""
        now = self._clock.time()

        def work(database: sqlite3.Connection) -> None:
            database.execute(
                "INSERT OR IGNORE INTO authority_member VALUES (?, ?, ?, 1, ?, NULL, ?, 0, 0)",
                (member, name, OWNER, now, certificate),
            )
            if database.execute("SELECT 1 FROM authority_epoch").fetchone() is None:
                _insert_epoch(database, epoch, now)

        await self._store.write(work)

    async def recover(self, members: Sequence[Registered], epochs: Sequence[EpochSecret]) -> None:
        """Take over what was signed before and is newer here or missing, as after the loss of the database."""

        def work(database: sqlite3.Connection) -> None:
            known = {one.member: one for one in _members(database)}
            for one in members:
                former = known.get(one.member)
                if former is None or former.number < one.number:
                    database.execute(
                        "INSERT INTO authority_member VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?) "
                        "ON CONFLICT (member) DO UPDATE SET name = excluded.name, role = excluded.role, "
                        "number = excluded.number, joined_at = excluded.joined_at, revoked_at = excluded.revoked_at, "
                        "left = excluded.left",
                        (
                            *(one.member, one.name, one.role, one.number, one.joined_at, one.revoked_at),
                            *(one.certificate, one.left),
                        ),
                    )
            for epoch in epochs:
                if database.execute("SELECT 1 FROM authority_epoch WHERE epoch = ?", (epoch.epoch,)).fetchone() is None:
                    _insert_epoch(database, epoch, self._clock.time())

        await self._store.write(work)

    async def invite(self, by: str, role: str, expires_at: float, uses: int) -> str:
        """Write down a new invite and return its id."""
        invite, now = secrets.token_hex(8), self._clock.time()
        await self._store.write(
            lambda database: (
                database.execute(
                    "INSERT INTO authority_invite VALUES (?, ?, ?, ?, ?, ?, NULL)",
                    (invite, role, now, by, expires_at, uses),
                )
                and None
            )
        )
        return invite

    async def cancel(self, invite: str) -> None:
        """Make an invite void. Raises AgentError if there is none of that id."""
        now = self._clock.time()

        def work(database: sqlite3.Connection) -> None:
            changed = database.execute(
                "UPDATE authority_invite SET cancelled_at = coalesce(cancelled_at, ?) WHERE id = ?", (now, invite)
            )
            if not changed.rowcount:
                raise not_found(f"there is no invite {invite!r}", "See `covey mesh invites`.", field="invite")

        await self._store.write(work)

    async def admit(self, invite: str, member: str, name: str, certificate: bytes) -> Registered:
        """Make somebody with an invite a member, and return it. The same member again gets the same answer.

        Raises AgentError if the invite is unknown, used up, expired or cancelled, or if the name is taken.
        """
        now = self._clock.time()

        def work(database: sqlite3.Connection) -> Registered:
            row = database.execute(_INVITES + " WHERE id = ?", (invite,)).fetchone()
            if row is None:
                raise not_found("this invite is not known here", "Ask for a new one.", field="token")
            found = InviteRow(*row)
            again = database.execute(
                "SELECT 1 FROM authority_invite_use WHERE invite = ? AND member = ?", (invite, member)
            ).fetchone()
            former = _member(database, member)
            if again is not None and former is not None and former.revoked_at is None:
                return former  # its answer was lost
            _check_invite(found, now)
            if former is not None and former.revoked_at is None:
                raise conflict(f"{former.name} is a member already", "Nothing is left to do.", field="token")
            if former is not None and again is not None:
                raise permission_denied(f"{former.name} was removed from this mesh", "Ask for a new invite.")
            _check_name(database, name, member)
            database.execute("INSERT OR IGNORE INTO authority_invite_use VALUES (?, ?, ?)", (invite, member, now))
            number = 1 if former is None else former.number + 1
            database.execute(
                "INSERT OR REPLACE INTO authority_member VALUES (?, ?, ?, ?, ?, NULL, ?, 0, 0)",
                (member, name, found.role, number, now, certificate),
            )
            return Registered(
                member=member,
                name=name,
                role=found.role,
                number=number,
                joined_at=now,
                revoked_at=None,
                certificate=certificate,
            )

        return await self._store.write(work)

    async def rename(self, member: str, name: str) -> Registered:
        """Give a member another name and return it. Raises AgentError if the name is taken or cannot be one."""

        def work(database: sqlite3.Connection) -> Registered:
            former = _present(database, member)
            if former.name == name:
                return former
            _check_name(database, name, member)
            database.execute(
                "UPDATE authority_member SET name = ?, number = number + 1 WHERE member = ?", (name, member)
            )
            return _present(database, member)

        return await self._store.write(work)

    async def revoke(self, member: str, *, left: bool = False) -> Registered:
        """Remove a member, begin a new epoch of topic keys, and return the member. Nothing happens the second time.

        Unless it has `left` by itself, the invites that it knows are cancelled too: those that it made and the one that
        it joined with, with which it could come back under another key. Raises AgentError if it is not a member, or
        owns the mesh.
        """
        now = self._clock.time()

        def work(database: sqlite3.Connection) -> Registered:
            former = _member(database, member)
            if former is None:
                raise not_found(f"{member[:60]!r} is not a member of this mesh", "See `covey mesh members`.")
            if former.role == OWNER:
                raise user_error(
                    f"{former.name} owns this mesh and cannot be removed from it",
                    "To end the mesh, remove its other members and reset it here: `covey mesh reset`.",
                )
            if former.revoked_at is None:
                database.execute(
                    "UPDATE authority_member SET revoked_at = ?, left = ?, number = number + 1 WHERE member = ?",
                    (now, left, member),
                )
                _insert_epoch(database, _epochs(database)[-1].following(), now)
            if not left:
                database.execute(_CANCEL_KNOWN, (now, member, member))
            return former

        return await self._store.write(work)

    async def accept_ask(self, member: str, at: float) -> Registered:
        """Return a member who asks for something, and remember when it asked.

        Raises AgentError if it is not a member, or if the request is not newer than the one before: it is a repetition.
        """

        def work(database: sqlite3.Connection) -> Registered:
            found = _present(database, member)
            newer = database.execute(
                "UPDATE authority_member SET last_ask = ? WHERE member = ? AND last_ask < ?", (at, member, at)
            )
            if not newer.rowcount:
                raise conflict("this request is a repetition of an earlier one", "Ask again.")
            return found

        return await self._store.write(work)


_INVITES = (
    "SELECT id, role, created_at, created_by, expires_at, uses, cancelled_at, "
    "(SELECT count(*) FROM authority_invite_use WHERE invite = id) FROM authority_invite"
)
_CANCEL_KNOWN = (
    "UPDATE authority_invite SET cancelled_at = ? WHERE cancelled_at IS NULL AND "
    "(created_by = ? OR id IN (SELECT invite FROM authority_invite_use WHERE member = ?))"
)
_MEMBER = "SELECT member, name, role, number, joined_at, revoked_at, certificate, left FROM authority_member"


def _registered(row: Any) -> Registered:
    member, name, role, number, joined_at, revoked_at, certificate, left = row
    return Registered(
        member=member,
        name=name,
        role=role,
        number=number,
        joined_at=joined_at,
        revoked_at=revoked_at,
        certificate=certificate,
        left=bool(left),
    )


def _members(database: sqlite3.Connection) -> list[Registered]:
    return [_registered(row) for row in database.execute(_MEMBER + " ORDER BY joined_at, member")]


def _member(database: sqlite3.Connection, member: str) -> Registered | None:
    row = database.execute(_MEMBER + " WHERE member = ?", (member,)).fetchone()
    return None if row is None else _registered(row)


def _present(database: sqlite3.Connection, member: str) -> Registered:
    found = _member(database, member)
    if found is None or found.revoked_at is not None:
        raise permission_denied("only members of this mesh may ask for this", "Join it first: `covey mesh join`.")
    return found


def _epochs(database: sqlite3.Connection) -> list[EpochSecret]:
    return [
        EpochSecret(epoch=epoch, secret=secret, topic_name_key=name_key)
        for epoch, secret, name_key in database.execute(
            "SELECT epoch, secret, topic_name_key FROM authority_epoch ORDER BY epoch"
        )
    ]


def _insert_epoch(database: sqlite3.Connection, epoch: EpochSecret, now: float) -> None:
    database.execute(
        "INSERT INTO authority_epoch VALUES (?, ?, ?, ?)", (epoch.epoch, epoch.secret, epoch.topic_name_key, now)
    )


def _check_invite(invite: InviteRow, now: float) -> None:
    if invite.cancelled_at is not None:
        raise permission_denied("this invite was cancelled", "Ask for a new one.")
    if now >= invite.expires_at:
        raise permission_denied("this invite has expired", "Ask for a new one.")
    if invite.used >= invite.uses:
        raise conflict("this invite was used already", "Ask for a new one.", field="token")


def _check_name(database: sqlite3.Connection, name: str, member: str) -> None:
    taken = database.execute(
        "SELECT 1 FROM authority_member WHERE lower(name) = lower(?) AND member != ? AND revoked_at IS NULL",
        (name, member),
    ).fetchone()
    if taken is not None:
        raise conflict(
            f"a member of this mesh is called {name!r} already",
            "Choose another one; `covey mesh join` takes it as --name.",
            field="name",
        )
    key = database.execute(
        "SELECT name FROM authority_member WHERE substr(member, 1, length(?1)) = upper(?1) AND length(?1) >= ?2"
        " AND member != ?3 AND revoked_at IS NULL",
        (name, SHORTEST_KEY, member),
    ).fetchone()
    if key is not None:
        raise conflict(f"{name!r} is how the key of {key[0]} begins", "Choose another one.", field="name")
