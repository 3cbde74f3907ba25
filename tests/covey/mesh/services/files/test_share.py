"""What is shared with some is read by them alone, and what a hostile document says is refused."""

from __future__ import annotations

import os
from typing import Any

import msgspec
import pytest

from covey.mesh.crypto.errors import ForgedError, MalformedError, UnknownKeyError
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.nkeys import SigningKey, encode_mesh_id
from covey.mesh.directory.directory import Directory
from covey.mesh.services.files.chunks import new_id, open_chunk, seal_chunk
from covey.mesh.services.files.share import Content, Share, read_content, share_for, share_for_all

ANNA, BOB, CARL = (KeyPair.generate(0.0) for _ in range(3))
BLOB = f"{ANNA.member}.{new_id()}"
CONTENT = Content(name="report.pdf", size=600_000, sha256="ab" * 32, key=os.urandom(32), message="look")


class KnownKeys(Directory):
    """A directory that knows the keys of some, without their profiles."""

    def __init__(self, keys: KeyPair) -> None:
        authority = SigningKey.generate("A").public_bytes
        super().__init__(encode_mesh_id(authority), authority, keys)

    def key_of(self, member: str, key_id: str) -> bytes | None:
        known = [one.public_keys for one in (ANNA, BOB)]
        return next((one.key for one in known if (one.member, one.key_id) == (member, key_id)), None)


def read(share: Share, keys: KeyPair, author: KeyPair = ANNA) -> Content | None:
    stored = Share.from_value(msgspec.json.decode(msgspec.json.encode(share.as_value())))
    assert stored is not None
    return read_content(stored, author.member, keys, KnownKeys(keys))


def test_its_author_and_those_it_is_for_read_it() -> None:
    share = share_for(BLOB, CONTENT, None, ANNA, [BOB.public_keys])
    assert read(share, ANNA) == read(share, BOB) == CONTENT
    assert read(share, CARL) is None
    assert b"report" not in msgspec.json.encode(share.as_value())
    assert read(share_for_all(BLOB, CONTENT, 5.0), CARL) == CONTENT


def test_it_is_read_after_its_reader_has_rotated_its_keys() -> None:
    share = share_for(BLOB, CONTENT, None, ANNA, [BOB.public_keys])
    assert read(share, BOB.rotated(10.0)) == CONTENT
    with pytest.raises(UnknownKeyError):
        read(share, KeyPair.from_identity(BOB.identity, 0.0).rotated(0.0).rotated(1e9))


def test_what_was_sealed_for_another_content_or_by_another_is_refused() -> None:
    share = share_for(BLOB, CONTENT, None, ANNA, [BOB.public_keys])
    other = msgspec.structs.replace(share, blob=f"{ANNA.member}.{new_id()}")
    with pytest.raises(ForgedError):
        read(other, BOB)
    with pytest.raises(UnknownKeyError):
        read(share, BOB, author=CARL)
    with pytest.raises(MalformedError):
        read(msgspec.structs.replace(share, chunks=7), BOB)


@pytest.mark.parametrize(
    "changed",
    [{"blob": "../x"}, {"chunks": -1}, {"chunks": 1 << 40}, {"to": "all"}, {"keys": [1]}, {"content": {"name": "x"}}],
)
def test_a_document_that_is_none_of_a_file_is_not_taken_for_one(changed: dict[str, Any]) -> None:
    assert Share.from_value({**share_for_all(BLOB, CONTENT, None).as_value(), **changed}) is None


def test_a_chunk_is_opened_in_its_place_alone() -> None:
    wire = seal_chunk(CONTENT.key, BLOB, 3, b"data")
    assert open_chunk(CONTENT.key, BLOB, 3, wire) == b"data"
    for key, blob, number, given in (
        (os.urandom(32), BLOB, 3, wire),
        (CONTENT.key, BLOB, 4, wire),
        (CONTENT.key, f"{BLOB[:-1]}{'b' if BLOB.endswith('a') else 'a'}", 3, wire),
        (CONTENT.key, BLOB, 3, wire[:-1]),
        (CONTENT.key, BLOB, 3, b""),
    ):
        with pytest.raises(ForgedError):
            open_chunk(key, blob, number, given)
