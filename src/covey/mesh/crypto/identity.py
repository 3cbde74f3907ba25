"""Who a member is: an ed25519 identity, and the x25519 keys that it certifies."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import lru_cache
from typing import Any, Final

import msgspec
import nacl.bindings
from msgspec import Struct
from nacl.exceptions import CryptoError

from covey.mesh.crypto import passphrase as passphrases
from covey.mesh.crypto.errors import ForgedError, MalformedError, MeshCryptoError
from covey.mesh.crypto.nkeys import KEY_BYTES, SigningKey, decode_public
from covey.mesh.crypto.records import Key, Number, Seconds, open_record, sign_record
from covey.mesh.crypto.secret_file import read_secret, write_secret

# Streams hold messages for 30 days and outboxes for 7; a key that was replaced longer ago has nothing left to open.
RETIRED_KEY_LIFE_S: Final = 90 * 24 * 3600.0
_DERIVED_KEY: Final = b"covey-x25519-key"
_KEY_ID_BYTES: Final = 8
_FILE_VERSION: Final = 1
_ANY_SCALAR: Final = b"\1" * KEY_BYTES


class Certificate(Struct, frozen=True, kw_only=True):
    """That an x25519 key belongs to a member: domain `certificate`, signed by the member. A higher number is newer."""

    member: Key
    key: bytes
    number: Number
    at: Seconds


class PublicKeys(Struct, frozen=True, kw_only=True):
    """What a sender needs to know of a recipient."""

    member: str
    key_id: str
    key: bytes
    number: int = 0

    @classmethod
    def from_certificate(cls, wire: bytes, member: str) -> PublicKeys:
        """Return the keys in a certificate that this member signed. Raises `ForgedError` or `MalformedError`."""
        certificate = open_record(Certificate, decode_public(member, "U"), "certificate", wire)
        if certificate.member != member:
            raise ForgedError("the certificate names a different member than the one that signed it")
        check_encryption_key(certificate.key)
        return cls(member=member, key_id=key_id_of(certificate.key), key=certificate.key, number=certificate.number)


class EncryptionKey(Struct, frozen=True, kw_only=True):
    """An x25519 key and its certificate as signed bytes. Its `repr` shows no secret."""

    private: bytes
    public: bytes
    key_id: str
    number: int
    at: float
    certificate: bytes

    def __repr__(self) -> str:
        return f"EncryptionKey({self.key_id}, number={self.number})"


class KeyPair:
    """The secret keys of a member. A value: `rotated` returns another. Its `repr` shows no secret."""

    __slots__ = ("_by_id", "encryption", "identity")

    def __init__(self, identity: SigningKey, encryption: tuple[EncryptionKey, ...]) -> None:
        if identity.prefix != "U" or not encryption:
            raise MalformedError("a member has the key of a user and at least one encryption key")
        self.identity = identity
        self.encryption = encryption
        self._by_id = {key.key_id: key for key in encryption}

    @classmethod
    def generate(cls, now: float) -> KeyPair:
        """Return the keys of a new member."""
        return cls.from_identity(SigningKey.generate("U"), now)

    @classmethod
    def from_identity(cls, identity: SigningKey, now: float) -> KeyPair:
        """Return the identity with its first encryption key, which is derived from the seed."""
        private = hashlib.blake2b(identity.seed_bytes, digest_size=KEY_BYTES, person=_DERIVED_KEY).digest()
        return cls(identity, (_certified(identity, private, 1, now),))

    @property
    def member(self) -> str:
        """The member: the nkey text of the identity."""
        return self.identity.public

    @property
    def current(self) -> EncryptionKey:
        """The newest encryption key."""
        return self.encryption[0]

    @property
    def certificate(self) -> bytes:
        """The signed certificate of the newest encryption key."""
        return self.current.certificate

    @property
    def public_keys(self) -> PublicKeys:
        """What others need in order to write to this member."""
        now = self.current
        return PublicKeys(member=self.member, key_id=now.key_id, key=now.public, number=now.number)

    def find(self, key_id: str) -> EncryptionKey | None:
        """Return the encryption key with this id; None if it never was ours or has been dropped."""
        return self._by_id.get(key_id)

    def rotated(self, now: float) -> KeyPair:
        """Return the same identity with a new random encryption key in front.

        The present key is kept to open what is under way. Keys that were replaced longer ago than
        `RETIRED_KEY_LIFE_S` are dropped: whoever steals the file later cannot open what they protected.
        """
        new = _certified(self.identity, os.urandom(KEY_BYTES), self.current.number + 1, now)
        kept = [new, self.current]
        for newer, key in zip(self.encryption, self.encryption[1:], strict=False):
            if newer.at > now - RETIRED_KEY_LIFE_S:
                kept.append(key)
        return KeyPair(self.identity, tuple(kept))

    def to_json(self) -> bytes:
        """Return the keys as the key file holds them: secrets."""
        stored = _Stored(
            version=_FILE_VERSION,
            seed=self.identity.seed,
            encryption=[_StoredKey(private=key.private, certificate=key.certificate) for key in self.encryption],
        )
        return msgspec.json.format(msgspec.json.encode(stored), indent=2) + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> KeyPair:
        """Return the keys of a key file's content. Raises `MalformedError` if they are damaged or do not fit together.

        No message holds a part of the content.
        """
        try:
            stored = msgspec.json.decode(data, type=_Stored)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise _damaged() from None  # a message of the decoder may quote a secret
        if stored.version != _FILE_VERSION:
            raise MalformedError(
                f"the key file has version {stored.version}, which this version of Covey does not know",
                "Use the version of Covey that wrote it, or a newer one.",
            )
        try:
            identity = SigningKey.from_seed(stored.seed)
            return cls(identity, tuple(_opened(identity, key) for key in stored.encryption))
        except MeshCryptoError:
            raise _damaged() from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Replace the key file in one step, readable by its owner only. Raises `AgentError`."""
        write_secret(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KeyPair:
        """Return the keys of a key file.

        Raises `AgentError` if the file belongs to a different user, is open to others, or is damaged.
        """
        return cls.from_json(read_secret(path))

    def exported(
        self, passphrase: str, extra: dict[str, Any], *, cost: passphrases.Cost = passphrases.STANDARD_COST
    ) -> str:
        """Return the keys and the caller's `extra` (JSON values) as text, sealed with a passphrase.

        Raises `PassphraseError` if the passphrase is too short. Takes about a second and 256 MiB.
        """
        block = _Exported(keys=msgspec.Raw(self.to_json()), extra=extra)
        return passphrases.seal_text(msgspec.json.encode(block), passphrase, cost)

    @classmethod
    def imported(cls, text: str, passphrase: str) -> tuple[KeyPair, dict[str, Any]]:
        """Return the keys and the `extra` of an exported text.

        Raises `PassphraseError` for a wrong passphrase and `MalformedError` for a text that was damaged.
        """
        data = passphrases.open_text(text, passphrase)
        try:
            block = msgspec.json.decode(data, type=_Exported)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise _damaged() from None
        return cls.from_json(bytes(block.keys)), block.extra

    def __repr__(self) -> str:
        return f"KeyPair({self.member}, {len(self.encryption)} encryption keys)"


class _StoredKey(Struct, frozen=True, kw_only=True):
    private: bytes
    certificate: bytes


class _Stored(Struct, frozen=True, kw_only=True):
    version: int
    seed: str
    encryption: list[_StoredKey]


class _Exported(Struct, frozen=True, kw_only=True):
    keys: msgspec.Raw
    extra: dict[str, Any] = {}


def key_id_of(public: bytes) -> str:
    """Return the id of an x25519 key: 13 characters of base32, lower case."""
    return base64.b32encode(hashlib.blake2b(public).digest()[:_KEY_ID_BYTES]).decode().rstrip("=").lower()


def check_encryption_key(public: bytes) -> None:
    """Raise `MalformedError` for bytes that are not an x25519 key, or are one with which any secret would be known."""
    if len(public) != KEY_BYTES:
        raise MalformedError(f"an encryption key has {KEY_BYTES} bytes, not {len(public)}")
    try:
        nacl.bindings.crypto_box_beforenm(public, _ANY_SCALAR)
    except CryptoError:
        raise MalformedError("the encryption key is a weak one: everybody could open what is sealed for it") from None


@lru_cache(maxsize=4096)
def shared_key(private: bytes, public: bytes) -> bytes:
    """Return the key that crypto_box uses between two x25519 keys. Raises `MalformedError` for a weak public key."""
    try:
        return nacl.bindings.crypto_box_beforenm(public, private)
    except (CryptoError, ValueError, TypeError):
        raise MalformedError("the encryption key of the other member is not an x25519 key") from None


def _certified(identity: SigningKey, private: bytes, number: int, now: float) -> EncryptionKey:
    public = nacl.bindings.crypto_scalarmult_base(private)
    certificate = Certificate(member=identity.public, key=public, number=number, at=now)
    return EncryptionKey(
        private=private,
        public=public,
        key_id=key_id_of(public),
        number=number,
        at=now,
        certificate=sign_record(identity, "certificate", certificate),
    )


def _opened(identity: SigningKey, stored: _StoredKey) -> EncryptionKey:
    """Return a stored key if its certificate is the identity's and is about this key; raises `MeshCryptoError`."""
    certificate = open_record(Certificate, identity.public_bytes, "certificate", stored.certificate)
    if len(stored.private) != KEY_BYTES or nacl.bindings.crypto_scalarmult_base(stored.private) != certificate.key:
        raise MalformedError("a certificate in the key file is about a different key")
    return EncryptionKey(
        private=stored.private,
        public=certificate.key,
        key_id=key_id_of(certificate.key),
        number=certificate.number,
        at=certificate.at,
        certificate=stored.certificate,
    )


def _damaged() -> MalformedError:
    return MalformedError(
        "the stored keys are damaged",
        "Restore keypair.json from a backup, import exported keys (`covey mesh keys import`), or leave and join again.",
    )
