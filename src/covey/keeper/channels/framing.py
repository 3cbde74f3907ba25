"""Messages out of the bytes of a FIFO. No IO.

For its users: a line is a message, as it is or as a JSON object; a message of several lines stands between two NULs.
The first NUL may be left out if the text comes in one write of at most PIPE_BUF bytes and nobody else writes then;
bash's own `printf` writes line by line, so there it may not.

In detail:

- A line that begins with `{` is a JSON object with `content`, and is refused if it is anything else. Other lines are
  plain text. Empty ones are nothing.
- A NUL at the beginning of a line begins a message that lasts to the next NUL, however many pieces it comes in.
- A NUL behind a text ends it; the plain lines just before it, in the same piece, belong to it too.
- When all writers have closed, a last line without a line break is a message. A text of at most PIPE_BUF bytes is one
  already when nothing has followed for a moment. A longer one, an object or a text behind a NUL waits for its end.
- Writers cannot be told apart. Up to PIPE_BUF bytes the kernel keeps each write together; longer ones of several
  writers may be mixed unless they lock the FIFO. A mixed JSON object is refused with its remains; mixed plain text
  cannot be recognised.
"""

from __future__ import annotations

import select
from typing import Any

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder

from covey.keeper.channels.message import NAME_RULE, Message, is_channel_name

_NUL, _BREAK, _BRACE = b"\0", b"\n", b"{"
_SHOWN = 200
"""Characters of a refused message that are kept for the log."""
_SHOWN_BYTES = 4 * _SHOWN
_LATEST = 253_402_300_799.0
"""The end of the year 9999: a `ts` beyond it is not in seconds."""


class Refused(Struct, frozen=True, kw_only=True):
    """Bytes that are not a message."""

    why: str
    beginning: str
    """The first characters, for a log line."""


class _Line(Struct):
    content: str
    channel: str | None = None
    ts: float | None = None
    meta: dict[str, Any] | None = None


_decoder = Decoder(_Line)


