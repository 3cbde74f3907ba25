"""Bytes sealed with a passphrase, as a block of text that can be pasted or printed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import struct
import textwrap
import unicodedata
from typing import Final, NamedTuple

import nacl.bindings
from nacl import pwhash
from nacl.exceptions import CryptoError

from covey.mesh.crypto.errors import MalformedError, PassphraseError

HEADER: Final = "covey-mesh-keys/"
VERSION: Final = "1"
SHORTEST_PASSPHRASE: Final = 8
LARGEST_TEXT: Final = 4 * 1024 * 1024
_PARAMETERS: Final = struct.Struct(">II16s24s")  # operations, memory in KiB, salt, nonce
_CHECKSUM_BYTES: Final = 8
_COLUMNS: Final = 76
_KIB: Final = 1024
# An import runs what the text asks for, so it has a bound: 1 GiB, a few seconds.
_MOST_OPERATIONS: Final = 16
_MOST_MEMORY: Final = 1024 * 1024
_LEAST_MEMORY: Final = 8


class Cost(NamedTuple):
    """How hard each guess of a passphrase is for argon2id."""

    operations: int
    memory_kib: int


STANDARD_COST: Final = Cost(pwhash.argon2id.OPSLIMIT_MODERATE, pwhash.argon2id.MEMLIMIT_MODERATE // _KIB)


def seal_text(data: bytes, passphrase: str, cost: Cost = STANDARD_COST) -> str:
    """Return the data sealed with the passphrase: a header line and lines of base64.

    Raises `PassphraseError` for a passphrase of fewer than 8 characters: whoever has the text can guess for ever.
    """
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise PassphraseError(
            f"the passphrase has {len(passphrase)} characters and needs {SHORTEST_PASSPHRASE} or more",
            "Take several words: whoever gets hold of the exported text can try passphrases for ever.",
        )
    salt, nonce = os.urandom(pwhash.argon2id.SALTBYTES), os.urandom(24)
    parameters = _PARAMETERS.pack(cost.operations, cost.memory_kib, salt, nonce)
    box = nacl.bindings.crypto_secretbox_easy(data, nonce, _key(passphrase, salt, cost))
    block = parameters + box
    lines = textwrap.wrap(base64.b64encode(block + _checksum(block)).decode(), _COLUMNS)
    return "\n".join([HEADER + VERSION, *lines]) + "\n"


def open_text(text: str, passphrase: str) -> bytes:
    """Return what was sealed; lines before the header, empty lines and white space do not matter.

    Raises `MalformedError` if the text is not an export, is of an unknown version, or was damaged, and
    `PassphraseError` if it is whole and the passphrase is wrong.
    """
    block = _block_of(text)
    operations, memory_kib, salt, nonce = _PARAMETERS.unpack_from(block)
    if not 1 <= operations <= _MOST_OPERATIONS or not _LEAST_MEMORY <= memory_kib <= _MOST_MEMORY:
        raise MalformedError(
            "the exported keys ask for more work than any version of Covey writes",
            "Import a text that `covey mesh keys export` printed.",
        )
    key = _key(passphrase, salt, Cost(operations, memory_kib))
    try:
        return nacl.bindings.crypto_secretbox_open_easy(block[_PARAMETERS.size :], nonce, key)
    except CryptoError:
        raise PassphraseError("the passphrase is wrong; the exported keys are not damaged") from None


def _block_of(text: str) -> bytes:
    """Return the parameters and the box. Raises `MalformedError`."""
    lines = [line.strip() for line in text[: LARGEST_TEXT + 1].splitlines()]
    start = next((number for number, line in enumerate(lines) if line.startswith(HEADER)), None)
    if start is None or len(text) > LARGEST_TEXT:
        raise MalformedError(
            "the text does not hold exported keys",
            f"Give the whole text, from the line {HEADER}{VERSION} on, that `covey mesh keys export` printed.",
        )
    if lines[start] != HEADER + VERSION:
        raise MalformedError(
            "the keys were exported by a version of Covey that this one does not know",
            "Import them with that version or a newer one.",
        )
    damaged = MalformedError(
        "the exported keys are damaged: a part is missing or was changed",
        "Copy the whole text again; the passphrase was not tried.",
    )
    letters = "".join(lines[start + 1 :])
    try:
        data = base64.b64decode(letters, validate=True)
    except (binascii.Error, ValueError):
        raise damaged from None
    if base64.b64encode(data).decode() != letters:  # unused bits at the end
        raise damaged
    block, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if len(block) < _PARAMETERS.size + 16 or _checksum(block) != checksum:
        raise damaged
    return block


def _checksum(block: bytes) -> bytes:
    """Return what tells damage from a wrong passphrase; against a person who changes the text only the box helps."""
    return hashlib.blake2b((HEADER + VERSION).encode() + b"\n" + block, digest_size=_CHECKSUM_BYTES).digest()


def _key(passphrase: str, salt: bytes, cost: Cost) -> bytes:
    # A keyboard of one system may compose an accented letter that another's writes as two characters.
    words = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    try:
        return pwhash.argon2id.kdf(32, words, salt, opslimit=cost.operations, memlimit=cost.memory_kib * _KIB)
    except (CryptoError, MemoryError) as error:
        raise PassphraseError(
            f"the key could not be derived from the passphrase, which takes {cost.memory_kib // _KIB} MiB of memory",
            "Free some memory and try again.",
        ) from error
