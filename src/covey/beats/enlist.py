"""Workspaces put on the schedule: added to config.toml, whose other lines stay as they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats.book import Book
from covey.beats.places import expanded
from covey.kernel import toml_text
from covey.kernel.config_file import flat, locked, parse_text, read_text, replace_text
from covey.kernel.quoting import quoted
from murli import user_error

if TYPE_CHECKING:
    from covey.kernel.home import Home

KEY = ("beats", "workspace")


def refuse_what_cannot_run(workspaces: list[dict[str, Any]], path: str, user_home: str) -> None:
    """Raise `AgentError` with file and line if a beat of the folder `path` could not run beside those of the configured workspaces."""
    there = any(
        os.path.realpath(found) == path
        for table in workspaces
        if (found := expanded(str(table.get("path", "")), user_home))
    )
    book = Book.load(workspaces if there else [*workspaces, {"path": path}], user_home, AGENTS)
    complaints = [
        complaint
        for entry in book.entries
        if os.path.realpath(entry.workspace) == path
        for complaint in entry.complaints
    ]
    if complaints:
        raise user_error("; ".join(complaints), f"Mend it, then: covey beats add {quoted(path)}", field="path")


def enlist(home: Home, tables: list[dict[str, Any]], user_home: str) -> tuple[list[str], list[str]]:
    """Add a `[[beats.workspace]]` for each table whose path is not there yet: the paths that are new, and those that were there. Done twice it is the same as once."""
    home.node.prepare()
    with locked(home.path):
        before = read_text(home.node.config_file)
        document = parse_text(home.node.config_file, before)
        after, added, present = append_to(before, tables, user_home)
        expected = {**flat(document), KEY: [*_workspaces(document), *added]} if added else flat(document)
        replace_text(home.node.config_file, before, after, expected, ".".join(KEY))
    return [table["path"] for table in added], present


def append_to(text: str, tables: list[dict[str, Any]], home: str) -> tuple[str, list[dict[str, Any]], list[str]]:
    """A config.toml with the tables that are not in it yet, at its end: the text, the tables that are new, and the paths that were there. `home`: what `~` means."""
    document = parse_text("config.toml", text)
    present = _workspaces(document)
    known = {expanded(str(table.get("path", "")), home) for table in present}
    new: list[dict[str, Any]] = []
    there: list[str] = []
    for table in tables:
        path = expanded(table["path"], home)
        if path in known:
            there.append(table["path"])
        else:
            known.add(path)
            new.append(table)
    return toml_text.append(text, KEY, new), new, there


def _workspaces(document: dict[str, Any]) -> list[dict[str, Any]]:
    section = document.get("beats", {})
    found = section.get("workspace", []) if isinstance(section, dict) else []
    return [table for table in found if isinstance(table, dict)] if isinstance(found, list) else []
