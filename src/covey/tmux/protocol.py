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
        self._guard: bytes | None = None
        self._lines: list[str] = []

    def feed(self, data: bytes) -> list[Block | Notice]:
        """What is complete with these bytes. Raises `TmuxProtocolError` if the stream has lost its order: nothing after that can be trusted."""
        *lines, self._rest = (self._rest + data).split(b"\n") if b"\n" in data else (self._rest + data,)
        return [found for found in map(self._line, lines) if found is not None]

    def _line(self, line: bytes) -> Block | Notice | None:
        if self._guard is not None:
            word, _, guard = line.partition(b" ")
            # Only the guard of this very block ends it: a screen may show the text of a block.
            if guard != self._guard or word not in (b"%end", b"%error"):
                self._lines.append(line.decode(errors="backslashreplace"))
                return None
            block = Block(word == b"%end", guard.endswith(b" %d" % OURS), self._lines)
            self._guard, self._lines = None, []
            return block
        if line.startswith(b"%begin "):
            self._guard = line[len(b"%begin ") :]
            return None
        if not line.startswith(b"%") or line.startswith((b"%end ", b"%error ")):
            raise TmuxProtocolError(f"tmux sent a line that has no place: {line[:80]!r}")
        name, _, rest = line[1:].decode(errors="backslashreplace").partition(" ")
        return Notice(name, rest)
