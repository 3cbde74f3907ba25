"""Signed records: what is signed is what is decoded, by the right key in the right domain."""

from __future__ import annotations

import base64
import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.mesh.crypto.errors import ForgedError, MalformedError, MeshCryptoError
from covey.mesh.crypto.nkeys import DOMAINS, SigningKey
from covey.mesh.crypto.records import (
    LARGEST_RECORD,
    AskRequest,
    GrantRecord,
    JoinRequest,
    MemberRecord,
    MeshRecord,
    Presence,
    Profile,
    Receipt,
    ReceiptNumbers,
    open_record,
    peek,
    sign_record,
)

KEY = SigningKey.generate("U")
PRESENCE = Presence(mesh="m", member=KEY.public, state="online", at=1.5, boot="b")
RECORDS: list[tuple[str, msgspec.Struct]] = [
    ("presence", PRESENCE),
    (
        "mesh",
        MeshRecord(
            mesh="m", slug="s", incarnation="i", created_at=1.0, authority_member="U", authority_certificate=b"c"
        ),
    ),
    ("member", MemberRecord(mesh="m", member="U", name="é", role="admin", number=3, joined_at=1.0, revoked_at=None)),
    ("grant", GrantRecord(mesh="m", member="U", epoch=2, fk="a", tk="b", box=b"\0\xff")),
    (
        "profile",
        Profile(
            mesh="m",
            member="U",
            certificate="c\nd",
            summary="s",
            status="t",
            visible=False,
            avatar="a",
            groups={"g": "lead"},
            number=1,
            at=2.0,
        ),
    ),
    (
        "receipt",
        Receipt(
            mesh="m",
            sender="U",
            recipient="V",
            at=1.0,
            outboxes={"ob": ReceiptNumbers(upto=3, extra=[5, 7], seen=[1])},
        ),
    ),
    ("join", JoinRequest(invite="i", member="U", name="n", certificate="c", at=1.0)),
    ("ask", AskRequest(mesh="m", member="U", what="rename", arguments={"name": "x", "n": [1]}, at=1.0, nonce="n")),
]


@pytest.mark.parametrize(("domain", "record"), RECORDS)
def test_a_record_comes_back_as_it_was_signed(domain: str, record: msgspec.Struct) -> None:
    wire = sign_record(KEY, domain, record)
    assert open_record(type(record), KEY.public_bytes, domain, wire) == record
    assert peek(wire) == msgspec.json.decode(wire.rpartition(b"\n")[0])


@pytest.mark.parametrize(("domain", "record"), RECORDS)
def test_a_record_of_one_domain_never_verifies_in_another(domain: str, record: msgspec.Struct) -> None:
    wire = sign_record(KEY, domain, record)
    for other in DOMAINS - {domain}:
        with pytest.raises(ForgedError):
            open_record(type(record), KEY.public_bytes, other, wire)


def test_a_record_of_another_key_is_refused() -> None:
    with pytest.raises(ForgedError):
        open_record(Presence, SigningKey.generate("U").public_bytes, "presence", sign_record(KEY, "presence", PRESENCE))


def test_a_signature_over_the_bytes_without_a_domain_is_not_a_record() -> None:
    data = msgspec.json.encode(PRESENCE)
    wire = data + b"\n" + base64.b64encode(KEY.sign_raw(data))
    with pytest.raises(ForgedError):
        open_record(Presence, KEY.public_bytes, "presence", wire)


def test_every_change_of_one_bit_is_refused() -> None:
    wire = sign_record(KEY, "presence", PRESENCE)
    for place in range(len(wire)):
        for bit in range(8):
            changed = bytearray(wire)
            changed[place] ^= 1 << bit
            with pytest.raises(MeshCryptoError):
                open_record(Presence, KEY.public_bytes, "presence", bytes(changed))


def test_bytes_before_and_after_a_record_are_refused() -> None:
    wire = sign_record(KEY, "presence", PRESENCE)
    for changed in (wire + b"\n", wire + b" ", b" " + wire, b"\n" + wire, wire[:-1], wire[1:], wire + wire, b"", b"\n"):
        with pytest.raises(MeshCryptoError):
            open_record(Presence, KEY.public_bytes, "presence", changed)


def test_the_signature_has_one_text_only() -> None:
    wire = sign_record(KEY, "presence", PRESENCE)
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    same = wire[:-3] + letters[letters.index(wire[-3]) + 1 :][:1] + b"=="
    assert base64.b64decode(same[-88:]) == base64.b64decode(wire[-88:])
    with pytest.raises(ForgedError):
        open_record(Presence, KEY.public_bytes, "presence", same)


def test_fields_that_are_unknown_here_are_ignored() -> None:
    data = msgspec.json.encode({**msgspec.to_builtins(PRESENCE), "later": {"x": 1}})
    wire = data + b"\n" + base64.b64encode(KEY.sign("presence", data))
    assert open_record(Presence, KEY.public_bytes, "presence", wire) == PRESENCE


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"[]",
        b"null",
        b"\xff",
        b'{"mesh":1}',
        b"[" * 100_000,
        b'{"mesh":"m","member":"U","state":"s","at":1e999}',
        b'{"mesh":"m","member":"U","state":"s","at":-1}',
        b'{"mesh":"' + b"m" * 1000 + b'","member":"U","state":"s","at":1}',
    ],
)
def test_a_hostile_member_cannot_sign_what_crashes_the_reader(data: bytes) -> None:
    wire = data + b"\n" + base64.b64encode(KEY.sign("presence", data))
    with pytest.raises(MalformedError):
        open_record(Presence, KEY.public_bytes, "presence", wire)


def test_a_record_beyond_the_size_limit_is_neither_signed_nor_opened() -> None:
    large = msgspec.structs.replace(PRESENCE, state="x" * LARGEST_RECORD)
    with pytest.raises(MalformedError):
        sign_record(KEY, "presence", large)
    data = msgspec.json.encode(large)
    wire = data + b"\n" + base64.b64encode(KEY.sign("presence", data))
    for read in (peek, lambda wire: open_record(Presence, KEY.public_bytes, "presence", wire)):
        with pytest.raises(MalformedError):
            read(wire)


def test_a_record_that_is_not_json_cannot_be_signed() -> None:
    hostile: list[dict[str, Any]] = [{"x": object()}, {"x": "\ud800"}]
    for arguments in hostile:
        ask = AskRequest(mesh="m", member="U", what="w", arguments=arguments, at=1.0, nonce="n")
        with pytest.raises(MalformedError):
            sign_record(KEY, "ask", ask)


@given(st.binary(max_size=300))
def test_peek_returns_an_object_or_refuses(data: bytes) -> None:
    for wire in (data, data + b"\n" + b"A" * 86 + b"=="):
        with contextlib.suppress(MeshCryptoError):
            assert isinstance(peek(wire), dict)
