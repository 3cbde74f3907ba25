"""The test vectors hold, for this implementation and for a second one that was written from the document alone."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import nacl.public
import nacl.secret
import nacl.signing
import pytest

from covey.mesh.crypto.envelope import Body, open_direct, open_topic
from covey.mesh.crypto.identity import KeyPair, PublicKeys
from covey.mesh.crypto.nkeys import SigningKey
from covey.mesh.crypto.records import Presence, open_record
from covey.mesh.crypto.topic_keys import EpochSecret, open_grant
from tests.covey.mesh.crypto.vectors import AT, BODY, make

FOLDER = Path(__file__).parent
VECTORS: dict[str, Any] = json.loads((FOLDER / "vectors.json").read_text())
ALICE, BOB, MESH = VECTORS["members"]["alice"], VECTORS["members"]["bob"], VECTORS["authority"]["mesh"]


def test_the_vectors_are_what_this_implementation_writes() -> None:
    assert make() == VECTORS


def test_this_implementation_opens_the_vectors() -> None:
    alice, bob = (KeyPair.from_identity(SigningKey.from_seed(one["seed"]), AT) for one in (ALICE, BOB))
    public = PublicKeys.from_certificate(ALICE["certificate"].encode(), ALICE["member"])
    assert public == alice.public_keys
    epoch = open_grant(VECTORS["grant"]["wire"].encode(), bob, lambda _: public.key, mesh=MESH)
    assert epoch == EpochSecret(epoch=3, secret=b"\3" * 32, topic_name_key=b"\4" * 32)
    subjects = {"mesh": MESH, "subject_from": ALICE["member"]}
    for name, body in (("direct", BODY), ("skip", None)):
        data = bytes.fromhex(VECTORS[name]["envelope"])
        envelope = open_direct(data, bob, lambda *_: public.key, **subjects, subject_to=BOB["member"])
        assert envelope.body == body
    token = epoch.token("news")
    posted = bytes.fromhex(VECTORS["topic"]["envelope"])
    opened = open_topic(posted, **subjects, subject_token=token, topic_key=epoch.key(token))
    assert opened.body == Body(text="hello")
    wire = VECTORS["record"]["wire"].encode()
    assert open_record(Presence, alice.identity.public_bytes, "presence", wire).state == "online"


# From here on nothing of covey.mesh.crypto is used: only what the document says.


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()


def _nkey(text: str) -> bytes:
    """Return the key in an nkey text of 56 or 58 characters, by a checksum that is computed bit by bit."""
    data = base64.b32decode(text + "=" * (-len(text) % 8))
    crc = 0
    for byte in data[:-2]:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    assert struct.pack("<H", crc) == data[-2:]
    return data[-34:-2]


def _verified(public: bytes, domain: str, data: bytes, signature: bytes) -> bytes:
    nacl.signing.VerifyKey(public).verify(b"covey-mesh/1/" + domain.encode() + b"\0" + data, signature)
    return data


def _record(wire: str, public: bytes, domain: str) -> dict[str, Any]:
    data, _, signature = wire.rpartition("\n")
    record: dict[str, Any] = json.loads(_verified(public, domain, data.encode(), base64.b64decode(signature)))
    return record


def _envelope(data: bytes, kind: int) -> tuple[dict[str, Any], bytes, bytes]:
    """Return the header, its bytes and the ciphertext, once the signature was verified."""
    assert data[:4] == b"CVM1"
    assert data[4] == kind
    end = 7 + struct.unpack(">H", data[5:7])[0]
    header = json.loads(data[7:end])
    _verified(_nkey(header["from"]), "envelope", data[:-64], data[-64:])
    return header, data[7:end], data[end:-64]


def _body(header: bytes, plaintext: bytes) -> dict[str, Any]:
    assert plaintext[:16] == hashlib.blake2b(header, digest_size=16, person=b"covey-mesh-head1").digest()
    body: dict[str, Any] = json.loads(plaintext[16:])
    return body


@pytest.mark.parametrize("member", [ALICE, BOB])
def test_a_second_implementation_derives_the_keys_of_a_member(member: dict[str, str]) -> None:
    seed = _nkey(member["seed"])
    signing = nacl.signing.SigningKey(seed)
    assert bytes(signing.verify_key).hex() == member["public"]
    assert _nkey(member["member"]).hex() == member["public"]
    private = hashlib.blake2b(seed, digest_size=32, person=b"covey-x25519-key").digest()
    assert private.hex() == member["x25519_private"]
    public = bytes(nacl.public.PrivateKey(private).public_key)
    assert public.hex() == member["x25519_public"]
    assert _base32(hashlib.blake2b(public).digest()[:8]) == member["key_id"]
    certificate = _record(member["certificate"], bytes(signing.verify_key), "certificate")
    assert certificate == {
        "member": member["member"],
        "key": base64.b64encode(public).decode(),
        "number": 1,
        "at": 1767225600.0,
    }


def test_a_second_implementation_reads_a_record() -> None:
    record = _record(VECTORS["record"]["wire"], bytes.fromhex(ALICE["public"]), "presence")
    assert record == {"mesh": MESH, "member": ALICE["member"], "state": "online", "at": 1767225600.0, "boot": "b1"}
    assert base64.b32decode(MESH.upper() + "====").hex() == VECTORS["authority"]["public"]


def _box() -> nacl.public.Box:
    return nacl.public.Box(
        nacl.public.PrivateKey(bytes.fromhex(BOB["x25519_private"])),
        nacl.public.PublicKey(bytes.fromhex(ALICE["x25519_public"])),
    )


def test_a_second_implementation_reads_a_direct_envelope() -> None:
    assert _box().shared_key().hex() == VECTORS["shared_key"]
    header, header_bytes, ciphertext = _envelope(bytes.fromhex(VECTORS["direct"]["envelope"]), 1)
    assert list(header) == ["mesh", "id", "from", "at", "ob", "n", "to", "fk", "tk"]
    assert _body(header_bytes, _box().decrypt(ciphertext)) == {
        "text": "héllo",
        "meta": {"k": 1},
        "priority": "now",
        "mentions": ["@bob"],
        "hops": 1,
        "agent": "reviewer",
    }


def test_a_second_implementation_reads_a_skip() -> None:
    header, _, ciphertext = _envelope(bytes.fromhex(VECTORS["skip"]["envelope"]), 1)
    assert (header["n"], header["skip"], ciphertext) == (2, True, b"")


def test_a_second_implementation_reads_a_grant_and_a_post() -> None:
    grant = _record(VECTORS["grant"]["wire"], bytes.fromhex(VECTORS["authority"]["public"]), "grant")
    assert (grant["member"], grant["epoch"]) == (BOB["member"], 3)
    secrets = json.loads(_box().decrypt(base64.b64decode(grant["box"])))
    name_key, secret = base64.b64decode(secrets["topic_name_key"]), base64.b64decode(secrets["secret"])
    for name, topic in VECTORS["epoch"]["topics"].items():
        token = _base32(hashlib.blake2b(name.encode(), key=name_key, digest_size=15).digest())
        key = hashlib.blake2b(token.encode(), key=secret, person=b"covey-topic-key1", digest_size=32).digest()
        assert {"token": token, "key": key.hex()} == topic
    header, header_bytes, ciphertext = _envelope(bytes.fromhex(VECTORS["topic"]["envelope"]), 2)
    assert list(header) == ["mesh", "id", "from", "at", "ob", "n", "topic", "epoch"]
    topic_key = bytes.fromhex(VECTORS["epoch"]["topics"]["news"]["key"])
    assert _body(header_bytes, nacl.secret.SecretBox(topic_key).decrypt(ciphertext)) == {"text": "hello"}
