"""The language of control mode: words out, blocks and notices in. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from covey.tmux.errors import TmuxProtocolError

OURS = 1
"""The flag of a block that answers a command of this client. Attaching and the user's hooks make blocks without it."""
_NEWLINES = re.compile(r"(\n+)")


class Block(NamedTuple):
    """What one command printed."""

    ok: bool
    ours: bool
    lines: list[str]


class Notice(NamedTuple):
    """Something that happened at the server: `%name rest`."""

    name: str
    rest: str


def quote(word: str) -> str:
    """One word as tmux reads it back unchanged from a command line."""
    if "\0" in word:
        raise ValueError("tmux cannot take a NUL")
    if word and "\n" not in word and "'" not in word:
        return f"'{word}'"
    parts = (
        '"' + "\\n" * len(part) + '"' if part.startswith("\n") else "'" + part.replace("'", "'\\''") + "'" for part in _NEWLINES.split(word) if part
    )
    return "".join(parts) or "''"


def line(words: tuple[str, ...]) -> bytes:
    """One command as control mode takes it."""
    if not words:
        raise ValueError("an empty line would detach the client")
    return (" ".join(map(quote, words)) + "\n").encode(errors="surrogateescape")


class Parser:
    """Bytes as they arrive, in any pieces, into blocks and notices."""

    def __init__(self) -> None:
        self._rest = b""
        self._ends: tuple[bytes, ...] = ()
        """The lines that may end the block at hand; none outside of blocks."""

    def feed(self, data: bytes) -> list[Block | Notice]:
        """What is complete with these bytes. Raises `TmuxProtocolError` if the stream has lost its order: nothing after that can be trusted."""
        rest, start = self._rest + data, 0
        found: list[Block | Notice] = []
        while True:
            # A block is cut out in one piece: screens make thousands of lines a second.
            place = _first_line(rest, start, self._ends) if self._ends else start
            end = rest.find(b"\n", place) if place >= 0 else -1
            if end < 0:
                self._rest = rest[start:]
                return found
            line = rest[place:end]
            if self._ends:
                lines = rest[start:place].decode(errors="backslashreplace").split("\n")[:-1]
                found.append(Block(line.startswith(b"%end"), line.endswith(b" %d" % OURS), lines))
                self._ends = ()
            elif line.startswith(b"%begin "):
                guard = line[len(b"%begin ") :]
                self._ends = (b"%end " + guard + b"\n", b"%error " + guard + b"\n")
            else:
                found.append(_notice(line))
            start = end + 1


def _first_line(text: bytes, start: int, wanted: tuple[bytes, ...]) -> int:
    """Where the first of these lines begins; -1 if there is none. Only the guard of a block itself ends it: a screen may show the text of another."""
    if text.startswith(wanted, start):
        return start
    first = len(text)
    for line in wanted:
        place = text.find(b"\n" + line, start, first)
        first = place + 1 if place >= 0 else first
    return first if first < len(text) else -1


def _notice(line: bytes) -> Notice:
    if not line.startswith(b"%") or line.startswith((b"%end ", b"%error ")):
        raise TmuxProtocolError(f"tmux sent a line that has no place: {line[:80]!r}")
    name, _, rest = line[1:].decode(errors="backslashreplace").partition(" ")
    return Notice(name, rest)
