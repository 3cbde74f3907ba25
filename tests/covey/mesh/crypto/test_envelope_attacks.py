"""What a hostile broker, a hostile member or a stranger may try with envelopes; each is refused."""

from __future__ import annotations

import msgspec
import pytest

from covey.mesh.crypto.envelope import (
    Body,
    DirectHeader,
    TopicHeader,
    _seal,
    new_message_id,
    open_direct,
    open_topic,
    read_header,
)
from covey.mesh.crypto.envelope_form import DIRECT, TOPIC
from covey.mesh.crypto.errors import ForgedError, MalformedError, NotForUsError, UnknownKeyError, WrongMeshError
from covey.mesh.crypto.identity import Certificate, EncryptionKey, KeyPair, PublicKeys, shared_key
from covey.mesh.crypto.nkeys import SIGNATURE_BYTES, SigningKey
from covey.mesh.crypto.records import AskRequest, sign_record
from tests.covey.mesh.crypto.members import NOW, NOW_MS, Mesh

MESH = Mesh()
ALICE, BOB, MALLORY = MESH.alice, MESH.bob, MESH.mallory
SECRET = Body(text="meet at noon")


def _signed_again(data: bytes, old: bytes, new: bytes, by: SigningKey) -> bytes:
    """Return the envelope with something in its header replaced by as many bytes, signed by somebody."""
    assert len(old) == len(new)
    assert old in data
    changed = data[:-SIGNATURE_BYTES].replace(old, new)
    return changed + by.sign("envelope", changed)


def test_the_broker_cannot_relabel_the_sender_by_the_subject() -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    with pytest.raises(ForgedError):
        MESH.open(data, BOB, sender=MALLORY)
    with pytest.raises(ForgedError):
        MESH.open_post(MESH.post(ALICE, SECRET), sender=MALLORY)


def test_the_sender_in_the_header_cannot_be_relabelled() -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    forged = data.replace(ALICE.member.encode(), MALLORY.member.encode())
    with pytest.raises(ForgedError):
        MESH.open(forged, BOB, sender=MALLORY)


def test_a_member_cannot_take_the_message_of_another_as_its_own() -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    own = _signed_again(data, ALICE.member.encode(), MALLORY.member.encode(), MALLORY.identity)
    with pytest.raises(UnknownKeyError):
        MESH.open(own, BOB, sender=MALLORY)


def test_a_member_that_certifies_the_key_of_another_cannot_take_its_message_either() -> None:
    mesh = Mesh()
    data = mesh.direct(mesh.alice, mesh.bob, SECRET)
    stolen = Certificate(member=mesh.mallory.member, key=mesh.alice.current.public, number=2, at=NOW)
    claimed = PublicKeys.from_certificate(
        sign_record(mesh.mallory.identity, "certificate", stolen), mesh.mallory.member
    )
    mesh.known[mesh.mallory.member, claimed.key_id] = claimed.key
    own = _signed_again(data, mesh.alice.member.encode(), mesh.mallory.member.encode(), mesh.mallory.identity)
    with pytest.raises(ForgedError, match="different envelope"):
        mesh.open(own, mesh.bob, sender=mesh.mallory)


def test_a_member_cannot_sign_as_another() -> None:
    forged = _signed_again(MESH.direct(ALICE, BOB, SECRET), b'"n":1', b'"n":2', MALLORY.identity)
    with pytest.raises(ForgedError):
        MESH.open(forged, BOB, sender=ALICE)


def test_a_recipient_that_can_make_the_box_cannot_sign_for_the_sender() -> None:
    header = DirectHeader(
        mesh=MESH.id,
        id=new_message_id(),
        from_=ALICE.member,
        at=NOW_MS,
        ob="o",
        n=1,
        to=BOB.member,
        fk=ALICE.current.key_id,
        tk=BOB.current.key_id,
    )
    secret = shared_key(BOB.current.private, ALICE.current.public)
    forged = _seal(BOB.identity, DIRECT, header, Body(text="I owe Bob 100"), secret, bytes(24))
    with pytest.raises(ForgedError):
        MESH.open(forged, BOB, sender=ALICE)


def test_a_member_cannot_forge_another_on_a_topic_whose_key_both_hold() -> None:
    token = MESH.epoch.token("news")
    header = TopicHeader(
        mesh=MESH.id, id=new_message_id(), from_=ALICE.member, at=NOW_MS, ob="o", n=1, topic=token, epoch=1
    )
    forged = _seal(MALLORY.identity, TOPIC, header, Body(text="said Alice"), MESH.epoch.key(token), bytes(24))
    with pytest.raises(ForgedError):
        MESH.open_post(forged, sender=ALICE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"n":1', b'"n":2'),
        (b'"at":1', b'"at":2'),
        (b"outbox1", b"outbox2"),
        (ALICE.current.key_id.encode(), MALLORY.current.key_id.encode()),
        (BOB.current.key_id.encode(), MALLORY.current.key_id.encode()),
    ],
    ids=["n", "at", "ob", "fk", "tk"],  # keys are random, and each worker must call the tests the same
)
def test_no_field_of_a_header_can_be_changed(old: bytes, new: bytes) -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    assert old in data
    with pytest.raises(ForgedError):
        MESH.open(data.replace(old, new), BOB, sender=ALICE)


def test_a_body_cannot_be_moved_under_another_header_even_by_its_sender() -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    moved = _signed_again(data, b'"n":1', b'"n":2', ALICE.identity)
    with pytest.raises(ForgedError):
        MESH.open(moved, BOB, sender=ALICE)


