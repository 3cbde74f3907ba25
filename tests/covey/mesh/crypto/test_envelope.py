"""Envelopes: what is sealed comes back to its readers, within limits, in one form."""

from __future__ import annotations

import struct
from typing import Any, Literal, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.mesh.crypto.envelope import (
    LARGEST_ENVELOPE,
    Body,
    DirectHeader,
    TopicHeader,
    new_message_id,
    read_header,
    seal_direct,
)
from covey.mesh.crypto.errors import MalformedError, UnknownKeyError
from tests.covey.mesh.crypto.members import NOW, NOW_MS, Mesh

MESH = Mesh()
FULL = Body(
    text="héllo \0 🐦",
    meta={"a": [1, {"b": None}], "c": 1.5},
    priority="now",
    reply_to=new_message_id(),
    mentions=["@bob", "@carol"],
    hops=3,
    agent="reviewer",
    from_agent="writer",
)


@pytest.mark.parametrize("body", [Body(text=""), Body(text="hello"), FULL])
def test_a_direct_message_comes_back_to_its_recipient(body: Body) -> None:
    data = MESH.direct(MESH.alice, MESH.bob, body, n=7)
    envelope = MESH.open(data, MESH.bob, MESH.alice)
    assert (envelope.kind, envelope.body, envelope.skip) == ("direct", body, False)
    header = read_header(data)
    assert header == envelope.header
    assert isinstance(header, DirectHeader)
    assert (header.mesh, header.from_, header.to) == (MESH.id, MESH.alice.member, MESH.bob.member)
    assert (header.at, header.ob, header.n, header.skip) == (NOW_MS, "outbox1", 7, False)
    assert (header.fk, header.tk) == (MESH.alice.current.key_id, MESH.bob.current.key_id)


@pytest.mark.parametrize("body", [Body(text=""), FULL])
def test_a_post_comes_back_to_the_readers_of_the_topic(body: Body) -> None:
    data = MESH.post(MESH.alice, body)
    envelope = MESH.open_post(data, MESH.alice)
    assert (envelope.kind, envelope.body, envelope.skip) == ("topic", body, False)
    header = read_header(data)
    assert header == envelope.header
    assert isinstance(header, TopicHeader)
    assert (header.topic, header.epoch) == (MESH.epoch.token("news"), 1)


@given(st.text(max_size=200), st.dictionaries(st.text(max_size=5), st.integers(-(2**60), 2**60) | st.text(max_size=9)))
def test_any_text_and_meta_come_back(text: str, meta: dict[str, Any]) -> None:
    body = Body(text=text, meta=meta)
    assert MESH.open(MESH.direct(MESH.alice, MESH.bob, body), MESH.bob, MESH.alice).body == body


def test_a_message_to_oneself_comes_back() -> None:
    data = MESH.direct(MESH.alice, MESH.alice, FULL)
    assert MESH.open(data, MESH.alice, MESH.alice).body == FULL


def test_the_sender_cannot_be_told_from_the_words_nor_the_words_from_the_bytes() -> None:
    secret = "the quick brown fox"
    assert secret.encode() not in MESH.direct(MESH.alice, MESH.bob, Body(text=secret))
    assert secret.encode() not in MESH.post(MESH.alice, Body(text=secret))
    assert b"news" not in MESH.post(MESH.alice, Body(text=secret))
    same = Body(text=secret)
    assert MESH.direct(MESH.alice, MESH.bob, same) != MESH.direct(MESH.alice, MESH.bob, same)


def test_a_skipped_number_is_told_without_a_body() -> None:
    data = MESH.direct(MESH.alice, MESH.bob, None, n=9)
    envelope = MESH.open(data, MESH.bob, MESH.alice)
    assert (envelope.body, envelope.skip, envelope.header.n) == (None, True, 9)


def test_what_is_under_way_while_either_side_rotates_is_still_opened() -> None:
    mesh = Mesh()
    data = mesh.direct(mesh.alice, mesh.bob, FULL)
    bob = mesh.bob.rotated(NOW + 1)
    assert mesh.open(data, bob, mesh.alice).body == FULL
    alice = mesh.alice.rotated(NOW + 1)
    later = mesh.direct(alice, bob, FULL)
    with pytest.raises(UnknownKeyError):
        mesh.open(later, bob, alice)  # Alice's new certificate has not arrived
    mesh.learn(alice)
    assert mesh.open(later, bob, alice).body == FULL
    with pytest.raises(UnknownKeyError):
        mesh.open(later, mesh.bob, alice)  # Bob's file was restored from before the rotation


def test_unknown_fields_of_a_body_are_ignored() -> None:
    class LaterBody(Body, frozen=True, kw_only=True):
        colour: str

    data = MESH.direct(MESH.alice, MESH.bob, LaterBody(text="x", colour="blue"))
    assert MESH.open(data, MESH.bob, MESH.alice).body == Body(text="x")


