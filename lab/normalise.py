"""Captures made readable and equal on every machine: ordered placeholders replace paths, pids, ports, ids and times."""

from __future__ import annotations

import getpass
import json
import re
import socket
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
LONGEST = 300
"""Longer strings are cut: captures show states, not prompts."""
UUID = re.compile(r"(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
HEX = re.compile(r"(?<![0-9a-f])[0-9a-f]{32,64}\b")  # an escape may stand right before it
TAGGED = re.compile(
    r"\b(msg|toolu|call|resp|rs|fc|ses|prt|per|que|tool|evt|wrk|snapshot|req|chatcmpl)[_-][0-9A-Za-z]{16,}\b"
)
ISO = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
MILLISECONDS = re.compile(r"\b1[789]\d{11}\b")
SECONDS = re.compile(r"\b1[789]\d{8}(?:\.\d+)?\b")
CLOCK = re.compile(r"\b\d?\d:\d\d [AP]M\b")
SGR = r"\x1b\[[0-9;:]*m"
CUT_ROOT = re.compile(rf"{re.escape(tempfile.gettempdir())}/covey-lab[\w-]*")
"""The beginning of the folder of a run, which a narrow screen has cut or wrapped.

Its width is kept, so that frames stay straight.
"""
PORT = re.compile(r"\b127\.0\.0\.1:\d{4,5}\b")


class Normaliser:
    """Normalises all files of a run, so that equal values stay equal across them."""

    def __init__(self, root: Path, program: Path, began: float, pids: Iterable[int]) -> None:
        began_at = datetime.fromtimestamp(began, tz=UTC)
        self._shift = EPOCH - began_at
        install = str(program.parents[2])
        self._words = [
            (str(root), "/lab"),
            (re.sub(r"[/._]", "-", str(root)), "-lab"),
            (str(root.parent), "/lab"),  # where an agent has shortened the middle of a path
            (str(Path(sys.executable).parent), "/opt/covey/bin"),
            (str(Path(__file__).parents[1]), "/opt/covey"),
            (install, "/opt/agent"),
            (str(program.resolve().parent), "/opt/agent/bin"),
            (socket.gethostname(), "host"),
            (f"{getpass.getuser()}@", "user@"),
        ]
        self._pids = {pid: 1000 + place for place, pid in enumerate(dict.fromkeys(pids))}
        self._ids: dict[str, str] = {}

    def pid(self, pid: int) -> int:
        return self._pids.setdefault(pid, 1000 + len(self._pids))

    def text(self, text: str) -> str:
        for word, other in self._words:
            text = text.replace(word, other)
        text = CUT_ROOT.sub(lambda found: "/lab".ljust(len(found[0])), text)
        for pid, other_pid in self._pids.items():
            text = re.sub(rf"(?<![\w.-])(?<!\d:){pid}(?![\w:-])", str(other_pid), text)
        text = UUID.sub(lambda found: self._id(found[0].lower(), "00000000-0000-4000-8000-{:012d}"), text)
        text = TAGGED.sub(lambda found: self._id(found[0], f"{found[1]}_{{:016d}}"), text)
        text = HEX.sub(lambda found: self._id(found[0], f"{{:0{len(found[0])}d}}"), text)
        text = ISO.sub(self._iso, text)
        text = MILLISECONDS.sub(lambda found: str(int(found[0]) + round(self._shift / timedelta(milliseconds=1))), text)
        text = SECONDS.sub(self._seconds, text)
        text = CLOCK.sub(lambda found: "12:00 AM".rjust(len(found[0]))[-len(found[0]) :], text)
        return PORT.sub("127.0.0.1:8787", text)

    def escapes(self, text: str) -> str:
        """Normalise a screen with its escapes, after its text: an id may be drawn letter by letter in a gradient."""
        text = self.text(text)
        for found, other in self._ids.items():
            text = re.sub(f"(?:{SGR})*".join(map(re.escape, found)), other, text)
        return text

    def line(self, line: str) -> str:
        """Normalise a line of JSON, with long strings cut; a line that is not JSON is treated as text."""
        try:
            return json.dumps(self._value(json.loads(line)), ensure_ascii=False)
        except ValueError:
            return self.text(line)

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                text = self.text(value)
                return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
            case list():
                return [self._value(one) for one in value]
            case dict():
                return {self.text(key): self._value(one) for key, one in value.items()}
            case bool() | None:
                return value
            case int() | float():
                return json.loads(self.text(json.dumps(value)))
        return value

    def _id(self, found: str, form: str) -> str:
        return self._ids.setdefault(found, form.format(len(self._ids) + 1))

    def _iso(self, found: re.Match[str]) -> str:
        text = found[0]
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return text
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        shifted = (aware + self._shift).astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
        return f"{shifted}Z"

    def _seconds(self, found: re.Match[str]) -> str:
        shifted = float(found[0]) + self._shift.total_seconds()
        return f"{shifted:.3f}" if "." in found[0] else f"{shifted:.0f}"
