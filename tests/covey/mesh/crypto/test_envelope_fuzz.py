"""Mutated envelopes are refused with an error of ours, and never with another one.

COVEY_FUZZ_ENVELOPES sets how many mutated envelopes of each kind are tried (20,000 unless told otherwise).
"""

from __future__ import annotations

import contextlib
import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.mesh.crypto.envelope import Body, Envelope, read_header
from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.crypto.nkeys import SIGNATURE_BYTES
from tests.covey.mesh.crypto.members import Mesh

ENVELOPES = int(os.environ.get("COVEY_FUZZ_ENVELOPES", "20000"))
PER_EXAMPLE = 100
MESH = Mesh()
SEALED = [
    MESH.direct(MESH.alice, MESH.bob, Body(text="hello", meta={"a": [1, 2]}, mentions=["@x"])),
    MESH.direct(MESH.alice, MESH.bob, Body(text="x" * 2000)),
    MESH.direct(MESH.alice, MESH.bob, None),
    MESH.post(MESH.alice, Body(text="hello everybody", priority="now")),
]
WORDS = [
    b'"n":', b'"skip":true', b'"', b"{", b"}", b"[", b"\\u0000", b"1e999", b"-1", b"9" * 400, b"null", b",", b"CVM1",
    MESH.alice.member.encode(), MESH.mallory.member.encode(), MESH.id.encode(), b"\0\xff", b"\n", b"\xed\xa0\x80",
]  # fmt: skip


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to four changes; they may cancel each other out."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        # Most changes are in the header and at its ends, where the structure is.
        place = chance.randrange(min(len(changed), 460) if chance.random() < 0.8 else len(changed)) if changed else 0
        kind = chance.randrange(7)
        if kind == 0 and changed:
            changed[place] ^= 1 << chance.randrange(8)
        elif kind == 1 and changed:
            changed[place] = chance.randrange(256)
        elif kind == 2:
            changed[place : place + chance.randint(0, 40)] = b""
        elif kind == 3:
            changed[place:place] = chance.choice(WORDS)
        elif kind == 4:
            word = chance.choice(WORDS)
            changed[place : place + len(word)] = word
        elif kind == 5:
            other = chance.choice(SEALED)
            changed[place:] = other[chance.randrange(len(other)) :]
        else:
            changed[5:7] = chance.choice([len(changed), place, 0, 0xFFFF]).to_bytes(4)[-2:]
    return bytes(changed)


def opened(data: bytes) -> list[Envelope]:
    """Return what is accepted of the bytes on the subjects of a direct message and of a topic."""
    accepted = []
    with contextlib.suppress(MeshCryptoError):
        accepted.append(MESH.open(data, MESH.bob, MESH.alice))
    with contextlib.suppress(MeshCryptoError):
        accepted.append(MESH.open_post(data, MESH.alice))
    return accepted


FUZZ = settings(
    max_examples=max(1, ENVELOPES // PER_EXAMPLE),
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(1800)
@FUZZ
@given(st.integers(0, 2**64))
def test_a_mutated_envelope_is_never_accepted_and_never_crashes_the_reader(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(PER_EXAMPLE):
        data = mutated(chance.choice(SEALED), chance)
        accepted = opened(data)
        assert not accepted or data in SEALED


@pytest.mark.timeout(1800)
@FUZZ
@given(st.integers(0, 2**64))
def test_a_mutated_envelope_with_a_good_signature_never_crashes_the_reader(seed: int) -> None:
    """A hostile member signs what it likes: this gets past the signature to keys, boxes and headers."""
    chance = random.Random(seed)
    for _ in range(PER_EXAMPLE):
        signed = mutated(chance.choice(SEALED)[:-SIGNATURE_BYTES], chance)
        data = signed + MESH.alice.identity.sign("envelope", signed)
        for envelope in opened(data):
            assert data in SEALED or envelope.skip  # only a skip has nothing that the box protects


@given(st.binary(max_size=600))
def test_bytes_at_random_are_refused(data: bytes) -> None:
    for start in (b"", b"CVM1", b"CVM1\1", b"CVM1\2\0\2{}"):
        with pytest.raises(MeshCryptoError):
            read_header(start + data)
        assert opened(start + data) == []


def test_mutations_reach_every_depth() -> None:
    """The fuzzing would prove nothing if every mutation already failed at the first check."""
    chance = random.Random(5)
    reasons: set[tuple[str, str]] = set()
    for number in range(6000):
        data = mutated(chance.choice(SEALED), chance)
        if number % 2:
            data = data[:-SIGNATURE_BYTES]
            data += MESH.alice.identity.sign("envelope", data)
        try:
            MESH.open(data, MESH.bob, MESH.alice)
        except MeshCryptoError as error:
            reasons.add((error.error, error.message.split(" has ")[0][:60]))
    assert {code for code, _ in reasons} >= {"mesh_forged", "mesh_malformed", "mesh_unknown_key", "mesh_wrong_mesh"}
    assert len(reasons) >= 12, sorted(reasons)
