"""A shared file as its document tells it: where its content is, and for whom the key of the content is sealed.

What is shared with everybody is readable in the document, which is sealed for the members of the mesh. What is shared
with some is sealed for them and its author alone; others see who, for whom and how many chunks, but no name.
"""

from __future__ import annotations

import base64
import hashlib
import os
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import nacl.bindings
from msgspec import Meta, Struct
from nacl.exceptions import CryptoError

from covey.mesh.crypto.errors import ForgedError, MalformedError, UnknownKeyError
from covey.mesh.crypto.identity import shared_key
from covey.mesh.services.files.chunks import KEY_BYTES, count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.mesh.crypto.identity import KeyPair, PublicKeys
    from covey.mesh.directory.directory import Directory

MOST_RECIPIENTS: Final = 256
LONGEST_MESSAGE: Final = 16 * 1024
MOST_CHUNKS: Final = 1 << 22
_NONCE: Final = nacl.bindings.crypto_secretbox_NONCEBYTES
_SEAL_KEY: Final = b"covey-file-key-1"
_ID: Final = b"covey-file-id--1"
_ID_BYTES: Final = 10

# A document comes from a member who may be hostile: every value has a bound.
_Key = Annotated[str, Meta(max_length=64)]
_Blob = Annotated[str, Meta(pattern=r"^[A-Z0-9]{56}\.[a-z2-7]{24}$")]


class Content(Struct, frozen=True, kw_only=True):
    """What only those may know for whom the file is meant. Its `repr` shows no secret."""

    name: Annotated[str, Meta(max_length=1024)]
    size: Annotated[int, Meta(ge=0, lt=2**52)]
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    key: Annotated[bytes, Meta(min_length=KEY_BYTES, max_length=KEY_BYTES)]
    message: Annotated[str, Meta(max_length=LONGEST_MESSAGE)] = ""

    def __repr__(self) -> str:
        return f"Content({self.name!r}, {self.size})"


class KeyBox(Struct, frozen=True, kw_only=True):
    """The key of the sealed content, for one member: from the author's encryption key `fk` to the member's `tk`."""

    member: _Key
    fk: _Key
    tk: _Key
    box: Annotated[bytes, Meta(max_length=256)]


class Share(Struct, frozen=True, kw_only=True):
    """The value of a file's document."""

    blob: _Blob
    chunks: Annotated[int, Meta(ge=0, le=MOST_CHUNKS)]
    expires_at: float | None
    """By the broker's clock; None for one that is persistent."""
    to: Annotated[list[_Key], Meta(max_length=MOST_RECIPIENTS)] = []
    """Members for whom it is meant; none: all."""
    content: Content | None = None
    sealed: bytes = b""
    keys: Annotated[list[KeyBox], Meta(max_length=MOST_RECIPIENTS + 1)] = []

    def as_value(self) -> dict[str, Any]:
        """Return the value of the document."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    @classmethod
    def from_value(cls, value: dict[str, Any] | None) -> Share | None:
        """Return what a document holds; None if it was deleted or is not one of a file."""
        if value is None:
            return None
        try:
            return msgspec.convert(value, cls)
        except (msgspec.ValidationError, ValueError):
            return None


def file_id(key: str) -> str:
    """Return the id of a file, from the key of its document: 16 characters. Nobody finds another key with this id."""
    digest = hashlib.blake2b(key.encode(), person=_ID, digest_size=_ID_BYTES).digest()
    return base64.b32encode(digest).decode().lower()


def share_for_all(blob: str, content: Content, expires_at: float | None) -> Share:
    """Return the share of a content that all members may read."""
    return Share(blob=blob, chunks=count_of(content.size), expires_at=expires_at, content=content)


def share_for(blob: str, content: Content, expires_at: float | None, keys: KeyPair, to: Sequence[PublicKeys]) -> Share:
    """Return the share of a content that these members and this one may read."""
    secret = os.urandom(KEY_BYTES)
    readers = {one.member: one for one in (*to, keys.public_keys)}
    boxes = [
        KeyBox(
            member=one.member,
            fk=keys.current.key_id,
            tk=one.key_id,
            box=_sealed(secret, _box_key(shared_key(keys.current.private, one.key), blob)),
        )
        for one in readers.values()
    ]
    return Share(
        blob=blob,
        chunks=count_of(content.size),
        expires_at=expires_at,
        to=[one.member for one in to],
        sealed=_sealed(msgspec.json.encode(content), secret),
        keys=boxes,
    )


def read_content(share: Share, author: str, keys: KeyPair, directory: Directory) -> Content | None:
    """Return the content of a share; None if it is sealed for others.

    Raises `UnknownKeyError` if a key is needed that is not known (any more), `ForgedError` or `MalformedError`.
    """
    if share.content is not None:
        return _checked(share, share.content)
    own = next((one for one in share.keys if one.member == keys.member), None)
    if own is None:
        return None
    ours = keys.find(own.tk)
    mine = author == keys.member
    former = keys.find(own.fk) if mine else None
    theirs = former.public if former is not None else directory.key_of(author, own.fk)
    if ours is None or theirs is None:
        raise UnknownKeyError("the file was sealed with keys that are not known here (any more)")
    secret = _opened(own.box, _box_key(shared_key(ours.private, theirs), share.blob))
    if len(secret) != KEY_BYTES:
        raise MalformedError("the key of the file does not have its length")
    try:
        content = msgspec.json.decode(_opened(share.sealed, secret), type=Content)
    except (msgspec.MsgspecError, ValueError):
        raise MalformedError("the sealed part does not describe a file") from None
    return _checked(share, content)


def _checked(share: Share, content: Content) -> Content:
    if count_of(content.size) != share.chunks:
        raise MalformedError("the file's size and the number of its chunks do not belong together")
    return content


def _box_key(key: bytes, blob: str) -> bytes:
    return hashlib.blake2b(blob.encode(), key=key, person=_SEAL_KEY, digest_size=KEY_BYTES).digest()


def _sealed(data: bytes, key: bytes) -> bytes:
    nonce = os.urandom(_NONCE)
    return nonce + nacl.bindings.crypto_secretbox_easy(data, nonce, key)


def _opened(box: bytes, key: bytes) -> bytes:
    try:
        return nacl.bindings.crypto_secretbox_open_easy(box[_NONCE:], box[:_NONCE], key)
    except (CryptoError, ValueError):
        raise ForgedError("the key of the file cannot be opened with the keys that it names") from None