def test_the_largest_message_goes_through_and_one_byte_more_is_refused() -> None:
    overhead = len(MESH.direct(MESH.alice, MESH.bob, Body(text="")))
    largest = Body(text="x" * (LARGEST_ENVELOPE - overhead))
    data = MESH.direct(MESH.alice, MESH.bob, largest)
    assert len(data) == LARGEST_ENVELOPE
    assert MESH.open(data, MESH.bob, MESH.alice).body == largest
    with pytest.raises(MalformedError, match="too large"):
        MESH.direct(MESH.alice, MESH.bob, Body(text=largest.text + "x"))
    with pytest.raises(MalformedError):
        read_header(data + b"x")


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "body",
    [
        Body(text="\ud800"),
        Body(text="x", meta={"x": object()}),
        Body(text="x", meta={"x": 10**5000}),
        Body(text="x", meta=_deep(40)),
        Body(text="x", meta=_deep(5000)),
        Body(text="x", priority=cast("Literal['now']", "soon")),
        Body(text="x", hops=-1),
        Body(text="x", hops=1001),
        Body(text="x", agent="a" * 257),
        Body(text="x", reply_to="a" * 65),
        Body(text="x", mentions=["a"] * 1025),
    ],
)
def test_what_a_recipient_would_refuse_is_not_sealed(body: Body) -> None:
    with pytest.raises(MalformedError) as refused:
        MESH.direct(MESH.alice, MESH.bob, body)
    assert refused.value.suggestion


@pytest.mark.parametrize(
    "wrong",
    [
        {"mesh": "m"},
        {"id": "short"},
        {"id": "A" * 26},
        {"id": "a" * 26 + "\n"},
        {"at_ms": -1},
        {"at_ms": 2**53},
        {"at_ms": 1.0},
        {"ob": ""},
        {"ob": "a.b"},
        {"ob": "o" * 65},
        {"n": 0},
        {"n": True},
        {"n": 2**53},
    ],
)
def test_a_header_field_that_does_not_have_its_form_is_not_sealed(wrong: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"mesh": MESH.id, "id": new_message_id(), "at_ms": 1, "ob": "o", "n": 1}
    with pytest.raises(MalformedError):
        seal_direct(MESH.alice, MESH.bob.public_keys, body=FULL, **(fields | wrong))


def _with_header(data: bytes, header: bytes, kind: int = 1) -> bytes:
    """Return an envelope with a different header; its signature is not right any more."""
    length = int.from_bytes(data[5:7])
    return struct.pack(">4sBH", b"CVM1", kind, len(header)) + header + data[7 + length :]


def test_a_header_in_any_but_its_one_form_is_refused() -> None:
    data = MESH.direct(MESH.alice, MESH.bob, FULL)
    header = data[7 : 7 + int.from_bytes(data[5:7])]
    fields = msgspec.json.decode(header)
    assert _with_header(data, header) == data
    for changed in (
        b" " + header,
        header + b" ",
        header + b"{}",
        header.replace(b'":"', b'": "', 1),
        header.replace(b'"n":1', b'"n":1.0'),
        header.replace(b'"n":1', b'"n":01'),
        header.replace(b'"n":1', b'"n":"1"'),
        header.replace(b'"n":1', b'"n":1,"n":1'),
        header.replace(b'"n":1', b'"n":2,"n":1'),
        header.replace(b"outbox1", b"outbo\\u00781"),
        header[:-1] + b',"more":1}',
        header[:-1] + b',"skip":false}',
        header[:-1] + b',"skip":1}',
        header[:-1] + b',"pad":"' + b"x" * 1024 + b'"}',
        msgspec.json.encode(dict(reversed(fields.items()))),
        msgspec.json.encode({name: value for name, value in fields.items() if name != "tk"}),
        b"",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 1000,
    ):
        with pytest.raises(MalformedError):
            read_header(_with_header(data, changed))


def test_bytes_that_are_not_an_envelope_are_refused() -> None:
    data = MESH.direct(MESH.alice, MESH.bob, FULL)
    skip = MESH.direct(MESH.alice, MESH.bob, None)
    header = data[7 : 7 + int.from_bytes(data[5:7])]
    for wrong in (
        b"",
        b"CVM1",
        b"CVM2" + data[4:],
        data[:4] + b"\0" + data[5:],
        data[:4] + b"\2" + data[5:],
        data[:4] + b"\3" + data[5:],
        data[:5] + b"\xff\xff" + data[7:],
        data[: 7 + len(header) + 64],
        data[: 7 + len(header) + 64 + 40],
        skip[:-64] + b"x" + skip[-64:],
        _with_header(data, header[:-1] + b',"skip":true}'),
    ):
        with pytest.raises(MalformedError):
            read_header(wrong)


def test_message_ids_are_26_characters_and_never_the_same() -> None:
    ids = {new_message_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert {len(one) for one in ids} == {26}
