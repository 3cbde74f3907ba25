"""Envelopes: messages as they go over the wire, sealed for their readers and signed by their sender.

The bytes are described in docs/reference/mesh-envelope.md.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import struct
from collections.abc import Callable
from typing import Final, Literal

import nacl.bindings
from msgspec import Struct
from nacl.exceptions import CryptoError

from covey.mesh.crypto.envelope_form import (
    DIRECT,
    LARGEST_HEADER,
    TOPIC,
    Body,
    DirectHeader,
    TopicHeader,
    encoder,
    parse_body,
    parse_header,
)
from covey.mesh.crypto.errors import ForgedError, MalformedError, NotForUsError, UnknownKeyError, WrongMeshError
from covey.mesh.crypto.identity import KeyPair, PublicKeys, shared_key
from covey.mesh.crypto.nkeys import SIGNATURE_BYTES, SigningKey, decode_public, verify

__all__ = [
    "LARGEST_ENVELOPE",
    "Body",
    "DirectHeader",
    "Envelope",
    "SenderKey",
    "TopicHeader",
    "new_message_id",
    "open_direct",
    "open_topic",
    "read_header",
    "seal_direct",
    "seal_topic",
]

LARGEST_ENVELOPE: Final = 1024 * 1024 - 4 * 1024
MAGIC: Final = b"CVM1"
NONCE_BYTES: Final = 24
_BOX_BYTES: Final = 16  # what a box adds
_DIGEST_BYTES: Final = 16
_HEADER_DIGEST: Final = b"covey-mesh-head1"
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_START: Final = struct.Struct(">4sBH")

_MESSAGE_ID: Final = re.compile("[a-z2-7]{26}")
_PAIRS: Final = tuple(one + other for one in _ALPHABET for other in _ALPHABET)
"""All pairs of characters: base32 ten bits at a time, since the one of the library takes as long as a signature."""

SenderKey = Callable[[str, str], bytes | None]
"""Returns the x25519 key of a member by its key id, from a certificate that was verified; None if it is unknown."""


class Envelope(Struct, frozen=True, kw_only=True):
    """An envelope that was verified and opened. The body is None if and only if `skip` is true."""

    kind: Literal["direct", "topic"]
    header: DirectHeader | TopicHeader
    body: Body | None
    skip: bool = False


def new_message_id() -> str:
    """Return a message id: 26 characters of base32, lower case, of 16 random bytes. Nobody can guess it."""
    bits = int.from_bytes(os.urandom(16), "big") << 2  # 26 characters of 5 bits
    return "".join([_PAIRS[bits >> shift & 1023] for shift in range(120, -1, -10)])


def is_message_id(text: str) -> bool:
    """Return whether a text has the form of a message id."""
    return _MESSAGE_ID.fullmatch(text) is not None


def seal_direct(
    keys: KeyPair,
    to: PublicKeys,
    *,
    mesh: str,
    id: str,  # noqa: A002 - the field is called so
    at_ms: int,
    ob: str,
    n: int,
    body: Body | None,
) -> bytes:
    """Return an envelope for one member; without a body it says that the number `n` will never come.

    Raises `MalformedError` if it is too large, a field does not have its form, or the body is not JSON.
    """
    header = DirectHeader(
        mesh=mesh,
        id=id,
        from_=keys.member,
        at=at_ms,
        ob=ob,
        n=n,
        to=to.member,
        fk=keys.current.key_id,
        tk=to.key_id,
        skip=body is None,
    )
    return _seal(keys.identity, DIRECT, header, body, shared_key(keys.current.private, to.key), os.urandom(NONCE_BYTES))


def seal_topic(
    keys: KeyPair,
    *,
    mesh: str,
    id: str,  # noqa: A002 - as above
    at_ms: int,
    ob: str,
    n: int,
    token: str,
    epoch: int,
    topic_key: bytes,
    body: Body,
) -> bytes:
    """Return an envelope for the readers of a topic. Raises `MalformedError` as `seal_direct` does."""
    header = TopicHeader(mesh=mesh, id=id, from_=keys.member, at=at_ms, ob=ob, n=n, topic=token, epoch=epoch)
    return _seal(keys.identity, TOPIC, header, body, topic_key, os.urandom(NONCE_BYTES))


def read_header(data: bytes) -> DirectHeader | TopicHeader:
    """Return the header without verifying anything but its form, to find which keys are needed.

    Believe nothing of it before `open_direct` or `open_topic` has returned. Raises `MalformedError`.
    """
    return _parse(data).header


def open_direct(
    data: bytes, keys: KeyPair, sender: SenderKey, *, mesh: str, subject_from: str, subject_to: str
) -> Envelope:
    """Return the envelope if it is from the member and for the member that its subject names, and for us.

    `sender` is asked only after the signature was verified. Raises `MalformedError`, `WrongMeshError`, `ForgedError`,
    `NotForUsError`, or `UnknownKeyError`.
    """
    parts = _parse(data)
    header = parts.header
    if not isinstance(header, DirectHeader):
        raise MalformedError("the envelope is one for a topic, and came as a direct one")
    _check_origin(header, mesh, subject_from)
    if header.to != subject_to:
        raise ForgedError("the envelope names a different recipient than its subject")
    if header.to != keys.member:
        raise NotForUsError("the envelope is for a different member")
    _verify(parts)
    if header.skip:
        return Envelope(kind="direct", header=header, body=None, skip=True)
    own = keys.find(header.tk)
    if own is None:
        raise UnknownKeyError("the envelope is sealed for a key of ours that we do not have (any more)")
    theirs = sender(header.from_, header.fk)
    if theirs is None:
        raise UnknownKeyError("the envelope is sealed with a key of the sender that we do not know (yet)")
    return Envelope(kind="direct", header=header, body=_opened(parts, shared_key(own.private, theirs)))


def open_topic(data: bytes, *, mesh: str, subject_from: str, subject_token: str, topic_key: bytes) -> Envelope:
    """Return the envelope if it is from the member and for the topic that its subject names.

    `topic_key` is the key of the topic in the epoch that `read_header` gives. Raises as `open_direct` does.
    """
    parts = _parse(data)
    header = parts.header
    if not isinstance(header, TopicHeader):
        raise MalformedError("the envelope is a direct one, and came on a topic")
    _check_origin(header, mesh, subject_from)
    if header.topic != subject_token:
        raise ForgedError("the envelope names a different topic than its subject")
    _verify(parts)
    return Envelope(kind="topic", header=header, body=_opened(parts, topic_key))


class _Parts(Struct, frozen=True):
    header: DirectHeader | TopicHeader
    header_bytes: bytes
    ciphertext: bytes
    signed: bytes
    signature: bytes


def _seal(
    key: SigningKey,
    kind: int,
    header: DirectHeader | TopicHeader,
    body: Body | None,
    secret: bytes,
    nonce: bytes,
) -> bytes:
    """Return the envelope. Only the test vectors choose a nonce: with one key, none may be used twice."""
    ciphertext = b""
    try:
        header_bytes = encoder.encode(header)
        body_bytes = b"" if body is None else encoder.encode(body)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise MalformedError(
            f"the message cannot be written as JSON: {type(error).__name__}", "Send text and JSON values only."
        ) from error
    parse_header(kind, header_bytes)  # a peer never sends what another would refuse
    if body is not None:
        parse_body(body_bytes)
        ciphertext = nonce + nacl.bindings.crypto_secretbox_easy(_digest(header_bytes) + body_bytes, nonce, secret)
    signed = _START.pack(MAGIC, kind, len(header_bytes)) + header_bytes + ciphertext
    if len(signed) + SIGNATURE_BYTES > LARGEST_ENVELOPE:
        raise MalformedError(
            f"the message is too large: its envelope has {len(signed) + SIGNATURE_BYTES} bytes and may have "
            f"{LARGEST_ENVELOPE}",
            "Send a shorter text, or share a file and send where it is.",
        )
    return signed + key.sign("envelope", signed)


def _parse(data: bytes) -> _Parts:
    """Take an envelope apart and check its form. Raises `MalformedError`."""
    if not _START.size + SIGNATURE_BYTES < len(data) <= LARGEST_ENVELOPE:
        raise MalformedError(f"an envelope does not have {len(data)} bytes")
    magic, kind, length = _START.unpack_from(data)
    if magic != MAGIC:
        raise MalformedError("the bytes are not an envelope of version 1")
    body_start, body_end = _START.size + length, len(data) - SIGNATURE_BYTES
    if length > LARGEST_HEADER or body_start > body_end:
        raise MalformedError("the header of the envelope does not have the length that it says")
    header_bytes = data[_START.size : body_start]
    header = parse_header(kind, header_bytes)
    ciphertext = data[body_start:body_end]
    if isinstance(header, DirectHeader) and header.skip:
        if ciphertext:
            raise MalformedError("an envelope that skips a number has a body")
    elif len(ciphertext) < NONCE_BYTES + _BOX_BYTES + _DIGEST_BYTES:
        raise MalformedError("the body of the envelope is too short")
    return _Parts(header, header_bytes, ciphertext, data[:body_end], data[body_end:])


def _check_origin(header: DirectHeader | TopicHeader, mesh: str, subject_from: str) -> None:
    if header.mesh != mesh:
        raise WrongMeshError("the envelope was written for a different mesh")
    if header.from_ != subject_from:
        raise ForgedError("the envelope names a different sender than its subject")


def _verify(parts: _Parts) -> None:
    verify(decode_public(parts.header.from_, "U"), "envelope", parts.signed, parts.signature)


def _opened(parts: _Parts, secret: bytes) -> Body:
    """Return the body. Raises `ForgedError` if the box does not open or was made for a different header."""
    nonce, box = parts.ciphertext[:NONCE_BYTES], parts.ciphertext[NONCE_BYTES:]
    try:
        plaintext = nacl.bindings.crypto_secretbox_open_easy(box, nonce, secret)
    except (CryptoError, ValueError):
        raise ForgedError("the body of the envelope cannot be opened with the keys that it names") from None
    # A member may certify the encryption key of another as its own. It cannot make a box with it, and a box of the
    # other that it copies into an envelope of its own does not fit the header.
    if not hmac.compare_digest(plaintext[:_DIGEST_BYTES], _digest(parts.header_bytes)):
        raise ForgedError("the body was sealed for a different envelope")
    return parse_body(plaintext[_DIGEST_BYTES:])


def _digest(header: bytes) -> bytes:
    return hashlib.blake2b(header, digest_size=_DIGEST_BYTES, person=_HEADER_DIGEST).digest()
