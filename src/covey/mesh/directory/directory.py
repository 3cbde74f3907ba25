"""The members of a mesh as this peer knows them. It reads nothing: it is given records, and says what has changed.

A record counts only if its signature is right, and only if it is newer than the one before: a broker that offers an
old record again changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from covey.mesh.crypto.errors import ForgedError, MeshCryptoError, UnknownKeyError
from covey.mesh.crypto.identity import PublicKeys
from covey.mesh.crypto.nkeys import decode_public
from covey.mesh.crypto.records import MemberRecord, MeshRecord, Profile, open_record
from covey.mesh.crypto.shared_keys import open_former, read_former, shared_key
from covey.mesh.crypto.topic_keys import open_grant
from covey.mesh.names import SHORTEST_KEY
from murli import AgentError, not_found

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.crypto.records import SharedKeysRecord
    from covey.mesh.crypto.topic_keys import EpochSecret

FORMER = "former"
"""The first word of the name under which a profile with a former key is kept: `former.<member>.<key id>`."""
MOST_FORMER_KEYS = 64
"""Certificates of former keys in a profile that count."""
What = Literal["joined", "renamed", "revoked", "profile", "granted", "mesh"]


class Change(NamedTuple):
    """What a record has changed."""

    what: What
    member: str
    before: str = ""
    """The former name, if the member was renamed."""


class Directory:
    """Members, names, keys, profiles, and the topic keys that were granted to this member."""

    def __init__(self, mesh: str, authority: bytes, keys: KeyPair) -> None:
        """Accept what the key `authority` has signed for `mesh`; `keys` open what is granted to their member."""
        self.mesh = mesh
        self.record: MeshRecord | None = None
        self.members: dict[str, MemberRecord] = {}
        self.profiles: dict[str, Profile] = {}
        self.epochs: dict[int, EpochSecret] = {}
        self._granted = asyncio.Event()
        self._shared_keys: dict[int, bytes] = {}
        self._former_keys: dict[int, SharedKeysRecord] = {}
        """Records with the shared keys of former epochs, by their own epoch."""
        self._authority = authority
        self.keys = keys
        self._newest_key: dict[str, PublicKeys] = {}
        self._older_keys: dict[tuple[str, str], bytes] = {}
        self._names: dict[str, str] = {}

    def apply(self, subject: str, wire: bytes) -> Change | None:
        """Take a record; return what it changed, None if it is old news.

        Raises MeshCryptoError if it is not signed by whom it must be, or does not belong to its subject.
        """
        kind, *rest = subject.split(".")
        if kind == "a" and rest[:1] == ["mesh"]:
            return self._apply_mesh(wire)
        if kind == "a" and rest[:1] == ["member"]:
            return self._apply_member(rest[1], wire)
        if kind == "a" and rest[:1] == ["grant"]:
            return self._apply_grant(rest[1], rest[2], wire)
        if kind == "a" and rest[:1] == ["shared"]:
            self._apply_shared(rest[1], wire)
        if kind == "m":
            return self._apply_profile(rest[0], wire)
        if kind == FORMER:
            self._apply_former(rest[0], wire)
        return None

    @property
    def epoch(self) -> EpochSecret | None:
        """The newest topic keys that this member has; None before the first were granted."""
        return self.epochs[max(self.epochs)] if self.epochs else None

    async def wait_for_epoch(self, limit_s: float) -> EpochSecret | None:
        """Return the newest topic keys; a member that has just joined waits for its first ones, up to so many seconds.

        Returns None if they were not granted until then.
        """
        if not self.epochs:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self._granted.wait()
        return self.epoch

    def shared_key(self, epoch: int) -> bytes | None:
        """Return the key of what was shared in an epoch, also of one before this member joined; None if not known."""
        if epoch in self.epochs:
            return shared_key(self.epochs[epoch])
        if epoch not in self._shared_keys:
            for of, record in self._former_keys.items():
                if of in self.epochs:
                    self._shared_keys |= open_former(record, shared_key(self.epochs[of]))
        return self._shared_keys.get(epoch)

    def is_member(self, member: str) -> bool:
        """Whether a member is in the mesh now."""
        record = self.members.get(member)
        return record is not None and record.revoked_at is None

    def name_of(self, member: str) -> str:
        """Return the name of a member, also of one that was revoked; the beginning of its key if it is not known."""
        record = self.members.get(member)
        return record.name if record is not None else member[:8]

    def find(self, reference: str, field: str = "to") -> str:
        """Return the member with that name (a leading @ is allowed), key, or beginning of a key that is unambiguous.

        Raises AgentError about a parameter, `field`, if there is none.
        """
        text = reference.removeprefix("@")
        if self.is_member(text):
            return text
        named = self._names.get(text.lower())
        if named is not None and self.is_member(named):
            return named
        begins = [one for one in self.present if len(text) >= SHORTEST_KEY and one.startswith(text.upper())]
        if len(begins) == 1:
            return begins[0]
        known = ", ".join(sorted(f"@{self.name_of(member)}" for member in self.present)[:20])
        gone = named is not None and self.members[named].revoked_at is not None
        raise not_found(
            f"{reference!r} {'was removed from this mesh' if gone else 'is not a member of this mesh'}",
            f"Members are: {known or 'none yet'}.",
            field=field,
        )

    def find_sender(self, reference: str, field: str) -> str:
        """Return the member with that name, key, or beginning of a key, also one that was removed.

        A present member comes before a former one of the same name, and of those the one that was removed last. Raises
        AgentError about a parameter, `field`, if there is none.
        """
        try:
            return self.find(reference, field)
        except AgentError:
            text = reference.removeprefix("@")
            if text in self.members:
                return text
            former = [one for one in self.members.values() if one.revoked_at is not None]
            named = [one for one in former if one.name.lower() == text.lower()]
            if named:
                return max(named, key=lambda one: (one.revoked_at or 0.0, one.member)).member
            begins = [one.member for one in former if len(text) >= SHORTEST_KEY and one.member.startswith(text.upper())]
            if len(begins) == 1:
                return begins[0]
            raise

    @property
    def present(self) -> list[str]:
        """The members that are in the mesh now, by key."""
        return [member for member, record in self.members.items() if record.revoked_at is None]

    def is_member_name(self, name: str) -> bool:
        """Return whether a member has that name now, in whatever case."""
        member = self._names.get(name.lower())
        return member is not None and self.is_member(member)

    def is_group(self, name: str) -> bool:
        """Return whether a member says that it is in that group, in whatever case."""
        return name.lower() in {group.lower() for group in self.groups()}

    def group(self, name: str) -> list[str]:
        """Return the members that say they are in a group."""
        return [
            member
            for member in self.present
            if (profile := self.profiles.get(member)) is not None and name in profile.groups
        ]

    def groups(self) -> set[str]:
        """Return the names of all groups."""
        return {name for member in self.present if member in self.profiles for name in self.profiles[member].groups}

    def public_keys(self, member: str) -> PublicKeys | None:
        """Return the newest encryption key of a member; None if it has not published one yet."""
        return self._newest_key.get(member)

    def key_of(self, member: str, key_id: str) -> bytes | None:
        """Return an encryption key of a member, also a former one; None if it is not known."""
        newest = self._newest_key.get(member)
        if newest is not None and newest.key_id == key_id:
            return newest.key
        return self._older_keys.get((member, key_id))

    def load(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Take records that were stored. One that does not verify any more is left out.

        Those that need others to be understood, such as a grant the key of the authority, may come before them.
        """
        waiting = list(records)
        while waiting:
            left = [record for record in waiting if not self._load(*record)]
            if len(left) == len(waiting):
                return
            waiting = left

    def _load(self, subject: str, wire: bytes) -> bool:
        """Take one record. Returns False if it may be understood when others have been taken."""
        try:
            self.apply(subject, wire)
        except UnknownKeyError:
            return False
        except MeshCryptoError:
            return True
        return True

    def _apply_mesh(self, wire: bytes) -> Change | None:
        record = open_record(MeshRecord, self._authority, "mesh", wire)
        self._check(record.mesh)
        if self.record is not None and record.number <= self.record.number:
            return None
        self.record = record
        return Change("mesh", record.authority_member)

    def _apply_member(self, member: str, wire: bytes) -> Change | None:
        record = open_record(MemberRecord, self._authority, "member", wire)
        self._check(record.mesh)
        if record.member != member:
            raise ForgedError("a member's record stands under another member's name")
        former = self.members.get(member)
        if former is not None and record.number <= former.number:
            return None
        self.members[member] = record
        if former is not None and self._names.get(former.name.lower()) == member:
            del self._names[former.name.lower()]
        self._names[record.name.lower()] = member
        if record.revoked_at is not None:
            return Change("revoked", member)
        if former is None or former.revoked_at is not None:
            return Change("joined", member)
        return Change("renamed", member, former.name) if former.name != record.name else None

    def _apply_grant(self, member: str, epoch: str, wire: bytes) -> Change | None:
        if member != self.keys.member:
            return None
        secret = open_grant(wire, self.keys, self.authority_key, mesh=self.mesh)
        if int(epoch) in self.epochs:
            return None
        self.epochs[secret.epoch] = secret
        self._granted.set()
        return Change("granted", member)

    def _apply_shared(self, epoch: str, wire: bytes) -> None:
        record = read_former(wire, mesh=self.mesh)
        if str(record.epoch) != epoch:
            raise ForgedError("shared keys stand under another epoch")
        self._former_keys[record.epoch] = record

    def authority_key(self, key_id: str) -> bytes | None:
        """Return the authority's encryption key of that id, as its mesh record certifies it; None if it is another."""
        if self.record is None:
            return None
        keys = PublicKeys.from_certificate(self.record.authority_certificate, self.record.authority_member)
        return keys.key if keys.key_id == key_id else self.key_of(self.record.authority_member, key_id)

    def _apply_profile(self, member: str, wire: bytes) -> Change | None:
        profile = open_record(Profile, decode_public(member, "U"), "profile", wire)
        self._check(profile.mesh)
        if profile.member != member:
            raise ForgedError("a profile stands under another member's name")
        former = self.profiles.get(member)
        if former is not None and profile.number <= former.number:
            return None
        keys = PublicKeys.from_certificate(profile.certificate.encode(), member)
        newest = self._newest_key.get(member)
        if newest is not None and newest.key_id != keys.key_id:
            self._older_keys[member, newest.key_id] = newest.key
        for certificate in profile.former[:MOST_FORMER_KEYS]:
            older = PublicKeys.from_certificate(certificate.encode(), member)
            self._older_keys[member, older.key_id] = older.key
        self._newest_key[member] = keys
        self.profiles[member] = profile
        return Change("profile", member)

    def _apply_former(self, member: str, wire: bytes) -> None:
        profile = open_record(Profile, decode_public(member, "U"), "profile", wire)
        keys = PublicKeys.from_certificate(profile.certificate.encode(), member)
        self._older_keys[member, keys.key_id] = keys.key

    def _check(self, mesh: str) -> None:
        if mesh != self.mesh:
            raise ForgedError("a record of another mesh")
