"""Signed records: a JSON object, a line feed, and the base64 of a signature over the JSON in one domain."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from covey.mesh.crypto.errors import ForgedError, MalformedError
from covey.mesh.crypto.nkeys import SIGNATURE_BYTES, SigningKey, verify

LARGEST_RECORD: Final = 256 * 1024
_SIGNATURE_TEXT: Final = 4 * ((SIGNATURE_BYTES + 2) // 3)

T = TypeVar("T", bound=Struct)

# A verified record still comes from somebody who may be hostile: every value has a bound.
Key = Annotated[str, Meta(max_length=64)]
Name = Annotated[str, Meta(max_length=256)]
Text = Annotated[str, Meta(max_length=16 * 1024)]
Number = Annotated[int, Meta(ge=0, lt=2**53)]
Seconds = Annotated[float, Meta(ge=0, lt=2**40)]


class MeshRecord(Struct, frozen=True, kw_only=True):
    """What a mesh is: domain `mesh`, signed by the authority."""

    mesh: Key
    slug: Name
    incarnation: Key
    number: Number = 1
    created_at: Seconds
    authority_member: Key
    authority_certificate: bytes


class MemberRecord(Struct, frozen=True, kw_only=True):
    """That a member belongs to the mesh, or does so no more: domain `member`, signed by the authority."""

    mesh: Key
    member: Key
    name: Name
    role: Name
    number: Number
    joined_at: Seconds
    revoked_at: Seconds | None = None
    left: bool = False
    """It was not removed by somebody else."""


class GrantRecord(Struct, frozen=True, kw_only=True):
    """The sealed secret of an epoch for one member: domain `grant`, signed by the authority."""

    mesh: Key
    member: Key
    epoch: Number
    fk: Key
    tk: Key
    box: bytes


class SharedKeysRecord(Struct, frozen=True, kw_only=True):
    """The keys of shared data of former epochs, for the members of this one: domain `shared`, by the authority."""

    mesh: Key
    epoch: Number
    box: bytes


class Profile(Struct, frozen=True, kw_only=True):
    """What a member says about itself: domain `profile`, signed by the member."""

    mesh: Key
    member: Key
    certificate: Text
    summary: Text = ""
    status: Text = ""
    visible: bool = True
    avatar: Text = ""
    groups: dict[Name, Name] = {}
    former: list[Text] = []
    """Certificates of former encryption keys: messages that were sealed with them may still be under way."""
    number: Number
    at: Seconds


class Presence(Struct, frozen=True, kw_only=True):
    """Whether a member is there: domain `presence`, signed by the member (or the authority about a member)."""

    mesh: Key
    member: Key
    state: Name
    at: Seconds
    boot: Key = ""


class ReceiptNumbers(Struct, frozen=True, kw_only=True):
    """Which numbers of one outbox are in the recipient's inbox, and which of them its agent has seen."""

    upto: Number
    extra: list[Number] = []
    seen: list[Number] = []


class Receipt(Struct, frozen=True, kw_only=True):
    """What a recipient has of all messages of one sender, by outbox: domain `receipt`, signed by the recipient."""

    mesh: Key
    sender: Key
    recipient: Key
    at: Seconds
    outboxes: dict[Key, ReceiptNumbers]


class JoinRequest(Struct, frozen=True, kw_only=True):
    """The wish to become a member: domain `join`, signed by the key of the member to be."""

    invite: Name
    member: Key
    name: Name
    certificate: Text
    at: Seconds


class AskRequest(Struct, frozen=True, kw_only=True):
    """What a member asks of the authority: domain `ask`, signed by the member."""

    mesh: Key
    member: Key
    what: Name
    arguments: dict[str, Any]
    at: Seconds
    nonce: Key


def sign_record(key: SigningKey, domain: str, record: Struct) -> bytes:
    """Return the record as it goes over the wire. Raises `MalformedError` if it is too large or is not JSON."""
    try:
        data = msgspec.json.encode(record)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise MalformedError(f"the record cannot be written as JSON: {type(error).__name__}") from error
    wire = data + b"\n" + base64.b64encode(key.sign(domain, data))
    if len(wire) > LARGEST_RECORD:
        raise MalformedError(f"the record has {len(wire)} bytes and may have {LARGEST_RECORD}")
    return wire


def open_record(type_: type[T], public: bytes, domain: str, wire: bytes) -> T:
    """Return the record if it was signed by this key in this domain; fields that are unknown here are ignored.

    Raises `ForgedError` if the signature is not valid and `MalformedError` for bytes of a different form. Nothing is
    decoded before the signature has been verified.
    """
    data, signature = _split(wire)
    verify(public, domain, data, signature)
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise MalformedError(f"the signed record is not a {type_.__name__}") from error


def peek(wire: bytes) -> dict[str, Any]:
    """Return the JSON object of a record without verifying it, to find who claims to have signed it.

    Believe nothing of it before `open_record` has returned. Raises `MalformedError`.
    """
    data, _ = _split(wire)
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise MalformedError("the record does not hold a JSON object") from error


def _split(wire: bytes) -> tuple[bytes, bytes]:
    """Return the JSON bytes and the signature. Raises `MalformedError`."""
    if len(wire) > LARGEST_RECORD:
        raise MalformedError(f"the record has {len(wire)} bytes and may have {LARGEST_RECORD}")
    data, line_feed, text = wire.rpartition(b"\n")
    if not line_feed or not data or len(text) != _SIGNATURE_TEXT:
        raise MalformedError("the bytes are not a signed record")
    try:
        signature = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise MalformedError("the signature of the record is not base64") from error
    if base64.b64encode(signature) != text:  # the unused bits at the end would give one record several forms
        raise ForgedError("the signature of the record is not in its one valid form")
    return data, signature
