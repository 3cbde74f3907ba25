"""TOML as the text that a person wrote: where each statement stands, and edits that leave every other byte alone.

`tomllib` is the judge of what the text means: a statement ends on the first line at which it parses by itself, and its value where the rest is a comment.
That is exact, needs no grammar of our own, and keeps tomlkit (100 ms to import, new keys placed behind the comment of the next section) out of the house.
"""

from __future__ import annotations

import tomllib
from typing import Any, NamedTuple

LONGEST_STATEMENT = 200
"""Lines; a value that goes on for longer is not edited and has no line number in messages."""

Path = tuple[str, ...]


class Statement(NamedTuple):
    """One `[header]` or one `name = value`, with the lines it covers (from 0, both ends included) and the full path of what it defines."""

    first: int
    last: int
    section: Path
    path: Path
    is_header: bool


def statements(text: str) -> list[Statement]:
    """Every statement of a text that is valid TOML, in order."""
    lines = text.split("\n")
    found: list[Statement] = []
    section: Path = ()
    first = 0
    while first < len(lines):
        last = first
        while (read := _read("\n".join(lines[first : last + 1]))) is None:
            last += 1
            if last >= len(lines) or last - first > LONGEST_STATEMENT:
                return found
        if read:
            is_header = lines[first].lstrip().startswith("[")
            path = _header_path(read) if is_header else section + _key_path(lines[first])[0]
            section = path if is_header else section
            found.append(Statement(first, last, section, path, is_header))
        first = last + 1
    return found


def line_of(text: str, path: Path) -> int:
    """The line (from 1) at which something was defined, or 0 if that cannot be told."""
    found = statements(text)
    exact = [one.first + 1 for one in found if one.path[: len(path)] == path]
    inside = [one.first + 1 for one in found if not one.is_header and path[: len(one.path)] == one.path]
    return min(exact or inside or [0])


def line_in_table(text: str, path: Path, index: int, name: str) -> int:
    """The line (from 1) of a name in one of the tables `[[path]]`, counted from 0; that of the table itself where the name does not stand in it."""
    found = statements(text)
    starts = [at for at, one in enumerate(found) if one.is_header and one.path == path]
    if index >= len(starts):
        return line_of(text, path)  # written as one value
    own = found[starts[index] : (starts[index + 1 :] or [len(found)])[0]]
    wanted = (*path, name)
    return next((one.first + 1 for one in own if one.path[: len(wanted)] == wanted), own[0].first + 1)


def append(text: str, path: Path, tables: list[dict[str, Any]]) -> str:
    """The text with these tables at its end, each as `[[path]]`."""
    if not tables:
        return text
    end = "\r\n" if text.split("\n", 1)[0].endswith("\r") else "\n"
    header = f"[[{'.'.join(_key(part) for part in path)}]]"
    blocks = [
        end.join([header, *(f"{_key(name)} = {written(value)}" for name, value in table.items()), ""])
        for table in tables
    ]
    before = text + end * (2 - text.endswith("\n")) if text.strip() else text
    return before + end.join(blocks)


def put(text: str, path: Path, value: object) -> str:
    """The text with this value under this path: in place if it is there, at the end of its section if not."""
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
        after = ((within or header) if header else dotted)[-1]
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
    """The text without this key. Comments on lines of their own stay."""
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
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False).replace(
            "\x7f", "\\u007f"
        )  # what JSON escapes, TOML reads alike; DEL it wants escaped too
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(written(item) for item in value)}]"
    if isinstance(value, dict):
        return (
            f"{{ {', '.join(f'{_key(name)} = {written(item)}' for name, item in value.items())} }}" if value else "{}"
        )
    return str(getattr(value, "isoformat", value.__str__)())  # dates and times


def _read(chunk: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(chunk + "\n")
    except (ValueError, RecursionError):
        return None


def _header_path(read: dict[str, Any]) -> Path:
    path: list[str] = []
    inner: Any = read
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(inner.items()))
        path.append(name)
    return tuple(path)


def _key_path(line: str) -> tuple[Path, int]:
    """The name before the equals sign, which may itself hold quoted equals signs, and where that sign is."""
    at = line.find("=")
    while at >= 0:
        read = _read(f"{line[:at]}= 0")
        if read is not None:
            return _header_path(read), at
        at = line.find("=", at + 1)
    msg = f"not an assignment: {line!r}"
    raise ValueError(msg)


def _with_value(text: str, statement: Statement, value: object) -> str:
    """The statement's value replaced; its name, its spacing and the comment behind it stay."""
    lines = text.split("\n")
    chunk = "\n".join(lines[statement.first : statement.last + 1])
    start = _key_path(lines[statement.first])[1] + 1
    start += len(chunk[start:]) - len(chunk[start:].lstrip(" \t"))
    end = chunk.find("#", start)
    while end >= 0 and _read(chunk[:end]) is None:
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
    """The value itself, or the inline table with one entry changed."""
    if not path:
        return new
    return {**value, path[0]: _changed(value.get(path[0], {}), path[1:], new)}


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else written(name)
