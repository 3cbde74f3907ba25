"""Which beat somebody means by a folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats.beat import Beat, Interval
from covey.beats.book import Book
from covey.beats.schedule import DAY_S
from murli import not_found, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.beats.book import Entry

UNSCHEDULED = "1d"
"""Stands in for the schedule of a beat that has none and is run by hand."""


def beat_at(path: str, name: str | None, workspaces: Sequence[Mapping[str, Any]], home: str) -> Beat:
    """The beat of a folder, whether it is scheduled or not.

    A folder without a HEARTBEAT.md has one too, which cannot run: see `absent`. Raises `AgentError` if no folder or no
    single beat is meant, or if its file cannot be used.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - a text
        raise not_found(f"{path} is not a folder", "Name the folder in which a HEARTBEAT.md is.", field="path")
    known = Book.load(workspaces, home, AGENTS).entries if workspaces else ()
    here = _here(known, path, name) or _here(
        Book.load([{"path": path, "interval": UNSCHEDULED}], home, AGENTS).entries, path, name
    )
    if not here:
        raise not_found(f"there is no beat {name} in {path}", "See them all with: covey beats list", field="name")
    if len(here) > 1:
        error = user_error(f"{path} has several beats", "Say which: covey beat --name …", field="name")
        error.valid_values = [entry.name for entry in here]
        raise error
    if (beat := here[0].beat) is None:
        if here[0].missing:
            return absent(here[0])
        raise user_error("; ".join(here[0].complaints), "Mend it, then try again.", field="path")
    return beat


def absent(entry: Entry) -> Beat:
    """Stands for the beat whose file is missing, so that its run is recorded: as an error of kind `prompt_missing`."""
    return Beat(name=entry.name, workspace=entry.workspace, file=entry.file, schedule=Interval(DAY_S))


def _here(entries: Sequence[Entry], path: str, name: str | None) -> list[Entry]:
    there = os.path.realpath(path)
    return [
        entry
        for entry in entries
        if os.path.realpath(entry.workspace) == there
        and (name is None or entry.name == name or entry.name.endswith(f"/{name}"))
    ]
