"""Epochs: tokens hide names, keys follow from the secret, and a grant is for one member from the authority."""

from __future__ import annotations

import nacl.secret
import pytest

from covey.mesh.crypto.envelope import Body
from covey.mesh.crypto.errors import ForgedError, MalformedError, NotForUsError, UnknownKeyError, WrongMeshError
from covey.mesh.crypto.identity import KeyPair, shared_key
from covey.mesh.crypto.nkeys import SigningKey, encode_mesh_id
from covey.mesh.crypto.records import GrantRecord, open_record, sign_record
from covey.mesh.crypto.topic_keys import EpochSecret, open_grant, seal_grant, topic_key, topic_token
from tests.covey.mesh.crypto.members import NOW, Mesh


def _granted(mesh: Mesh, wire: bytes, to: KeyPair) -> EpochSecret:
    return open_grant(wire, to, lambda key_id: mesh.key_of(mesh.alice.member, key_id), mesh=mesh.id)


def test_a_grant_gives_its_member_the_secret() -> None:
    mesh = Mesh()
    wire = seal_grant(mesh.authority, mesh.alice, mesh.bob.public_keys, mesh.epoch)
    assert _granted(mesh, wire, mesh.bob) == mesh.epoch


def test_the_authority_grants_itself() -> None:
    mesh = Mesh()
    wire = seal_grant(mesh.authority, mesh.alice, mesh.alice.public_keys, mesh.epoch)
    assert _granted(mesh, wire, mesh.alice) == mesh.epoch


def test_a_grant_for_another_member_is_refused_and_cannot_be_relabelled() -> None:
    mesh = Mesh()
    wire = seal_grant(mesh.authority, mesh.alice, mesh.bob.public_keys, mesh.epoch)
    with pytest.raises(NotForUsError):
        _granted(mesh, wire, mesh.mallory)
    with pytest.raises(ForgedError):
        _granted(mesh, wire.replace(mesh.bob.member.encode(), mesh.mallory.member.encode()), mesh.mallory)


def test_a_grant_by_a_member_that_is_not_the_authority_is_refused() -> None:
    mesh = Mesh()
    wire = seal_grant(mesh.mallory.identity, mesh.mallory, mesh.bob.public_keys, mesh.epoch)
    with pytest.raises(ForgedError):
        _granted(mesh, wire, mesh.bob)


def test_a_grant_of_another_mesh_is_refused() -> None:
    mesh, other = Mesh(), Mesh()
    wire = seal_grant(other.authority, mesh.alice, mesh.bob.public_keys, mesh.epoch)
    with pytest.raises(ForgedError):
        _granted(mesh, wire, mesh.bob)
    record = open_record(GrantRecord, other.authority.public_bytes, "grant", wire)
    assert record.mesh == other.id
    with pytest.raises(WrongMeshError):
        _granted(mesh, sign_record(mesh.authority, "grant", record), mesh.bob)


def test_a_grant_with_keys_that_are_not_known_here_is_left_for_later() -> None:
    mesh = Mesh()
    wire = seal_grant(mesh.authority, mesh.alice, mesh.bob.public_keys, mesh.epoch)
    with pytest.raises(UnknownKeyError):
        open_grant(wire, mesh.bob, lambda _: None, mesh=mesh.id)
    rotated = mesh.bob.rotated(NOW + 1)
    ahead = seal_grant(mesh.authority, mesh.alice, rotated.public_keys, mesh.epoch)
    with pytest.raises(UnknownKeyError):
        _granted(mesh, ahead, mesh.bob)
    assert _granted(mesh, wire, rotated) == mesh.epoch


