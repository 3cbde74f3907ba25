"""Lines of a TOML file, by the paths with which a validator names its values: `$.versions[0].screens[2].state`."""

from __future__ import annotations

import re

from covey.kernel.config.toml_text import statements

_STEP = re.compile(r"\.?([^.\[\]]+)(?:\[(\d+)\])?")

Step = tuple[str, int]


def line_of(text: str, path: str, key: str = "") -> int:
    """Return the line (from 1) of a path, or of a key in the table there.

    If it is not written, that of the nearest table around it; else 0.
    """
    wanted = [(name, int(index or 0)) for name, index in _STEP.findall(path.removeprefix("$"))]
    if key:
        wanted.append((key, 0))
    best, line = 0, 0
    counts: dict[tuple[str, ...], int] = {}
    lines = text.split("\n")
    for statement in statements(text):
        if statement.is_header and lines[statement.first].lstrip().startswith("[["):
            counts[statement.path] = counts.get(statement.path, -1) + 1
            for inner in [
                known
                for known in counts
                if len(known) > len(statement.path) and known[: len(statement.path)] == statement.path
            ]:
                del counts[inner]
        here = [(name, counts.get(statement.path[: place + 1], 0)) for place, name in enumerate(statement.path)]
        if here == wanted[: len(here)] and len(here) > best:
            best, line = len(here), statement.first + 1
    return line
