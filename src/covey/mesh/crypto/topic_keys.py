"""Keys of topics: an epoch has a secret from which the key of every topic is derived; the authority grants it."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from typing import Annotated, Final

import msgspec
import nacl.bindings
from msgspec import Meta, Struct
from nacl.exceptions import CryptoError

from covey.mesh.crypto.envelope import NONCE_BYTES
from covey.mesh.crypto.errors import ForgedError, MalformedError, NotForUsError, UnknownKeyError, WrongMeshError
from covey.mesh.crypto.identity import KeyPair, PublicKeys, shared_key
from covey.mesh.crypto.nkeys import KEY_BYTES, SigningKey, decode_mesh_id, encode_mesh_id
from covey.mesh.crypto.records import GrantRecord, open_record, sign_record

LONGEST_TOPIC: Final = 256
_TOKEN_BYTES: Final = 15
_TOPIC_KEY: Final = b"covey-topic-key1"

GranterKey = Callable[[str], bytes | None]
"""Returns the x25519 key of the authority by its key id, from a certificate that was verified; None if unknown."""

_Secret = Annotated[bytes, Meta(min_length=KEY_BYTES, max_length=KEY_BYTES)]


class EpochSecret(Struct, frozen=True, kw_only=True):
    """What the members of an epoch share. Its `repr` shows no secret."""

    epoch: Annotated[int, Meta(ge=1, lt=2**53)]
    secret: _Secret
    topic_name_key: _Secret

    @classmethod
    def first(cls) -> EpochSecret:
        """Return the secret of epoch 1 of a new mesh."""
        return cls(epoch=1, secret=os.urandom(KEY_BYTES), topic_name_key=os.urandom(KEY_BYTES))

    def following(self) -> EpochSecret:
        """Return the next epoch: a new secret; topics keep their tokens, on which streams and numbers rest."""
        return EpochSecret(epoch=self.epoch + 1, secret=os.urandom(KEY_BYTES), topic_name_key=self.topic_name_key)

    def token(self, name: str) -> str:
        """Return the token of a topic, as `topic_token` does."""
        return topic_token(name, self.topic_name_key)

    def key(self, token: str) -> bytes:
        """Return the key of a topic in this epoch, as `topic_key` does."""
        return topic_key(self, token)

    def __repr__(self) -> str:
        return f"EpochSecret(epoch={self.epoch})"


def topic_token(name: str, key: bytes) -> str:
    """Return the token of a topic: 24 characters of base32, lower case, from which the broker cannot tell its name.

    Raises `MalformedError` for a name that is empty or has more than 256 bytes.
    """
    try:
        data = name.encode()
    except UnicodeEncodeError:
        raise MalformedError("the name of the topic is not valid Unicode", "Choose a different name.") from None
    if not 1 <= len(data) <= LONGEST_TOPIC:
        raise MalformedError(
            f"the name of the topic has {len(data)} bytes and may have 1 to {LONGEST_TOPIC}", "Choose a shorter name."
        )
    return base64.b32encode(hashlib.blake2b(data, key=key, digest_size=_TOKEN_BYTES).digest()).decode().lower()


def topic_key(epoch_secret: EpochSecret, token: str) -> bytes:
    """Return the key of a topic in this epoch: 32 bytes."""
    return hashlib.blake2b(token.encode(), key=epoch_secret.secret, person=_TOPIC_KEY, digest_size=KEY_BYTES).digest()


def seal_grant(authority: SigningKey, granter: KeyPair, to: PublicKeys, secret: EpochSecret) -> bytes:
    """Return the grant of an epoch to a member: a record that the authority signed.

    `granter` is the key pair of the authority's own member, whose certificate the mesh record holds.
    """
    return _seal_grant(authority, granter, to, secret, os.urandom(NONCE_BYTES))


def open_grant(wire: bytes, keys: KeyPair, granter: GranterKey, *, mesh: str) -> EpochSecret:
    """Return the secret in a grant for us, signed by the authority of the mesh.

    Raises `ForgedError`, `MalformedError`, `WrongMeshError`, `NotForUsError` or `UnknownKeyError`.
    """
    record = open_record(GrantRecord, decode_mesh_id(mesh), "grant", wire)
    if record.mesh != mesh:
        raise WrongMeshError("the grant was written for a different mesh")
    if record.member != keys.member:
        raise NotForUsError("the grant is for a different member")
    own = keys.find(record.tk)
    if own is None:
        raise UnknownKeyError("the grant is sealed for a key of ours that we do not have (any more)")
    theirs = granter(record.fk)
    if theirs is None:
        raise UnknownKeyError("the grant is sealed with a key of the authority that we do not know (yet)")
    return _opened(record, shared_key(own.private, theirs))


def _seal_grant(authority: SigningKey, granter: KeyPair, to: PublicKeys, secret: EpochSecret, nonce: bytes) -> bytes:
    """Return the grant. Only the test vectors choose a nonce."""
    key = shared_key(granter.current.private, to.key)
    record = GrantRecord(
        mesh=encode_mesh_id(authority.public_bytes),
        member=to.member,
        epoch=secret.epoch,
        fk=granter.current.key_id,
        tk=to.key_id,
        box=nonce + nacl.bindings.crypto_secretbox_easy(msgspec.json.encode(secret), nonce, key),
    )
    return sign_record(authority, "grant", record)


def _opened(record: GrantRecord, key: bytes) -> EpochSecret:
    try:
        data = nacl.bindings.crypto_secretbox_open_easy(record.box[NONCE_BYTES:], record.box[:NONCE_BYTES], key)
    except (CryptoError, ValueError):
        raise ForgedError("the grant cannot be opened with the keys that it names") from None
    try:
        secret = msgspec.json.decode(data, type=EpochSecret)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise MalformedError("the grant does not hold the secret of an epoch") from None
    if secret.epoch != record.epoch:
        raise ForgedError("the grant holds the secret of a different epoch than it says")
    return secret
