"""The keys of a member: certificates, rotation, and the form in which they are stored."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest

from covey.mesh.crypto.errors import ForgedError, MalformedError, MeshCryptoError
from covey.mesh.crypto.identity import (
    RETIRED_KEY_LIFE_S,
    Certificate,
    KeyPair,
    PublicKeys,
    key_id_of,
    shared_key,
)
from covey.mesh.crypto.nkeys import SigningKey
from covey.mesh.crypto.records import Presence, sign_record
from tests.covey.mesh.crypto.members import NOW

WEAK_KEYS = [
    bytes(32),
    b"\1" + bytes(31),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
]


def test_a_certificate_tells_a_sender_the_key_of_its_member() -> None:
    keys = KeyPair.generate(NOW)
    public = PublicKeys.from_certificate(keys.certificate, keys.member)
    assert public == keys.public_keys
    assert public.key_id == key_id_of(keys.current.public) == keys.current.key_id
    assert keys.find(public.key_id) is keys.current
    assert len(public.key_id) == 13


def test_the_first_encryption_key_comes_from_the_seed_and_later_ones_do_not() -> None:
    keys = KeyPair.generate(NOW)
    again = KeyPair.from_identity(SigningKey.from_seed(keys.identity.seed), NOW)
    assert again.current == keys.current
    assert again.rotated(NOW).current.private != keys.rotated(NOW).current.private


def test_a_certificate_under_the_name_of_another_member_is_refused() -> None:
    keys, other = KeyPair.generate(NOW), KeyPair.generate(NOW)
    with pytest.raises(ForgedError):
        PublicKeys.from_certificate(keys.certificate, other.member)
    claimed = Certificate(member=other.member, key=keys.current.public, number=1, at=NOW)
    with pytest.raises(ForgedError):
        PublicKeys.from_certificate(sign_record(keys.identity, "certificate", claimed), keys.member)


def test_a_certificate_of_a_key_that_is_weak_or_not_a_key_is_refused() -> None:
    keys = KeyPair.generate(NOW)
    for key in (*WEAK_KEYS, b"", b"x" * 31, b"x" * 33):
        certificate = Certificate(member=keys.member, key=key, number=1, at=NOW)
        with pytest.raises(MalformedError):
            PublicKeys.from_certificate(sign_record(keys.identity, "certificate", certificate), keys.member)
        with pytest.raises(MalformedError):
            shared_key(keys.current.private, key)


def test_another_record_of_the_member_is_not_a_certificate() -> None:
    keys = KeyPair.generate(NOW)
    presence = sign_record(keys.identity, "presence", Presence(mesh="m", member=keys.member, state="s", at=1.0))
    for wire in (presence, b"", keys.certificate[:-1]):
        with pytest.raises(MeshCryptoError):
            PublicKeys.from_certificate(wire, keys.member)


def test_rotation_keeps_the_member_and_still_finds_the_former_key() -> None:
    keys = KeyPair.generate(NOW)
    rotated = keys.rotated(NOW + 1)
    assert rotated.member == keys.member
    assert rotated.current.number == 2
    assert rotated.find(keys.current.key_id) == keys.current
    assert PublicKeys.from_certificate(rotated.certificate, keys.member).number == 2


def test_rotation_drops_keys_that_were_replaced_long_ago_and_never_the_last_two() -> None:
    first = KeyPair.generate(NOW)
    second = first.rotated(NOW + 1)
    third = second.rotated(NOW + 2)
    assert len(third.encryption) == 3
    much_later = third.rotated(NOW + 2 + RETIRED_KEY_LIFE_S)
    assert [key.number for key in much_later.encryption] == [4, 3]
    assert much_later.find(first.current.key_id) is None
    soon = third.rotated(NOW + RETIRED_KEY_LIFE_S)
    assert [key.number for key in soon.encryption] == [4, 3, 2, 1]


def test_stored_keys_come_back_the_same() -> None:
    keys = KeyPair.generate(NOW).rotated(NOW + 1)
    again = KeyPair.from_json(keys.to_json())
    assert again.identity.seed == keys.identity.seed
    assert again.encryption == keys.encryption


def _stored(keys: KeyPair) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(keys.to_json())
    return stored


def test_stored_keys_that_do_not_fit_together_are_refused() -> None:
    keys, other = KeyPair.generate(NOW), KeyPair.generate(NOW)
    mixed = _stored(keys)
    mixed["seed"] = other.identity.seed
    swapped = _stored(keys)
    swapped["encryption"][0]["private"] = base64.b64encode(other.current.private).decode()
    short = _stored(keys)
    short["encryption"][0]["private"] = "AAAA"
    empty = _stored(keys) | {"encryption": []}
    account = _stored(keys) | {"seed": SigningKey.generate("A").seed}
    for wrong in (mixed, swapped, short, empty, account, {}, {"version": 1}):
        with pytest.raises(MalformedError, match="damaged"):
            KeyPair.from_json(msgspec.json.encode(wrong))
    for data in (b"", b"\xff", b"[" * 100_000, keys.to_json()[:-5]):
        with pytest.raises(MalformedError, match="damaged"):
            KeyPair.from_json(data)


def test_keys_of_a_later_version_are_refused_with_that_reason() -> None:
    with pytest.raises(MalformedError, match="version 2"):
        KeyPair.from_json(msgspec.json.encode(_stored(KeyPair.generate(NOW)) | {"version": 2}))


def test_neither_repr_nor_an_error_shows_a_secret() -> None:
    keys = KeyPair.generate(NOW)
    private = base64.b64encode(keys.current.private).decode()
    shown = repr(keys) + repr(keys.current) + repr(keys.identity) + repr(keys.encryption)
    assert keys.identity.seed not in shown
    assert repr(keys.current.private)[2:12] not in shown
    broken = _stored(keys) | {"encryption": keys.identity.seed}
    with pytest.raises(MalformedError) as refused:
        KeyPair.from_json(msgspec.json.encode(broken))
    assert keys.identity.seed not in f"{refused.value} {refused.value.suggestion} {refused.value.__cause__}"
    assert private not in str(refused.value)
