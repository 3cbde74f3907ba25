"""Keys of data that all members share: one for each epoch, and those of former epochs for members who joined later.

The key of messages to a topic is not given to those who join later; the key of shared data is, so that they can read
what was written before. Both are derived from the secret of the epoch, and neither tells the other.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

import msgspec
import nacl.bindings
from nacl.exceptions import CryptoError

from covey.mesh.crypto.envelope import NONCE_BYTES
from covey.mesh.crypto.errors import ForgedError, MalformedError, WrongMeshError
from covey.mesh.crypto.nkeys import KEY_BYTES, SigningKey, decode_mesh_id, encode_mesh_id
from covey.mesh.crypto.records import SharedKeysRecord, open_record, sign_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.mesh.crypto.topic_keys import EpochSecret

_SHARED_KEY: Final = b"covey-sharedkey1"
_FORMER_KEYS: Final = b"covey-formerkey1"
_PRIVATE_KEY: Final = b"covey-privatkey1"
_DOCUMENT_KEY: Final = b"covey-documents1"


def shared_key(secret: EpochSecret) -> bytes:
    """Return the key of what all members share in an epoch: 32 bytes."""
    return hashlib.blake2b(key=secret.secret, person=_SHARED_KEY, digest_size=KEY_BYTES).digest()


def private_key(identity: SigningKey) -> bytes:
    """Return the key of what a member keeps in the mesh for itself, on all its hosts: 32 bytes."""
    return hashlib.blake2b(identity.seed_bytes, person=_PRIVATE_KEY, digest_size=KEY_BYTES).digest()


def document_key(key: bytes, token: str) -> bytes:
    """Return the key of one document, from the key of an epoch or a member: 32 bytes."""
    return hashlib.blake2b(token.encode(), key=key, person=_DOCUMENT_KEY, digest_size=KEY_BYTES).digest()


def seal_former(authority: SigningKey, newest: EpochSecret, former: Sequence[EpochSecret]) -> bytes:
    """Return the record that gives the members of the newest epoch the shared keys of former ones."""
    keys = {str(one.epoch): shared_key(one) for one in former if one.epoch != newest.epoch}
    nonce = os.urandom(NONCE_BYTES)
    box = nonce + nacl.bindings.crypto_secretbox_easy(msgspec.json.encode(keys), nonce, _box_key(shared_key(newest)))
    record = SharedKeysRecord(mesh=encode_mesh_id(authority.public_bytes), epoch=newest.epoch, box=box)
    return sign_record(authority, "shared", record)


def read_former(wire: bytes, *, mesh: str) -> SharedKeysRecord:
    """Return the record if the authority of the mesh has signed it. Raises `ForgedError` or `WrongMeshError`."""
    record = open_record(SharedKeysRecord, decode_mesh_id(mesh), "shared", wire)
    if record.mesh != mesh:
        raise WrongMeshError("the shared keys were written for a different mesh")
    return record


def open_former(record: SharedKeysRecord, key: bytes) -> Mapping[int, bytes]:
    """Return the shared keys of former epochs, by epoch; `key` is the shared key of the record's epoch.

    Raises `ForgedError` or `MalformedError`.
    """
    nonce, box = record.box[:NONCE_BYTES], record.box[NONCE_BYTES:]
    try:
        data = nacl.bindings.crypto_secretbox_open_easy(box, nonce, _box_key(key))
    except (CryptoError, ValueError):
        raise ForgedError("the shared keys cannot be opened with the key of their epoch") from None
    try:
        found = msgspec.json.decode(data, type=dict[int, bytes])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise MalformedError("the record does not hold shared keys") from None
    if any(len(one) != KEY_BYTES for one in found.values()):
        raise MalformedError("a shared key does not have its length")
    return found


def _box_key(key: bytes) -> bytes:
    return hashlib.blake2b(key=key, person=_FORMER_KEYS, digest_size=KEY_BYTES).digest()
