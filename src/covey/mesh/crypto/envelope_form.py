"""The readable header and the sealed body of an envelope: their fields, and the one form in which they are accepted."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from covey.mesh.crypto.errors import MalformedError

DIRECT: Final = 1
TOPIC: Final = 2
LARGEST_HEADER: Final = 1024
DEEPEST_META: Final = 32

_MeshId = Annotated[str, Meta(pattern=r"\A[a-z2-7]{52}\Z")]
_MessageId = Annotated[str, Meta(pattern=r"\A[a-z2-7]{26}\Z")]
_Member = Annotated[str, Meta(pattern=r"\AU[A-Z2-7]{55}\Z")]
_KeyId = Annotated[str, Meta(pattern=r"\A[a-z2-7]{13}\Z")]
_OutboxId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,64}\Z")]
_Token = Annotated[str, Meta(pattern=r"\A[a-z2-7]{24}\Z")]
_Moment = Annotated[int, Meta(ge=0, lt=2**53)]
_Number = Annotated[int, Meta(ge=1, lt=2**53)]
_Name = Annotated[str, Meta(max_length=256)]


class Body(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the sender wrote; only the readers see it."""

    text: str
    meta: dict[str, Any] = {}
    priority: Literal["now", "next", "low"] = "next"
    reply_to: Annotated[str, Meta(max_length=64)] | None = None
    mentions: Annotated[list[_Name], Meta(max_length=1024)] = []
    hops: Annotated[int, Meta(ge=0, le=1000)] = 0
    agent: _Name | None = None
    from_agent: _Name | None = None


class _Header(Struct, frozen=True, kw_only=True, omit_defaults=True):
    mesh: _MeshId
    id: _MessageId
    from_: _Member = msgspec.field(name="from")
    at: _Moment
    ob: _OutboxId
    n: _Number


class DirectHeader(_Header, frozen=True, kw_only=True, omit_defaults=True):
    """The readable part of an envelope for one member. `skip`: the number will never come, and there is no body."""

    to: _Member
    fk: _KeyId
    tk: _KeyId
    skip: bool = False


class TopicHeader(_Header, frozen=True, kw_only=True, omit_defaults=True):
    """The readable part of an envelope for the readers of a topic."""

    topic: _Token
    epoch: _Number


encoder: Final = msgspec.json.Encoder()
_direct_decoder: Final = msgspec.json.Decoder(DirectHeader)
_topic_decoder: Final = msgspec.json.Decoder(TopicHeader)
_body_decoder: Final = msgspec.json.Decoder(Body)
_UNDECODABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)


def parse_header(kind: int, data: bytes) -> DirectHeader | TopicHeader:
    """Return the header of an envelope of this kind. Raises `MalformedError`."""
    header: DirectHeader | TopicHeader
    try:
        if kind == DIRECT:
            header = _direct_decoder.decode(data)
        elif kind == TOPIC:
            header = _topic_decoder.decode(data)
        else:
            raise MalformedError("the envelope is of an unknown kind")
    except _UNDECODABLE as error:
        raise MalformedError("the header of the envelope does not have its form") from error
    # A header has one form only, so nobody can hide a second value of a field, or anything else, in it.
    if encoder.encode(header) != data:
        raise MalformedError("the header of the envelope is not in its one valid form")
    return header


def parse_body(data: bytes) -> Body:
    """Return the body. Raises `MalformedError`."""
    try:
        body = _body_decoder.decode(data)
    except _UNDECODABLE as error:
        raise MalformedError("the body of the envelope does not have its form") from error
    if body.meta:
        _check_depth(body.meta)
    return body


def _check_depth(meta: dict[str, Any]) -> None:
    """Raise `MalformedError` for values nested so deeply that whoever writes them as JSON again could fail."""
    level: list[Any] = [meta]
    for _ in range(DEEPEST_META):
        inner = [value for value in level if isinstance(value, dict | list) and value]
        if not inner:
            return
        level = [item for value in inner for item in (value.values() if isinstance(value, dict) else value)]
    raise MalformedError(f"`meta` is nested deeper than {DEEPEST_META} levels", "Send flatter values.")
