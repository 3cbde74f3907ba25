"""An invite: one line of text that a person pastes, with everything that is needed to join a mesh.

The line is `covey1` and then base32 in lower case of: the fields in msgpack, compressed, and a checksum. It holds a
secret: whoever has it can join once.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import time
import zlib
from typing import Self

import msgspec

from covey.kernel.clock import timestamp
from covey.mesh.auth.jwt import joined, split
from covey.mesh.crypto.nkeys import SigningKey
from murli import AgentError, user_error

PREFIX = "covey"
VERSION = 1
CHECKSUM = 5
LARGEST = 64 * 1024
_DECORATION = "\"'`<>.,;()"
"""What people and chat programs put around a text that they quote."""
_INVISIBLE = re.compile("[\\s\u200b-\u200f\u2060\ufeff\u00ad]+")


class _Wire(msgspec.Struct, frozen=True, array_like=True):
    """The fields as they are sent. A later version may add some at the end; this one leaves those unread."""

    slug: str
    mesh: str
    urls: list[str]
    ca: bytes
    account: str
    invite: str
    seed: bytes
    claims: bytes
    signature: bytes
    role: str
    expires_at: int


class Invite(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody needs in order to join a mesh."""

    slug: str
    """The name that the mesh has where it was created."""
    mesh: str
    """The id of the mesh."""
    urls: list[str]
    """Where its broker is."""
    ca: bytes
    """The certificate (DER) that signs the broker's; empty if the broker is trusted otherwise or uses no TLS."""
    account: str
    invite: str
    """The id of the invite."""
    seed: str
    """The seed of the user that may ask to join."""
    jwt: str
    """The claims of that user."""
    role: str
    expires_at: int

    def __repr__(self) -> str:
        return f"Invite(slug={self.slug!r}, mesh={self.mesh!r}, invite={self.invite!r}, role={self.role!r})"

    def encode(self) -> str:
        """Return the line to paste."""
        said, signature = split(self.jwt)
        wire = _Wire(
            slug=self.slug,
            mesh=self.mesh,
            urls=self.urls,
            ca=self.ca,
            account=self.account,
            invite=self.invite,
            seed=SigningKey.from_seed(self.seed).seed_bytes,
            claims=said,
            signature=signature,
            role=self.role,
            expires_at=self.expires_at,
        )
        data = zlib.compress(msgspec.msgpack.encode(wire), 9)
        return f"{PREFIX}{VERSION}{_base32(data + _checksum(data))}"

    @classmethod
    def decode(cls, text: str, *, now: float | None = None) -> Self:
        """Return the invite in a text. White space, line breaks, upper case and quotes around it do not matter.

        Raises `AgentError` if it is not an invite, is damaged, comes from a newer version or has expired at `now`
        (the present if it is None).
        """
        invite = cls._decoded(_INVISIBLE.sub("", text).strip(_DECORATION).lower())
        moment = time.time() if now is None else now
        if moment >= invite.expires_at:
            raise user_error(
                f"the invite to {invite.slug} expired at {timestamp(invite.expires_at)}",
                "Ask whoever sent it for a new one: covey mesh invite",
                error="invite_expired",
            )
        return invite

    @classmethod
    def _decoded(cls, text: str) -> Self:
        data = _unpacked(text)
        try:
            wire = msgspec.msgpack.decode(_decompressed(data), type=_Wire)
            seed = SigningKey("U", wire.seed).seed
        except (msgspec.DecodeError, zlib.error, ValueError, AgentError):
            raise _damaged() from None
        return cls(
            slug=wire.slug,
            mesh=wire.mesh,
            urls=wire.urls,
            ca=wire.ca,
            account=wire.account,
            invite=wire.invite,
            seed=seed,
            jwt=joined(wire.claims, wire.signature),
            role=wire.role,
            expires_at=wire.expires_at,
        )


def _unpacked(text: str) -> bytes:
    """Return the bytes of a line without its checksum. Raises `AgentError` if the line is not a whole invite."""
    if not text.startswith(PREFIX):
        raise user_error(
            "this is not an invite: an invite is one long word that begins with covey1",
            "Paste all of it, from the first letter to the last.",
            error="not_an_invite",
        )
    version, body = text[len(PREFIX) : len(PREFIX) + 1], text[len(PREFIX) + 1 :]
    if version.isdigit() and version != str(VERSION):
        raise user_error(
            "this invite was made by a newer version of Covey",
            "Update Covey on this host, then join again.",
            error="invite_too_new",
        )
    if version != str(VERSION):
        raise _damaged()
    try:
        data = base64.b32decode(body.upper() + "=" * (-len(body) % 8))
    except (binascii.Error, ValueError):
        raise _damaged() from None
    is_canonical = _base32(data) == body  # the last letter may have bits that say nothing
    if len(data) <= CHECKSUM or not is_canonical or _checksum(data[:-CHECKSUM]) != data[-CHECKSUM:]:
        raise _damaged()
    return data[:-CHECKSUM]


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()


def _decompressed(data: bytes) -> bytes:
    """Return the data of a compressed text. Raises `zlib.error`, also if it would be larger than any invite."""
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(data, LARGEST)
    if not unpacking.eof:
        raise zlib.error("too large or cut short")
    return plain


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=CHECKSUM, person=b"covey-invite").digest()


def _damaged() -> AgentError:
    return user_error(
        "the invite is damaged: some of it is missing or was changed on the way",
        "Copy all of it again, from covey1 to the last letter; a terminal cuts a pasted line at 4,096 characters.",
        error="invite_damaged",
    )
