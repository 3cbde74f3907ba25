"""Chunks: the pieces of a file as they are stored at the broker, each sealed with the key of its content.

The seal binds a chunk to its content and its number: a chunk in the place of another one cannot be opened.
"""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Final

import nacl.bindings
from nacl.exceptions import CryptoError

from covey.mesh.broker.streams import CHUNK_BYTES
from covey.mesh.crypto.errors import ForgedError

if TYPE_CHECKING:
    from collections.abc import Callable

STREAM: Final = "FILES"
NONCE_BYTES: Final = nacl.bindings.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
KEY_BYTES: Final = nacl.bindings.crypto_aead_xchacha20poly1305_ietf_KEYBYTES
_DOMAIN: Final = "covey-file-chunk1"
_ID_BYTES: Final = 15


def new_id(random: Callable[[int], bytes] = os.urandom) -> str:
    """Return a new id of a content: 24 characters of base32, lower case."""
    return base64.b32encode(random(_ID_BYTES)).decode().lower()


def count_of(size: int) -> int:
    """Return how many chunks a file of this size has."""
    return -(-size // CHUNK_BYTES)


def length_of(size: int, number: int) -> int:
    """Return how many bytes of a file of this size are in the chunk with this number."""
    return min(CHUNK_BYTES, size - number * CHUNK_BYTES)


def chunk_subject(blob: str, number: int) -> str:
    """Return the subject of a chunk. `blob` is `<member>.<id>`; only that member may publish under it."""
    return f"f.{blob}.{number}"


def seal_chunk(key: bytes, blob: str, number: int, data: bytes) -> bytes:
    """Return a chunk as it is stored: nonce and box. Sealing twice gives different bytes."""
    nonce = os.urandom(NONCE_BYTES)
    box = nacl.bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(data, _bound(blob, number), nonce, key)
    return nonce + box


def open_chunk(key: bytes, blob: str, number: int, wire: bytes) -> bytes:
    """Return the bytes of a chunk. Raises `ForgedError` if it was not sealed with this key for this place."""
    nonce, box = wire[:NONCE_BYTES], wire[NONCE_BYTES:]
    try:
        return nacl.bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(box, _bound(blob, number), nonce, key)
    except (CryptoError, ValueError, TypeError):
        raise ForgedError(f"chunk {number} of the file was damaged or replaced at the broker") from None


def _bound(blob: str, number: int) -> bytes:
    return f"{_DOMAIN}\0{blob}\0{number}".encode()