class Framing:
    """Cuts the bytes of one FIFO into messages. It holds at most `longest` bytes of an unfinished one."""

    def __init__(self, channel: str, *, longest: int) -> None:
        self._channel = channel
        self._longest = longest
        self._unfinished = bytearray()
        self._framed = False
        """The unfinished message began with a NUL."""
        self._skipping = False
        """It was refused as too long; the rest is left out."""
        self._torn = False
        """A line was refused that looks like a part of an object: the other parts may follow."""

    @property
    def is_waiting(self) -> bool:
        """Whether `pause` may have something to do."""
        return self._torn or bool(self._unfinished)

    def feed(self, data: bytes, now: float) -> list[Message | Refused]:
        """Take more bytes and return what they finish, in order."""
        found: list[Message | Refused] = []
        *ended, last = data.split(_NUL)
        for part, nul in [*((part, True) for part in ended), *([(last, False)] if last else [])]:
            if self._framed:
                found += self._add(part)
                if nul:
                    found += self._finish(now)
                    self._framed = False
            elif not nul:
                found += self._lines(part, now)
            elif part.endswith(_BREAK) or not (part or self._unfinished or self._skipping):
                found += self._lines(part, now)
                self._framed = True
            else:
                found += self._lines_up_to_nul(part, now)
        return found

    def end(self, now: float) -> list[Message | Refused]:
        """Return what is left when all writers have closed. What comes next is a new message."""
        if self._framed:
            return self._give_up("it began with a NUL, and its writer closed the channel before the one that ends it")
        found = self._finish(now)
        self._torn = False
        return found

    def pause(self, now: float) -> list[Message | Refused]:
        """Return what can be taken as whole when nothing has come for a moment, though writers may be there."""
        self._torn = False
        is_object = self._unfinished.startswith(_BRACE)
        if self._framed or self._skipping or is_object or len(self._unfinished) > select.PIPE_BUF:
            return []
        return self._finish(now)

    def cut(self, now: float) -> list[Message | Refused]:
        """Return what is left when reading stops though writers may be there; unfinished messages are refused."""
        return [*self.pause(now), *self._give_up("reading of the channel stopped before its end")]

    def _lines(self, data: bytes, now: float) -> list[Message | Refused]:
        found: list[Message | Refused] = []
        *lines, rest = data.split(_BREAK)
        for line in lines:
            found += self._whole(line, now)
        return found + self._add(rest)

    def _lines_up_to_nul(self, data: bytes, now: float) -> list[Message | Refused]:
        """Take lines of which the last ends with a NUL and has the plain ones before it with it."""
        found: list[Message | Refused] = []
        if self._skipping:
            _, _, data = data.partition(_BREAK)
            self._skipping = False
        lines = (bytes(self._unfinished) + data).split(_BREAK)
        self._unfinished = bytearray()
        together: list[bytes] = []
        for line in lines:
            if not line.startswith(_BRACE):
                together.append(line)
                continue
            found += self._whole(_BREAK.join(together), now)
            found += self._whole(line, now)
            together = []
        return found + self._whole(_BREAK.join(together), now)

    def _whole(self, data: bytes, now: float) -> list[Message | Refused]:
        return [*self._add(data), *self._finish(now)]

    def _add(self, data: bytes) -> list[Refused]:
        """Add to the unfinished message. Returns one refusal when that becomes too long."""
        if self._skipping:
            return []
        self._unfinished += data
        if len(self._unfinished) <= self._longest:
            return []
        refused = _refused(f"it is longer than {self._longest} bytes", self._unfinished)
        self._torn = self._torn or (self._unfinished.startswith(_BRACE) and not self._framed)
        self._unfinished = bytearray()
        self._skipping = True
        return [refused]

    def _give_up(self, why: str) -> list[Message | Refused]:
        refused = [_refused(why, self._unfinished)] if self._unfinished.strip() else []
        self._unfinished = bytearray()
        self._framed = self._skipping = self._torn = False
        return [*refused]

    def _finish(self, now: float) -> list[Message | Refused]:
        """Return the unfinished message, which is whole now; nothing if it is blank or was refused already."""
        data = bytes(self._unfinished)
        self._unfinished = bytearray()
        self._skipping = False
        try:
            text = data.decode().strip("\r\n")
        except UnicodeDecodeError as error:
            return [_refused(f"it is not UTF-8: {error.reason}", data)]
        if not text.strip():
            return []
        if data.startswith(_BRACE):
            return [self._object(data, now)]
        if self._torn and not self._framed and text.rstrip().endswith("}"):
            return [_refused("it looks like the rest of a JSON object that was mixed with other messages", data)]
        return [Message(channel=self._channel, content=text, at=now)]

    def _object(self, data: bytes, now: float) -> Message | Refused:
        try:
            line = _decoder.decode(data)
        except ValidationError as error:
            return _refused(f"it begins with {{ and is not a message: {error}", data)
        except (DecodeError, RecursionError) as error:
            self._torn = not self._framed
            return _refused(f"it begins with {{ and is not a JSON object: {error}", data)
        if not line.content.strip():
            return _refused("its content is empty", data)
        named = self._channel if line.channel is None else line.channel
        if not is_channel_name(named):
            return _refused(f"its channel is not a name: use {NAME_RULE}", data)
        at = now if line.ts is None else line.ts
        if not 0 <= at <= _LATEST:
            return _refused("its ts is not in seconds since 1970", data)
        claimed = "" if named == self._channel else named
        return Message(channel=self._channel, claimed=claimed, content=line.content, at=at, meta=line.meta or {})


def _refused(why: str, data: bytes | bytearray) -> Refused:
    return Refused(why=why, beginning=bytes(data[:_SHOWN_BYTES]).decode(errors="replace")[:_SHOWN])
