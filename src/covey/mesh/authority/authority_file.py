"""The keys of the authority of a mesh, in `authority.json` beside the keys of its member."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from covey.contract.mesh_shapes import AUTHORITY_FILE
from covey.mesh.broker.streams import authority_subject
from covey.mesh.crypto.nkeys import SigningKey, encode_mesh_id
from covey.mesh.crypto.secret_file import read_secret, write_secret
from murli import tool_error

if TYPE_CHECKING:
    from covey.kernel.seat import Seat


class StoredAuthority(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file. Seeds are secrets."""

    authority: str
    """The seed of the key that signs members and topic keys; its public half is the id of the mesh."""
    account: str
    """The public key of the account at the broker."""
    owner_signing: str
    """The seed of a signing key of the account without a scope, for the authority's own member."""
    member_signing: str
    """The seed of the signing key with the permissions of members."""
    invite_signing: str
    """The seed of the signing key with the permissions of invites."""
    operator: str = ""
    """The folder with the operator's keys; empty if somebody else operates the broker."""
    replicas: int = 1
    subject_token: str = ""
    """A word in the subjects to which only the authority publishes: nobody else can guess them."""


class AuthorityFile:
    """The keys with which an authority signs. Its `repr` shows no secret."""

    def __init__(self, stored: StoredAuthority) -> None:
        self.stored = stored
        self.key = SigningKey.from_seed(stored.authority)
        self.mesh = encode_mesh_id(self.key.public_bytes)
        self.account = stored.account
        self.owner_signing = SigningKey.from_seed(stored.owner_signing)
        self.member_signing = SigningKey.from_seed(stored.member_signing)
        self.invite_signing = SigningKey.from_seed(stored.invite_signing)
        self.operator = stored.operator
        self.replicas = stored.replicas
        self.subject_token = stored.subject_token

    def __repr__(self) -> str:
        return f"AuthorityFile({self.mesh})"

    @classmethod
    def generate(cls, *, account: str, operator: str, replicas: int) -> Self:
        """Return new keys for a mesh in an account."""
        return cls(
            StoredAuthority(
                authority=SigningKey.generate("A").seed,
                account=account,
                owner_signing=SigningKey.generate("A").seed,
                member_signing=SigningKey.generate("A").seed,
                invite_signing=SigningKey.generate("A").seed,
                operator=operator,
                replicas=replicas,
                subject_token=secrets.token_hex(16),
            )
        )

    @classmethod
    def load(cls, seat: Seat) -> Self | None:
        """Return the keys in a peer's folder; None if this peer is not an authority. Raises AgentError."""
        path = _path(seat)
        if not (path.exists() or path.is_symlink()):
            return None
        try:
            return cls(msgspec.json.decode(read_secret(str(path)), type=StoredAuthority))
        except (msgspec.MsgspecError, ValueError):
            raise tool_error(
                f"the authority's keys in {path} are damaged",
                "Restore the file from a backup: without it nobody can be invited or removed.",
                error="authority_keys_unusable",
            ) from None

    def subject(self, subject: str) -> str:
        """Return where a record is published so that members read it under `subject`."""
        return authority_subject(subject, self.subject_token)

    def save(self, seat: Seat) -> None:
        """Write the keys, readable by their owner only. Raises AgentError."""
        write_secret(str(_path(seat)), msgspec.json.format(msgspec.json.encode(self.stored), indent=2))


def _path(seat: Seat) -> Path:
    return Path(seat.directory) / AUTHORITY_FILE
