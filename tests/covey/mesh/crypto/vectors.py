"""Makes the test vectors of docs/reference/mesh-envelope.md from fixed seeds, nonces and times.

`python -m tests.covey.mesh.crypto.vectors` prints them. A change of vectors.json is a change of the wire.
"""

from __future__ import annotations

import json
from typing import Any

from covey.mesh.crypto.envelope import _seal
from covey.mesh.crypto.envelope_form import DIRECT, TOPIC, Body, DirectHeader, TopicHeader
from covey.mesh.crypto.identity import KeyPair, shared_key
from covey.mesh.crypto.nkeys import SIGNED_PREFIX, SigningKey, encode_mesh_id
from covey.mesh.crypto.records import Presence, sign_record
from covey.mesh.crypto.topic_keys import EpochSecret, _seal_grant, topic_key

AT = 1_767_225_600.0
TOPICS = ("*", "news", "überblick")
BODY = Body(text="héllo", meta={"k": 1}, priority="now", mentions=["@bob"], hops=1, agent="reviewer")


def make() -> dict[str, Any]:
    """Return all vectors. Bytes are hexadecimal, except signed records, which are text."""
    authority = SigningKey("A", bytes(range(32)))
    alice = KeyPair.from_identity(SigningKey("U", b"\1" * 32), AT)
    bob = KeyPair.from_identity(SigningKey("U", b"\2" * 32), AT)
    mesh = encode_mesh_id(authority.public_bytes)
    epoch = EpochSecret(epoch=3, secret=b"\3" * 32, topic_name_key=b"\4" * 32)
    common: dict[str, Any] = {
        "mesh": mesh,
        "id": "a" * 26,
        "from_": alice.member,
        "at": int(AT * 1000),
        "ob": "outbox-1",
        "n": 1,
    }
    ends: dict[str, Any] = {"to": bob.member, "fk": alice.current.key_id, "tk": bob.current.key_id}
    shared = shared_key(alice.current.private, bob.current.public)
    token = epoch.token("news")
    nonces = {"direct": b"\5" * 24, "topic": b"\6" * 24, "grant": b"\7" * 24}
    presence = Presence(mesh=mesh, member=alice.member, state="online", at=AT, boot="b1")
    return {
        "authority": {"seed": authority.seed, "public": authority.public_bytes.hex(), "mesh": mesh},
        "members": {name: _member(keys) for name, keys in (("alice", alice), ("bob", bob))},
        "shared_key": shared.hex(),
        "signature": {
            "signed": (SIGNED_PREFIX + b"presence\0" + b"data").hex(),
            "signature": alice.identity.sign("presence", b"data").hex(),
        },
        "record": {
            "domain": "presence",
            "by": "alice",
            "wire": sign_record(alice.identity, "presence", presence).decode(),
        },
        "epoch": {
            "epoch": epoch.epoch,
            "secret": epoch.secret.hex(),
            "topic_name_key": epoch.topic_name_key.hex(),
            "topics": {
                name: {"token": epoch.token(name), "key": topic_key(epoch, epoch.token(name)).hex()} for name in TOPICS
            },
        },
        "grant": {
            "from": "alice",
            "to": "bob",
            "nonce": nonces["grant"].hex(),
            "wire": _seal_grant(authority, alice, bob.public_keys, epoch, nonces["grant"]).decode(),
        },
        "direct": {
            "from": "alice",
            "to": "bob",
            "nonce": nonces["direct"].hex(),
            "envelope": _seal(
                alice.identity, DIRECT, DirectHeader(**common, **ends), BODY, shared, nonces["direct"]
            ).hex(),
        },
        "skip": {
            "from": "alice",
            "to": "bob",
            "envelope": _seal(
                alice.identity, DIRECT, DirectHeader(**{**common, "n": 2}, **ends, skip=True), None, shared, b""
            ).hex(),
        },
        "topic": {
            "from": "alice",
            "topic": "news",
            "nonce": nonces["topic"].hex(),
            "envelope": _seal(
                alice.identity,
                TOPIC,
                TopicHeader(**common, topic=token, epoch=epoch.epoch),
                Body(text="hello"),
                epoch.key(token),
                nonces["topic"],
            ).hex(),
        },
    }


def _member(keys: KeyPair) -> dict[str, str]:
    return {
        "seed": keys.identity.seed,
        "member": keys.member,
        "public": keys.identity.public_bytes.hex(),
        "x25519_private": keys.current.private.hex(),
        "x25519_public": keys.current.public.hex(),
        "key_id": keys.current.key_id,
        "certificate": keys.certificate.decode(),
    }


if __name__ == "__main__":
    print(json.dumps(make(), indent=2, ensure_ascii=False))
