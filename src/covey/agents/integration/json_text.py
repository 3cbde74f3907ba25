"""JSON as the text that a person wrote: where each value stands, and edits that leave every other byte alone.

The standard library is the judge of what the text means: it finds the end of every value that we do not look into.
Comments, where an agent allows them, are blanked out first, sign by sign, so that every position in what is left is a
position in the text.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*[\s\S]*?\*/')
_TRAILING = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_LINE_INDENT = re.compile(r"[ \t]*")


class Span(NamedTuple):
    """The place of a member of an object, or of an item of a list: from its name to the end of its value.

    The name of an item is its number.
    """

    name: str | int
    start: int
    value: int
    end: int


def blanked(text: str) -> str:
    """The text with spaces in place of comments and of commas that nothing follows."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return _TRAILING.sub(blank, _COMMENT.sub(blank, text))


def parsed(text: str) -> Any:
    """What the text says; a ValueError or RecursionError if it is no JSON, in which there is no NaN."""
    return json.loads(text, parse_constant=_no_number)


class Text:
    """A text that is being edited. It must be valid when it comes; every edit leaves it valid."""

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self.text = text
        self._comments = comments
        self._read()

    @property
    def value(self) -> Any:
        return parsed(self._plain)

    def spans(self, *path: str | int) -> list[Span]:
        """The parts of the object or list at a path, in order; none where there is no such thing."""
        at = self._find(path)
        return self._parts(at) if at is not None and self._plain[at] in "{[" else []

    def put(self, path: tuple[str | int, ...], name: str, value: object) -> None:
        """Add a member at the end of the object at the path."""
        self._add(path, f"{json.dumps(name)}:{'' if self._compact else ' '}", value)

    def append(self, path: tuple[str | int, ...], value: object) -> None:
        """Add an item at the end of the list at the path."""
        self._add(path, "", value)

    def delete(self, path: tuple[str | int, ...]) -> None:
        """Take out a member or an item, with the comma and the space that belonged to it."""
        parts = self.spans(*path[:-1])
        place = max(place for place, part in enumerate(parts) if part.name == path[-1])
        if place > 0:
            start, end = parts[place - 1].end, parts[place].end
        elif len(parts) > 1:
            start, end = parts[0].start, parts[1].start
        else:
            start = parts[0].start - len(self._plain[: parts[0].start]) + len(self._plain[: parts[0].start].rstrip())
            end = self._skip(parts[0].end)
            if (
                self.text[start:end].strip() != self._plain[start:end].strip()
            ):  # a comment stands there: it is the user's
                start, end = parts[0].start, parts[0].end
        self._change(start, end, "")

    def _add(self, path: tuple[str | int, ...], prefix: str, value: object) -> None:
        at = self._find(path)
        assert at is not None
        parts = self._parts(at)
        end = self._end(at) - 1
        spread = "\n" in self._plain[at:end] if parts else not self._compact
        line = self._plain.rfind("\n", 0, parts[0].start if parts else at) + 1
        indent = _LINE_INDENT.match(self._plain, line)[0]  # type: ignore[index]  # it matches nothing at least
        inner = indent if parts else indent + self._unit
        dumped = json.dumps(
            value,
            indent=self._unit if spread else None,
            ensure_ascii=False,
            separators=(",", ":") if self._compact else None,
        )
        written = prefix + (dumped.replace("\n", f"{self._newline}{inner}") if spread else dumped)
        gap = f"{self._newline}{inner}" if spread else "" if self._compact or not parts else " "
        if parts:
            self._change(parts[-1].end, parts[-1].end, f",{gap}{written}")
        elif self.text[at + 1 : end].strip():  # a comment, and nothing else
            self._change(end, end, f"{gap}{written}{self._newline}{indent}")
        else:
            self._change(at + 1, end, f"{gap}{written}{self._newline + indent if spread else ''}")

    def _change(self, start: int, end: int, new: str) -> None:
        self.text = self.text[:start] + new + self.text[end:]
        self._read()

    def _read(self) -> None:
        self._plain = blanked(self.text) if self._comments else self.text
        parsed(self._plain)
        found = _INDENT.search(self._plain)
        self._unit = found[1] if found else "  "
        self._newline = "\r\n" if "\r\n" in self.text else "\n"
        self._compact = "\n" not in self.text.strip() and not re.fullmatch(r"\{\s*\}", self._plain.strip())

    def _find(self, path: tuple[str | int, ...]) -> int | None:
        at = self._skip(0)
        for name in path:
            found = [part.value for part in (self._parts(at) if self._plain[at] in "{[" else []) if part.name == name]
            if not found:
                return None
            at = found[-1]  # of two with the same name, readers take the last
        return at

    def _parts(self, at: int) -> list[Span]:
        parts: list[Span] = []
        listed = self._plain[at] == "["
        at = self._skip(at + 1)
        while self._plain[at] not in "}]":
            start = at
            name: str | int = len(parts)
            if not listed:
                name, at = json.decoder.scanstring(self._plain, at + 1)  # type: ignore[attr-defined]
                at = self._skip(self._skip(at) + 1)
            end = self._end(at)
            parts.append(Span(name, start, at, end))
            at = self._skip(end)
            if self._plain[at] == ",":
                at = self._skip(at + 1)
        return parts

    def _end(self, at: int) -> int:
        return json.JSONDecoder().raw_decode(self._plain, at)[1]

    def _skip(self, at: int) -> int:
        return _SPACE.match(self._plain, at).end()  # type: ignore[union-attr]  # it matches nothing at least


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
