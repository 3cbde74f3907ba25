"""Edits of a TOML text that leave every other byte alone, and the line at which each statement stands.

`tomllib` decides what the text means: a statement ends on the first line at which it parses by itself, and its value
where the rest is a comment. That is exact, needs no grammar of our own, and avoids tomlkit (100 ms to import, and it
places new keys behind the comment of the next section).
"""

from __future__ import annotations

import tomllib
from typing import Any, NamedTuple

LONGEST_STATEMENT = 200
"""In lines; a longer value is not edited and has no line number in messages."""

Path = tuple[str, ...]


class Statement(NamedTuple):
    """One `[header]` or one `name = value`.

    `first` and `last` are its lines (from 0, both included); `path` is the full path of what it defines.
    """

    first: int
    last: int
    section: Path
    path: Path
    is_header: bool


def statements(text: str) -> list[Statement]:
    """Return the statements of a text that is valid TOML, in order."""
    lines = text.split("\n")
    found: list[Statement] = []
    section: Path = ()
    first = 0
    while first < len(lines):
        last = first
        while (parsed := _parse("\n".join(lines[first : last + 1]))) is None:
            last += 1
            if last >= len(lines) or last - first > LONGEST_STATEMENT:
                return found
        if parsed:
            is_header = lines[first].lstrip().startswith("[")
            if is_header:
                path = section = _header_path(parsed)
            else:
                path = section + _key_path(lines[first])[0]
            found.append(Statement(first, last, section, path, is_header))
        first = last + 1
    return found


def line_of(text: str, path: Path) -> int:
    """Return the line (from 1) at which a path is defined; 0 if it is not found."""
    found = statements(text)
    exact = [one.first + 1 for one in found if one.path[: len(path)] == path]
    inside = [one.first + 1 for one in found if not one.is_header and path[: len(one.path)] == one.path]
    return min(exact or inside or [0])


def line_in_table(text: str, path: Path, index: int, name: str) -> int:
    """Return the line (from 1) of a name in the table number `index` (from 0) of the tables `[[path]]`.

    If the name is not in that table, the line of the table itself is returned.
    """
    found = statements(text)
    starts = [at for at, one in enumerate(found) if one.is_header and one.path == path]
    if index >= len(starts):
        return line_of(text, path)  # written as one value
    end = starts[index + 1] if index + 1 < len(starts) else len(found)
    own = found[starts[index] : end]
    wanted = (*path, name)
    return next((one.first + 1 for one in own if one.path[: len(wanted)] == wanted), own[0].first + 1)


def append(text: str, path: Path, tables: list[dict[str, Any]]) -> str:
    """Return the text with these tables at its end, each as `[[path]]`."""
    if not tables:
        return text
    end = "\r\n" if text.split("\n", 1)[0].endswith("\r") else "\n"
    header = f"[[{'.'.join(_key(part) for part in path)}]]"
    blocks = [
        end.join([header, *(f"{_key(name)} = {written(value)}" for name, value in table.items()), ""])
        for table in tables
    ]
    before = text
    if text.strip():
        before += end if text.endswith("\n") else end + end
    return before + end.join(blocks)


def put(text: str, path: Path, value: object) -> str:
    """Return the text with this value at this path: in place if it exists, else at the end of its section."""
    found = statements(text)
    for one in found:
        if not one.is_header and path[: len(one.path)] == one.path:
            return _with_value(
                text, one, _changed(_looked_up(tomllib.loads(text), one.path), path[len(one.path) :], value)
            )
    section = path[:-1]
    lines = text.split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    header = [one for one in found if one.is_header and one.path == section]
    dotted = [
        one
        for one in found
        if not one.is_header and len(one.section) < len(section) and one.path[: len(section)] == section
    ]
    within = [one for one in found if not one.is_header and one.section == section]
    if header or dotted:
        after = (within or header)[-1] if header else dotted[-1]
        start = lines[after.first]
        indent = start[: len(start) - len(start.lstrip())]
        name = ".".join(_key(part) for part in path[len(after.section) :])
        if after.last + 1 == len(lines):
            lines.append("")  # the file did not end with a newline
            lines[after.last] += end
        lines.insert(after.last + 1, f"{indent}{name} = {written(value)}{end}")
        return "\n".join(lines)
    body = text.rstrip("\r\n") + f"{end}\n{end}\n" if text.strip() else ""
    return f"{body}[{'.'.join(_key(part) for part in section)}]{end}\n{_key(path[-1])} = {written(value)}{end}\n"


def remove(text: str, path: Path) -> str:
    """Return the text without this key. Comments on their own lines stay."""
    for one in statements(text):
        if not one.is_header and one.path == path:
            lines = text.split("\n")
            del lines[one.first : one.last + 1]
            return "\n".join(lines)
        if not one.is_header and path[: len(one.path)] == one.path:
            inline = _looked_up(tomllib.loads(text), one.path)
            *above, name = path[len(one.path) :]
            _looked_up(inline, tuple(above)).pop(name, None)
            return _with_value(text, one, inline)
    return text


def written(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        import json

        # JSON's escapes mean the same in TOML, which requires DEL to be escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(written(item) for item in value)}]"
    if isinstance(value, dict):
        items = ", ".join(f"{_key(name)} = {written(item)}" for name, item in value.items())
        return f"{{ {items} }}" if items else "{}"
    return str(getattr(value, "isoformat", value.__str__)())  # dates and times


def _parse(chunk: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(chunk + "\n")
    except (ValueError, RecursionError):
        return None


def _header_path(parsed: dict[str, Any]) -> Path:
    path: list[str] = []
    inner: Any = parsed
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(inner.items()))
        path.append(name)
    return tuple(path)


def _key_path(line: str) -> tuple[Path, int]:
    """Return the name before the equals sign, which may hold quoted equals signs, and the position of that sign."""
    at = line.find("=")
    while at >= 0:
        parsed = _parse(f"{line[:at]}= 0")
        if parsed is not None:
            return _header_path(parsed), at
        at = line.find("=", at + 1)
    msg = f"not an assignment: {line!r}"
    raise ValueError(msg)


def _with_value(text: str, statement: Statement, value: object) -> str:
    """Return the text with the statement's value replaced; its name, spacing and comment stay."""
    lines = text.split("\n")
    chunk = "\n".join(lines[statement.first : statement.last + 1])
    start = _key_path(lines[statement.first])[1] + 1
    start += len(chunk[start:]) - len(chunk[start:].lstrip(" \t"))
    end = chunk.find("#", start)
    while end >= 0 and _parse(chunk[:end]) is None:
        end = chunk.find("#", end + 1)
    end = len(chunk) if end < 0 else end
    end = len(chunk[:end].rstrip())
    return "\n".join(
        [*lines[: statement.first], chunk[:start] + written(value) + chunk[end:], *lines[statement.last + 1 :]]
    )


def _looked_up(document: Any, path: Path) -> Any:
    for name in path:
        document = document[name]
    return document


def _changed(value: Any, path: Path, new: object) -> Any:
    """Return the new value, or the inline table with the entry at `path` changed."""
    if not path:
        return new
    return {**value, path[0]: _changed(value.get(path[0], {}), path[1:], new)}


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else written(name)
