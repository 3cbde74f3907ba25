"""What agents say, call and ask, as one line for a person."""

from __future__ import annotations

import re
from typing import Any

from covey.agents.json_values import json_list, json_object, string, text_of

LONGEST = 200
"""Characters of a summary: a line for a person, not a log."""
LINE_BREAK = "⏎"
PATHS = ("file_path", "filePath", "path", "notebook_path")
SUBJECTS = ("command", "cmd", *PATHS, "url", "pattern", "query")
"""Arguments of tools that say what a call is about, the best first."""
DESCRIPTIONS = ("description", "prompt", "message", "input")
"""Arguments that describe a call in words."""
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)+)"')
_STATUS = re.compile(r'"(?:code|status|statusCode)"\s*:\s*"?(\d{3})\b')


def one_line(value: object) -> str:
    """Return a text as one line of at most LONGEST characters."""
    line = " ".join(string(value)[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def excerpt(text: str, rest: str, longest: int = LONGEST) -> str:
    """Return a text for a person who decides on one line, with `⏎` for its line breaks: a comment ends there.

    If that is longer, its beginning, how much is missing, and what shows the rest.
    """
    line = f" {LINE_BREAK} ".join(filter(None, (" ".join(one.split()) for one in text.split("\n"))))
    if len(line) <= longest:
        return line
    return f"{line[:longest]}… ({len(line) - longest:,} more characters: {rest})"


def call_summary(tool: object, arguments: object, cwd: object = "") -> str:
    """Return a tool's name and what the call is about: `Bash: rm -rf build/`, `Write: notes.txt`."""
    name, given = string(tool), json_object(arguments)
    folder = f"{string(cwd).rstrip('/')}/"
    for key in (*SUBJECTS, *DESCRIPTIONS):
        value = string(given.get(key))
        if value:
            shown = value.removeprefix(folder) if key in PATHS and len(folder) > 1 else value
            return one_line(f"{name}: {shown}")
    return name


def input_summary(arguments: dict[str, Any]) -> str:
    """Return what a call is about, without the tool's name; the whole input if no argument says it."""
    subject = next((arguments[name] for name in SUBJECTS if arguments.get(name)), None)
    if subject is None:
        subject = arguments or ""
    line = " ".join(text_of(subject).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def question_text(arguments: object) -> str:
    """Return the text of the first question that a tool was given to ask."""
    given = json_object(arguments)
    first = json_object(next(iter(json_list(given.get("questions"))), {}))
    return one_line(first.get("question") or given.get("question") or given.get("message"))


def readable_error(value: object) -> str:
    """Return an error in words, e.g. `API Error 401: invalid key`.

    The JSON document of an API is replaced by its innermost message.
    """
    written = string(value)
    start = written.find("{")
    messages = _MESSAGE.findall(written[start:].replace('\\"', '"')) if start >= 0 else []
    if not messages:
        return one_line(written)
    label = written[:start].strip(" [:(")
    status = _STATUS.search(written, start)
    if status and status[1] not in label and status[1] not in messages[-1]:
        label = f"{label} {status[1]}".strip()
    return one_line(f"{label}: {messages[-1]}" if label else messages[-1])
