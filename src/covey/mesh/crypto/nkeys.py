"""Ed25519 keys as nkey texts, and signatures that hold in one domain only."""

from __future__ import annotations

import base64
import binascii
import os
import re
from functools import lru_cache
from typing import Final, Literal, get_args

import nacl.bindings
from nacl.exceptions import CryptoError

from covey.mesh.crypto.errors import ForgedError, MalformedError

Prefix = Literal["O", "A", "U"]

KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
PUBLIC_CHARACTERS: Final = 56
SEED_CHARACTERS: Final = 58
MESH_ID_CHARACTERS: Final = 52

# Everything that Covey signs begins with this, then the domain and a zero byte.
SIGNED_PREFIX: Final = b"covey-mesh/1/"
# No domain of any later version begins differently, so a nonce that begins so is never signed.
_RESERVED: Final = b"covey-mesh/"
DOMAINS: Final = frozenset(
    ("certificate", "profile", "presence", "receipt", "member", "mesh", "grant", "join", "ask", "envelope", "shared")
)
_SIGNED_PREFIXES: Final = {domain: SIGNED_PREFIX + domain.encode() + b"\0" for domain in DOMAINS}

_PREFIX_BYTES: Final[dict[str, int]] = {"O": 14 << 3, "A": 0, "U": 20 << 3}
_PREFIX_OF: Final[dict[int, Prefix]] = {_PREFIX_BYTES[prefix]: prefix for prefix in get_args(Prefix)}
_SEED_BYTE: Final = 18 << 3
_TOP_BITS: Final = 0b11111000
_LOW_BITS: Final = 0b00000111
_BASE32: Final = re.compile("[A-Z2-7]+")
_NONCE: Final = re.compile(rb"[A-Za-z0-9+/_=-]{1,128}")


def encode_public(prefix: Prefix, key: bytes) -> str:
    """Return the nkey text of a public key: 56 characters that begin with the prefix."""
    _check_length(key)
    return _with_checksum(bytes((_PREFIX_BYTES[prefix],)) + key)


@lru_cache(maxsize=16384)
def decode_public(text: str, prefix: Prefix) -> bytes:
    """Return the public key of an nkey text. Raises `MalformedError` for anything but the one text of such a key."""
    data = _without_checksum(text, PUBLIC_CHARACTERS)
    if data[0] != _PREFIX_BYTES[prefix]:
        raise MalformedError(f"a public key that begins with {prefix} is needed, and this nkey has a different kind")
    return data[1:]


def encode_seed(prefix: Prefix, seed: bytes) -> str:
    """Return the nkey text of a seed: 58 characters that begin with S and the prefix. It is a secret."""
    _check_length(seed)
    kind = _PREFIX_BYTES[prefix]
    return _with_checksum(bytes((_SEED_BYTE | kind >> 5, (kind & 0b11111) << 3)) + seed)


def decode_seed(text: str) -> tuple[Prefix, bytes]:
    """Return the prefix and the 32 bytes of a seed. Raises `MalformedError`, whose message never holds the seed."""
    data = _without_checksum(text, SEED_CHARACTERS)
    prefix = _PREFIX_OF.get((data[0] & _LOW_BITS) << 5 | data[1] >> 3)
    if data[0] & _TOP_BITS != _SEED_BYTE or data[1] & _LOW_BITS or prefix is None:
        raise MalformedError("the text is not the seed of an operator, an account or a user")
    return prefix, data[2:]


def encode_mesh_id(authority: bytes) -> str:
    """Return the id of the mesh whose authority has this public key: 52 characters of base32, lower case."""
    _check_length(authority)
    return _base32(authority).lower()


@lru_cache(maxsize=1024)
def decode_mesh_id(mesh: str) -> bytes:
    """Return the public key of the authority of a mesh. Raises `MalformedError`."""
    if len(mesh) != MESH_ID_CHARACTERS or mesh != mesh.lower():
        raise MalformedError("the text is not the id of a mesh")
    return _unbase32(mesh.upper())


