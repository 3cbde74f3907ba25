"""Reading what agents write without believing in its form: whatever comes, a value comes out, and nothing raises."""

from __future__ import annotations

import glob
import hashlib
import json
import re
from datetime import datetime
from typing import Any

LONGEST = 200
"""Characters of a detail: a line for a person, not a log."""
TELLING = (
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "url",
    "pattern",
    "query",
    "description",
    "prompt",
    "message",
    "input",
)
"""Arguments of tools by how well they tell what the call is about."""
PATHS = frozenset({"file_path", "filePath", "path", "notebook_path"})
PLAIN = re.compile(r"[\w.-]{1,200}", re.ASCII)


def fields(value: object) -> dict[str, Any]:
    """A JSON object; an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def entries(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def parse(line: str) -> dict[str, Any]:
    """A line of JSON; an empty object if it is none, or was cut."""
    try:
        return fields(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def moment(value: object) -> float | None:
    """Seconds since 1970 of an ISO time or of milliseconds."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e15:  # noqa: PLR2004 - far enough; beyond floats lose milliseconds
        return value / 1000
    return None


def brief(value: object) -> str:
    """A text as one line that fits."""
    line = " ".join(text(value)[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)+)"')
_STATUS = re.compile(r'"(?:code|status|statusCode)"\s*:\s*"?(\d{3})\b')


def readable_error(value: object) -> str:
    """Return an error in words, e.g. `API Error 401: invalid key`: the JSON document of an API gives way to its innermost message."""
    said = text(value)
    start = said.find("{")
    messages = _MESSAGE.findall(said[start:].replace('\\"', '"')) if start >= 0 else []
    if not messages:
        return brief(said)
    label = said[:start].strip(" [:(")
    status = _STATUS.search(said, start)
    if status and status[1] not in label and status[1] not in messages[-1]:
        label = f"{label} {status[1]}".strip()
    return brief(f"{label}: {messages[-1]}" if label else messages[-1])


def action(tool: object, arguments: object, cwd: object = "") -> str:
    """A call of a tool for people: `Bash: rm -rf build/`, `Write: notes.txt`."""
    name, given = text(tool), fields(arguments)
    for key in TELLING:
        value = text(given.get(key))
        if value:
            folder = f"{text(cwd).rstrip('/')}/"
            return brief(f"{name}: {value.removeprefix(folder) if key in PATHS and len(folder) > 1 else value}")
    return name


def question(arguments: object) -> str:
    """The text of the first question that a tool was given to ask."""
    given = fields(arguments)
    first = fields(next(iter(entries(given.get("questions"))), {}))
    return brief(first.get("question") or given.get("question") or given.get("message"))


def spot(folder: str, pattern: str) -> str:
    """A pattern below a folder, whatever characters the folder has."""
    return f"{glob.escape(folder)}/{pattern}"


def plain(name: object) -> str:
    """An id that may be part of a path; nothing if it is none."""
    known = text(name)
    return known if PLAIN.fullmatch(known) and not known.startswith(".") else ""


def canonical(value: object) -> bytes:
    """The same bytes for the same value."""
    try:
        return json.dumps(value, sort_keys=True, default=str).encode()
    except (ValueError, TypeError, RecursionError):  # no JSON, or too deep to be anybody's
        return repr(type(value)).encode()


def dedupe(payload: object, at: float, *, session: str, event: str, own: object = "") -> str:
    """A key for an event: by an id of its own if it has one, otherwise by all that it says and when it was caught."""
    known = plain(own) or f"{hashlib.blake2b(canonical(payload), digest_size=8).hexdigest()}@{at:.3f}"
    return f"{session}/{event}/{known}"
