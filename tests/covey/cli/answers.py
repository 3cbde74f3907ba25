"""Answers of the daemon, as the command line gets them."""

from __future__ import annotations

import json
from typing import Any

from covey.cli.text import Paint
from covey.fleet.answers import view
from covey.fleet.answers.view import Filters, Row, TargetStatus
from covey.kernel.http.answer import encode
from tests.covey.fleet.fleets import NOW, TARGETS, row

NARROW, WIDE = Paint(80, colour=False), Paint(120, colour=False)


def answer(rows: list[Row], filters: Filters | None = None, targets: list[TargetStatus] = TARGETS) -> Any:
    """As the command line gets it."""
    return json.loads(encode(view.panes(rows, targets, filters or Filters(), NOW)))


def here(**folders: str) -> list[Row]:
    """Agents of one target, each in a session of its own, by session and folder."""
    return [row(f"host/{name}:0.0", f"%{number}", cwd=folder) for number, (name, folder) in enumerate(folders.items())]


def column(shown: str, head: str) -> list[str]:
    """What stands below a head of a table."""
    lines = shown.split("\n")
    begin = lines[0].index(head)
    return [line[begin:].split("  ")[0] for line in lines[1 : lines.index("")]]
