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
        self._lines: list[str] = []

    def feed(self, data: bytes) -> list[Block | Notice]:
        """What is complete with these bytes. Raises `TmuxProtocolError` if the stream has lost its order: nothing after that can be trusted."""
        *lines, self._rest = (self._rest + data).split(b"\n") if b"\n" in data else (self._rest + data,)
        found: list[Block | Notice] = []
        for line in lines:
            # Only the guard of this very block ends it: a screen may show the text of a block.
            if self._ends and line not in self._ends:  # thousands of lines a second come this way
                self._lines.append(line.decode(errors="backslashreplace"))
            elif one := self._line(line):
                found.append(one)
        return found

    def _line(self, line: bytes) -> Block | Notice | None:
        if self._ends:
            block = Block(line.startswith(b"%end"), line.endswith(b" %d" % OURS), self._lines)
            self._ends, self._lines = (), []
            return block
        if line.startswith(b"%begin "):
            guard = line[len(b"%begin ") :]
            self._ends = (b"%end " + guard, b"%error " + guard)
            return None
        if not line.startswith(b"%") or line.startswith((b"%end ", b"%error ")):
            raise TmuxProtocolError(f"tmux sent a line that has no place: {line[:80]!r}")
        name, _, rest = line[1:].decode(errors="backslashreplace").partition(" ")
        return Notice(name, rest)
