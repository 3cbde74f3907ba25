"""Entries of the log: a statement with what it needs, sealed for all members and signed by whoever wrote it.

They are in the stream GRAPH in the order in which the broker has stored them, each under the subject of its author.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from covey.mesh.crypto.envelope import open_topic, read_header, seal_topic
from covey.mesh.crypto.envelope_form import Body, TopicHeader
from covey.mesh.crypto.errors import MalformedError, UnknownKeyError
from covey.mesh.crypto.shared_keys import document_key, shared_key
from covey.mesh.services.document import document_token

if TYPE_CHECKING:
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.crypto.topic_keys import EpochSecret
    from covey.mesh.directory.directory import Directory

SERVICE, LOG = "graph", "log"
WRITER = "graph"
"""What stands in the header of an envelope for the outbox: entries come from none."""


class Entry(Struct, frozen=True, kw_only=True):
    """One statement that writes: `meta` of the envelope's body, without the id."""

    engine: str
    """The engine that its author has, with which alone it means the same."""
    statement: str
    params: dict[str, Any]
    now_ms: int
    """What every function of time returns in it."""


class OpenedEntry(Struct, frozen=True, kw_only=True):
    """An entry that was verified, with its author and its id."""

    id: str
    author: str
    entry: Entry


def entry_subject(member: str) -> str:
    """Return the subject of what a member writes."""
    return f"g.{member}"


def seal_entry(keys: KeyPair, epoch: EpochSecret, mesh: str, entry: Entry, *, id_: str, now: float) -> bytes:
    """Return an entry, sealed. Raises MalformedError if it is too large."""
    token = document_token(SERVICE, LOG, epoch.topic_name_key)
    return seal_topic(
        keys,
        mesh=mesh,
        id=id_,
        at_ms=int(now * 1000),
        ob=WRITER,
        n=1,
        token=token,
        epoch=epoch.epoch,
        topic_key=document_key(shared_key(epoch), token),
        body=Body(text="", meta=msgspec.to_builtins(entry)),
    )


def open_entry(subject: str, wire: bytes, directory: Directory) -> OpenedEntry:
    """Return what was written under a subject.

    Raises MeshCryptoError if it was not written by the member of its subject for the log; UnknownKeyError if that may
    be seen when more is known of the members and the keys.
    """
    header = read_header(wire)
    if not isinstance(header, TopicHeader):
        raise MalformedError("the envelope is a direct one, and came as an entry of the graph")
    if header.from_ not in directory.members:
        raise UnknownKeyError(f"{header.from_[:8]} is not known to be a member")
    key = directory.shared_key(header.epoch)
    if key is None or directory.epoch is None:
        raise UnknownKeyError(f"the shared key of epoch {header.epoch} was not granted to this member")
    token = document_token(SERVICE, LOG, directory.epoch.topic_name_key)
    envelope = open_topic(
        wire,
        mesh=directory.mesh,
        subject_from=subject.partition(".")[2],
        subject_token=token,
        topic_key=document_key(key, token),
    )
    assert envelope.body is not None
    try:
        entry = msgspec.convert(envelope.body.meta, Entry)
    except msgspec.MsgspecError:
        raise MalformedError("the envelope does not hold an entry of the graph") from None
    return OpenedEntry(id=header.id, author=header.from_, entry=entry)