@pytest.mark.parametrize("box", [b"", b"x" * 23, b"x" * 24, b"x" * 40, b"x" * 200])
def test_a_grant_whose_box_does_not_open_is_refused(box: bytes) -> None:
    mesh = Mesh()
    record = GrantRecord(
        mesh=mesh.id,
        member=mesh.bob.member,
        epoch=1,
        fk=mesh.alice.current.key_id,
        tk=mesh.bob.current.key_id,
        box=box,
    )
    with pytest.raises(ForgedError):
        _granted(mesh, sign_record(mesh.authority, "grant", record), mesh.bob)


def test_a_grant_that_holds_another_epoch_or_none_is_refused() -> None:
    mesh = Mesh()
    key = shared_key(mesh.alice.current.private, mesh.bob.current.public)
    wire = seal_grant(mesh.authority, mesh.alice, mesh.bob.public_keys, mesh.epoch)
    record = open_record(GrantRecord, mesh.authority.public_bytes, "grant", wire)
    moved = GrantRecord(mesh=mesh.id, member=mesh.bob.member, epoch=2, fk=record.fk, tk=record.tk, box=record.box)
    with pytest.raises(ForgedError):
        _granted(mesh, sign_record(mesh.authority, "grant", moved), mesh.bob)
    for content in (b"", b"{}", b'{"epoch":1,"secret":"AA==","topic_name_key":"AA=="}', b"[" * 5000):
        sealed = bytes(nacl.secret.SecretBox(key).encrypt(content))
        odd = GrantRecord(mesh=mesh.id, member=mesh.bob.member, epoch=1, fk=record.fk, tk=record.tk, box=sealed)
        with pytest.raises(MalformedError):
            _granted(mesh, sign_record(mesh.authority, "grant", odd), mesh.bob)


def test_the_next_epoch_has_another_secret_and_the_same_tokens() -> None:
    first = EpochSecret.first()
    second = first.following()
    assert second.epoch == 2
    assert second.secret != first.secret
    assert second.token("news") == first.token("news")
    assert second.key("t") != first.key("t")


def test_a_removed_member_cannot_read_the_next_epoch() -> None:
    mesh = Mesh()
    held_by_mallory = mesh.epoch
    following = mesh.epoch.following()
    data = mesh.post(mesh.alice, Body(text="without mallory"), epoch=following)
    assert mesh.open_post(data, mesh.alice, epoch=following).body == Body(text="without mallory")
    with pytest.raises(ForgedError):
        mesh.open_post(data, mesh.alice, epoch=held_by_mallory)
    grant = seal_grant(mesh.authority, mesh.alice, mesh.bob.public_keys, following)
    with pytest.raises(NotForUsError):
        _granted(mesh, grant, mesh.mallory)


def test_tokens_are_24_characters_that_tell_names_apart_and_depend_on_the_mesh() -> None:
    epoch = EpochSecret.first()
    tokens = {epoch.token(name) for name in ("*", "news", "News", "a.b", "*.>")}
    assert len(tokens) == 5
    assert all(len(token) == 24 and token.isalnum() and token == token.lower() for token in tokens)
    assert EpochSecret.first().token("news") != epoch.token("news")
    assert topic_token("news", epoch.topic_name_key) == epoch.token("news")
    assert topic_key(epoch, "a") != topic_key(epoch, "b")


@pytest.mark.parametrize("name", ["", "x" * 257, "é" * 129, "\ud800"])
def test_a_topic_name_that_is_empty_too_long_or_not_unicode_is_refused(name: str) -> None:
    with pytest.raises(MalformedError):
        topic_token(name, bytes(32))


def test_the_repr_of_an_epoch_shows_no_secret() -> None:
    assert repr(EpochSecret.first()) == "EpochSecret(epoch=1)"


def test_the_mesh_of_a_grant_is_the_one_of_its_signer() -> None:
    mesh = Mesh()
    signer = SigningKey.generate("A")
    wire = seal_grant(signer, mesh.alice, mesh.bob.public_keys, mesh.epoch)
    assert open_record(GrantRecord, signer.public_bytes, "grant", wire).mesh == encode_mesh_id(signer.public_bytes)
