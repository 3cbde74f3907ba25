"""Diagnostics on standard error: lines for people, deduplicated NDJSON for agents."""

from __future__ import annotations

import time
from _thread import allocate_lock

from murli._core.wire import encode, send, spelt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO


class Logger:
    """Writes messages to a stream.

    For agents, repeats of the same message are held back and written once, with their count.
    """

    def __init__(self, stream: TextIO | None, *, agent: bool, clock: Callable[[], float] = time.time) -> None:
        self._stream = stream
        self._agent = agent
        self._clock = clock
        self._held: dict[str, object] = {}
        self._lock = allocate_lock()

    def log(self, message: str, level: str = "info") -> None:
        """Write a message; for agents without ANSI escapes, and only when the next message differs or on `flush`."""
        if not self._agent:
            self._put(f"{message}\n")
            return
        message = strip_ansi(message)
        with self._lock:
            held = self._held
            if held and (held["level"], held["msg"]) == (level, message):
                held["repeated"] = int(str(held.get("repeated", 0))) + 1
                return
            self._write_held()
            self._held = {"level": level, "msg": message, "ts": self._now()}

    def progress(self, message: str) -> None:
        """A step of a longer job: over the same line on a terminal, a `progress` entry for agents."""
        if self._agent:
            self.log(message, "progress")
        elif self._stream is not None and self._stream.isatty():
            self._put(b"\r\x1b[K" + spelt(message, self._stream))

    def flush(self) -> None:
        """Write the entry that is held back."""
        with self._lock:
            self._write_held()

    def _write_held(self) -> None:
        if self._held:
            entry = {key: self._held[key] for key in sorted(self._held)}
            self._held = {}
            self._put(encode(entry, minified=True))

    def _put(self, data: str | bytes) -> None:
        """Write, or do without: a remark that cannot be written is no reason to fail."""
        if self._stream is None:
            return
        try:
            send(self._stream, spelt(data, self._stream) if isinstance(data, str) else data)
        except BrokenPipeError:
            raise
        except (OSError, ValueError):
            pass

    def _now(self) -> str:
        now = self._clock()
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"


def strip_ansi(text: str) -> str:
    """The text without terminal escape sequences."""
    if text.isprintable() or (text.isascii() and "\x1b" not in text):
        return text
    import re  # only text with escapes pays for it

    control = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    string = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"
    return re.sub(r"[\x1b\x80-\x9f]", "", re.sub(rf"{control}|{string}|\x1b[ -/]*[0-~]", "", text))
