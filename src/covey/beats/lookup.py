"""Finds the beat that a folder and a name mean."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats.beat import Beat, Interval
from covey.beats.catalog import BeatCatalog
from covey.beats.schedule import DAY_S
from murli import not_found, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.beats.catalog import CatalogEntry

UNSCHEDULED = "1d"
"""The schedule of a beat that has none of its own and is run by hand."""


def find_beat(path: str, name: str | None, workspaces: Sequence[Mapping[str, Any]], home: str) -> Beat:
    """Return the beat of a folder, whether it is scheduled or not.

    A folder without a HEARTBEAT.md has one too, which cannot run: see `missing_beat`. Raises `AgentError` if `path` is
    not a folder, if there is no such beat or more than one, or if its file cannot be used.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - a text
        raise not_found(f"{path} is not a folder", "Name the folder in which a HEARTBEAT.md is.", field="path")
    known = BeatCatalog.load(workspaces, home, AGENTS).entries if workspaces else ()
    here = _in_folder(known, path, name)
    if not here:
        unscheduled = BeatCatalog.load([{"path": path, "interval": UNSCHEDULED}], home, AGENTS)
        here = _in_folder(unscheduled.entries, path, name)
    if not here:
        raise not_found(f"there is no beat {name} in {path}", "See them all with: covey beats list", field="name")
    if len(here) > 1:
        names = [entry.name for entry in here]
        raise user_error(
            f"{path} has several beats", "Say which: covey beat --name …", field="name", valid_values=names
        )
    entry = here[0]
    if entry.beat is not None:
        return entry.beat
    if entry.missing:
        return missing_beat(entry)
    raise user_error("; ".join(entry.problem_lines), "Mend it, then try again.", field="path")


def missing_beat(entry: CatalogEntry) -> Beat:
    """Return a beat for a file that is missing, so that its run is recorded as an error of kind `prompt_missing`."""
    return Beat(name=entry.name, workspace=entry.workspace, file=entry.file, schedule=Interval(DAY_S))


def _in_folder(entries: Sequence[CatalogEntry], path: str, name: str | None) -> list[CatalogEntry]:
    folder = os.path.realpath(path)
    return [
        entry
        for entry in entries
        if os.path.realpath(entry.workspace) == folder
        and (name is None or entry.name == name or entry.name.endswith(f"/{name}"))
    ]