def test_an_envelope_cannot_be_replayed_under_another_id() -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    replayed = data.replace(read_header(data).id.encode(), new_message_id().encode())
    with pytest.raises(ForgedError):
        MESH.open(replayed, BOB, sender=ALICE)


def test_an_envelope_cannot_be_replayed_into_another_mesh() -> None:
    other = Mesh()
    data = MESH.direct(ALICE, BOB, SECRET)
    with pytest.raises(WrongMeshError):
        open_direct(data, BOB, MESH.key_of, mesh=other.id, subject_from=ALICE.member, subject_to=BOB.member)
    forged = data.replace(MESH.id.encode(), other.id.encode())
    with pytest.raises(ForgedError):
        open_direct(forged, BOB, MESH.key_of, mesh=other.id, subject_from=ALICE.member, subject_to=BOB.member)
    token = MESH.epoch.token("news")
    with pytest.raises(WrongMeshError):
        open_topic(
            MESH.post(ALICE, SECRET),
            mesh=other.id,
            subject_from=ALICE.member,
            subject_token=token,
            topic_key=MESH.epoch.key(token),
        )


def test_a_third_party_cannot_read_a_direct_message() -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    with pytest.raises(NotForUsError):
        MESH.open(data, MALLORY, ALICE, to=BOB)
    with pytest.raises(ForgedError):
        MESH.open(data, MALLORY, ALICE)
    # Mallory's own program skips every check, and lacks a private key of either side.
    ours = MALLORY.current
    under_bobs_name = EncryptionKey(
        private=ours.private,
        public=ours.public,
        key_id=BOB.current.key_id,
        number=1,
        at=NOW,
        certificate=ours.certificate,
    )
    pretended = KeyPair(MALLORY.identity, (under_bobs_name,))
    relabelled = _signed_again(data, BOB.member.encode(), MALLORY.member.encode(), ALICE.identity)
    with pytest.raises(ForgedError, match="cannot be opened"):
        MESH.open(relabelled, pretended, ALICE)


def test_a_stranger_without_the_topic_key_cannot_read_a_post() -> None:
    token = MESH.epoch.token("news")
    for key in (bytes(32), Mesh().epoch.key(token), MESH.epoch.key(MESH.epoch.token("other"))):
        with pytest.raises(ForgedError):
            open_topic(
                MESH.post(ALICE, SECRET),
                mesh=MESH.id,
                subject_from=ALICE.member,
                subject_token=token,
                topic_key=key,
            )


def test_the_broker_cannot_move_an_envelope_to_another_recipient_or_topic() -> None:
    with pytest.raises(ForgedError):
        MESH.open(MESH.direct(ALICE, MALLORY, SECRET), BOB, ALICE)
    with pytest.raises(ForgedError, match="different topic"):
        MESH.open_post(MESH.post(ALICE, SECRET, "news"), ALICE, "other")


def test_a_message_cannot_be_reflected_to_its_sender() -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    with pytest.raises(ForgedError):
        MESH.open(data, ALICE, BOB)


def test_a_direct_envelope_is_not_taken_as_a_post_nor_a_post_as_direct() -> None:
    with pytest.raises(MalformedError):
        MESH.open(MESH.post(ALICE, SECRET), BOB, ALICE)
    with pytest.raises(MalformedError):
        MESH.open_post(MESH.direct(ALICE, BOB, SECRET), ALICE)


def test_a_skip_cannot_be_made_of_a_message_nor_for_another_number() -> None:
    skip = MESH.direct(ALICE, BOB, None, n=1)
    with pytest.raises(ForgedError):
        MESH.open(skip.replace(b'"n":1', b'"n":2'), BOB, ALICE)
    data = MESH.direct(ALICE, BOB, SECRET)
    length = int.from_bytes(data[5:7])
    header = data[7 : 6 + length] + b',"skip":true}'
    forged = data[:5] + len(header).to_bytes(2) + header + data[-SIGNATURE_BYTES:]
    with pytest.raises(ForgedError):
        MESH.open(forged, BOB, ALICE)


def test_keys_are_looked_up_for_a_verified_envelope_only() -> None:
    asked: list[str] = []

    def lookup(member: str, key_id: str) -> bytes | None:
        asked.append(member + key_id)
        return None

    data = MESH.direct(ALICE, BOB, SECRET)
    for forged in (data[:-1] + bytes((data[-1] ^ 1,)), data.replace(b'"n":1', b'"n":2')):
        with pytest.raises(ForgedError):
            open_direct(forged, BOB, lookup, mesh=MESH.id, subject_from=ALICE.member, subject_to=BOB.member)
    assert asked == []


@pytest.mark.parametrize("key", [b"", b"short", bytes(32), b"x" * 33])
def test_a_lookup_that_gives_a_weak_or_odd_key_opens_nothing(key: bytes) -> None:
    data = MESH.direct(ALICE, BOB, SECRET)
    with pytest.raises(MalformedError):
        open_direct(data, BOB, lambda *_: key, mesh=MESH.id, subject_from=ALICE.member, subject_to=BOB.member)


def test_a_signature_for_an_envelope_is_not_one_for_a_record() -> None:
    ask = AskRequest(mesh=MESH.id, member=ALICE.member, what="invite", arguments={}, at=NOW, nonce="n")
    data = MESH.direct(ALICE, BOB, SECRET)
    for signature in (
        ALICE.identity.sign("ask", data[:-SIGNATURE_BYTES]),
        ALICE.identity.sign_raw(data[:-SIGNATURE_BYTES]),
        ALICE.identity.sign("ask", msgspec.json.encode(ask)),
    ):
        with pytest.raises(ForgedError):
            MESH.open(data[:-SIGNATURE_BYTES] + signature, BOB, ALICE)
