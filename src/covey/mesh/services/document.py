"""Documents: what a service shares under a key, sealed for all members and signed by whoever wrote it.

Each version says when it was written, and that is later than the version before: an old version that somebody publishes
again is refused.

The newest version of each document is the newest message under its subject, `s.<service>.<token>`. The token is made of
the service and the key, so that the broker learns neither the key nor the value. A private document is sealed with a
key that only its writer has; its subject begins with `s.own-<service>.`.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from covey.mesh.crypto.envelope import new_message_id, open_topic, read_header, seal_topic
from covey.mesh.crypto.envelope_form import Body, TopicHeader
from covey.mesh.crypto.errors import ForgedError, MalformedError, MeshCryptoError, UnknownKeyError
from covey.mesh.crypto.shared_keys import document_key, private_key, shared_key
from covey.mesh.link.errors import LinkError

if TYPE_CHECKING:
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.crypto.topic_keys import EpochSecret
    from covey.mesh.directory.directory import Directory

WRITER = "document"
"""What stands in the header of an envelope for the outbox: documents come from none."""
OWN = "own-"
GRANTED_S = 10.0
"""Within which a member that has just joined is granted the keys of the mesh."""
_TOKEN_BYTES: Final = 15
_TOKEN: Final = b"covey-doc-token1"


class Document(NamedTuple):
    """One version of a document, as the replica has it."""

    service: str
    key: str
    value: dict[str, Any] | None
    """None: it was deleted."""
    revision: int
    """Its sequence in the stream; a newer version has a greater one."""
    author: str
    """The member that wrote this version."""
    at: float
    """When the broker stored it, by the broker's clock as far as this peer knows it."""
    private: bool = False
    written: int = 0
    """When it was written, in milliseconds, as its author has signed: a newer version has a greater one."""


class Opened(NamedTuple):
    """What a sealed document holds, after it was verified."""

    service: str
    key: str
    value: dict[str, Any] | None
    author: str
    written: int
    private: bool


class NotReady(LinkError):  # noqa: N818 - a state
    """The keys of this epoch were not granted yet."""

    kind = "mesh_not_ready"


async def granted_epoch(directory: Directory) -> EpochSecret:
    """Return the newest keys of the mesh. A member that has just joined waits for its first ones. Raises NotReady."""
    epoch = await directory.wait_for_epoch(GRANTED_S)
    if epoch is None:
        raise NotReady("the keys of this mesh were not granted to this member yet")
    return epoch


class _Written(Struct, frozen=True, kw_only=True):
    """The sealed part of a document: `meta` of the envelope's body."""

    service: str
    key: str
    value: dict[str, Any] | None


def document_token(service: str, key: str, name_key: bytes) -> str:
    """Return the token of a document: 24 characters of base32, lower case."""
    named = f"{service}\0{key}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(named, key=name_key, person=_TOKEN, digest_size=_TOKEN_BYTES).digest()
    return base64.b32encode(digest).decode().lower()


def seal_document(
    keys: KeyPair,
    epoch: EpochSecret,
    mesh: str,
    token: str,
    service: str,
    key: str,
    value: dict[str, Any] | None,
    *,
    written: int,
    private: bool,
) -> tuple[str, bytes]:
    """Return the id of a version of a document, and the version sealed. Raises `MalformedError`."""
    id_ = new_message_id()
    wire = seal_topic(
        keys,
        mesh=mesh,
        id=id_,
        at_ms=written,
        ob=WRITER,
        n=1,
        token=token,
        epoch=epoch.epoch,
        topic_key=document_key(private_key(keys.identity) if private else shared_key(epoch), token),
        body=Body(text="", meta={"service": service, "key": key, "value": value}),
    )
    return id_, wire


def subject_token(keys: KeyPair, epoch: EpochSecret, service: str, key: str, *, private: bool) -> str:
    """Return the token of a document of this member, or of all."""
    return document_token(service, key, private_key(keys.identity) if private else epoch.topic_name_key)


def document_subject(service: str, token: str, *, private: bool) -> str:
    """Return the subject under which a document is."""
    return f"s.{OWN if private else ''}{service}.{token}"


def open_document(subject: str, wire: bytes, keys: KeyPair, directory: Directory) -> Opened | None:
    """Return what a document holds; None if it is another member's private one.

    Raises MeshCryptoError if it was not written by a member for this subject; UnknownKeyError if that may be seen when
    more is known of the members and the keys.
    """
    _, place, token = subject.split(".")
    private, service = place.startswith(OWN), place.removeprefix(OWN)
    header = read_header(wire)
    if not isinstance(header, TopicHeader):
        raise MalformedError("the envelope is a direct one, and came as a document")
    if private and header.from_ != keys.member:
        return None
    _check_author(header, directory)
    key = private_key(keys.identity) if private else directory.shared_key(header.epoch)
    if key is None or directory.epoch is None:
        raise UnknownKeyError(f"the shared key of epoch {header.epoch} was not granted to this member")
    envelope = open_topic(
        wire,
        mesh=directory.mesh,
        subject_from=header.from_,
        subject_token=token,
        topic_key=document_key(key, token),
    )
    assert envelope.body is not None
    try:
        written = msgspec.convert(envelope.body.meta, _Written)
    except msgspec.MsgspecError:
        raise MalformedError("the envelope does not hold a document") from None
    name_key = private_key(keys.identity) if private else directory.epoch.topic_name_key
    if written.service != service or document_token(service, written.key, name_key) != token:
        raise ForgedError("the document was written for another service or key than its subject")
    return Opened(service, written.key, written.value, header.from_, header.at, private)


def _check_author(header: TopicHeader, directory: Directory) -> None:
    """Raise if the author was not a member, or was removed before it wrote this."""
    record = directory.members.get(header.from_)
    if record is None:
        raise UnknownKeyError(f"{header.from_[:8]} is not known to be a member")
    if record.revoked_at is not None and header.at / 1000 > record.revoked_at:
        raise RevokedAuthorError("its author was removed before it was written")


class RevokedAuthorError(MeshCryptoError):
    """The author of a document is not a member any more."""

    word = "mesh_revoked_author"
    advice = "Nothing was accepted."
