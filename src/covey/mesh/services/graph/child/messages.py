"""What a peer asks the process of its engine, and what that answers: frames of JSON with their length before them."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
from msgspec import Struct

from covey.mesh.services.graph.engine import Answer, Applied, Facts, Position, Queued  # noqa: TC001 - msgspec reads it

LENGTH = struct.Struct(">I")
LARGEST_FRAME = 512 * 1024 * 1024


class Locate(Struct, frozen=True, tag=True):
    """How far was the log applied?"""


class Read(Struct, frozen=True, tag=True):
    """Execute a statement that reads."""

    statement: str
    params: dict[str, Any]
    limit: int
    deadline_s: float


class TryOut(Struct, frozen=True, tag=True):
    """Execute a statement that writes, and undo it."""

    entry: Queued
    deadline_s: float


class Apply(Struct, frozen=True, tag=True):
    """Execute entries of the log."""

    entries: list[Queued]
    answer_for: list[str]
    limit: int


class CountCrash(Struct, frozen=True, tag=True):
    """Note that an entry has crashed this process."""

    sequence: int


class Describe(Struct, frozen=True, tag=True):
    """What does the graph hold?"""


Request = Locate | Read | TryOut | Apply | CountCrash | Describe


class Reply(Struct, frozen=True, kw_only=True):
    """The answer to one request; `error` is a kind and a sentence if there is none."""

    error: tuple[str, str] | None = None
    position: Position | None = None
    answer: Answer | None = None
    applied: list[Applied] | None = None
    facts: Facts | None = None
    count: int = 0


STATEMENT, NOT_A_READ, FAULT, MEMORY = "statement", "not_a_read", "fault", "memory"

encode = msgspec.json.Encoder().encode
decode_request = msgspec.json.Decoder(Request).decode
decode_reply = msgspec.json.Decoder(Reply).decode


def frame(message: Request | Reply) -> bytes:
    """Return a message with its length."""
    data = encode(message)
    return LENGTH.pack(len(data)) + data