class SigningKey:
    """An ed25519 key with the prefix that says what it identifies. Its `repr` shows the public half only."""

    __slots__ = ("_secret", "_seed", "prefix", "public", "public_bytes")

    def __init__(self, prefix: Prefix, seed: bytes) -> None:
        _check_length(seed)
        self.prefix: Prefix = prefix
        self._seed = seed
        self.public_bytes, self._secret = nacl.bindings.crypto_sign_seed_keypair(seed)
        self.public = encode_public(prefix, self.public_bytes)

    @classmethod
    def generate(cls, prefix: Prefix) -> SigningKey:
        """Return a new random key."""
        return cls(prefix, os.urandom(KEY_BYTES))

    @classmethod
    def from_seed(cls, text: str) -> SigningKey:
        """Return the key of a seed's nkey text. Raises `MalformedError`."""
        return cls(*decode_seed(text))

    @property
    def seed(self) -> str:
        """The nkey text of the seed: a secret."""
        return encode_seed(self.prefix, self._seed)

    @property
    def seed_bytes(self) -> bytes:
        """The 32 bytes of the seed: a secret."""
        return self._seed

    def sign(self, domain: str, data: bytes) -> bytes:
        """Return the signature of the data in a domain: 64 bytes. Raises `ValueError` for an unknown domain."""
        return nacl.bindings.crypto_sign(_prefix_of(domain) + data, self._secret)[:SIGNATURE_BYTES]

    def sign_raw(self, data: bytes) -> bytes:
        """Return the signature of bytes that a different protocol defines: a JWT or a nonce of NATS.

        Raises `ForgedError` for bytes that begin as a signed text of Covey: whoever chose them, a hostile broker for
        example, would get a valid record or envelope.
        """
        if data.startswith(_RESERVED):
            raise ForgedError("a signature of Covey was asked for under the name of another protocol")
        return nacl.bindings.crypto_sign(data, self._secret)[:SIGNATURE_BYTES]

    def sign_nonce(self, nonce: bytes) -> bytes:
        """Return the signature of the nonce with which a NATS server asks who connects.

        The server chooses it, so everything but a short base64 text raises `ForgedError`: neither a record nor a JWT
        (which has dots) can be signed in its place.
        """
        if _NONCE.fullmatch(nonce) is None:
            raise ForgedError("the broker's nonce is not a short base64 text, so it was not signed")
        return self.sign_raw(nonce)

    def __repr__(self) -> str:
        return f"SigningKey({self.public})"


def verify(public: bytes, domain: str, data: bytes, signature: bytes) -> None:
    """Check a signature over data in a domain. Raises `ForgedError` if it is not valid."""
    # A cached VerifyKey would hold these 32 bytes and nothing else: libsodium expands the point at each call.
    signed = signature + _prefix_of(domain) + data
    if len(signature) != SIGNATURE_BYTES or len(public) != KEY_BYTES:
        raise ForgedError("the signature is not valid")
    try:
        nacl.bindings.crypto_sign_open(signed, public)
    except CryptoError:
        raise ForgedError("the signature is not valid") from None


def _prefix_of(domain: str) -> bytes:
    try:
        return _SIGNED_PREFIXES[domain]
    except KeyError:
        raise ValueError(f"{domain!r} is not a domain of signatures") from None


def _check_length(key: bytes) -> None:
    if len(key) != KEY_BYTES:
        raise MalformedError(f"a key has {KEY_BYTES} bytes, not {len(key)}")


def _with_checksum(data: bytes) -> str:
    return _base32(data + binascii.crc_hqx(data, 0).to_bytes(2, "little"))


def _without_checksum(text: str, length: int) -> bytes:
    if len(text) != length:
        raise MalformedError(f"an nkey of this kind has {length} characters, not {len(text)}")
    data = _unbase32(text)
    if binascii.crc_hqx(data[:-2], 0).to_bytes(2, "little") != data[-2:]:
        raise MalformedError("the checksum of the nkey is wrong: a character was changed or lost")
    return data[:-2]


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=")


def _unbase32(text: str) -> bytes:
    """Decode base32 without padding; raises `MalformedError`, also if the unused bits at the end are not zero."""
    if _BASE32.fullmatch(text) is None:
        raise MalformedError("the text is not base32")
    data = base64.b32decode(text + "=" * (-len(text) % 8))
    if _base32(data) != text:
        raise MalformedError("the text is not the base32 of any bytes")
    return data
