"""Puts workspaces on the schedule: adds them to config.toml, whose other lines stay as they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats.agreements import Agreements
from covey.beats.catalog import BeatCatalog, heads_of
from covey.beats.heartbeat_files import expand_path
from covey.kernel.config import toml_text
from covey.kernel.config.file import flat, locked, parse_text, read_text, replace_text
from covey.kernel.quoting import quoted
from murli import tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.beats.catalog import CatalogEntry
    from covey.kernel.home import Home

KEY = ("beats", "workspace")


def check_workspace(workspaces: list[dict[str, Any]], path: str, user_home: str) -> list[CatalogEntry]:
    """Return the beats of the folder `path`, as they would be beside the configured ones.

    Raises `AgentError` with file and line if one of them could not run.
    """
    is_configured = any(
        os.path.realpath(found) == path
        for table in workspaces
        if (found := expand_path(str(table.get("path", "")), user_home))
    )
    catalog = BeatCatalog.load(workspaces if is_configured else [*workspaces, {"path": path}], user_home, AGENTS)
    entries = [entry for entry in catalog.entries if os.path.realpath(entry.workspace) == path]
    if problems := [line for entry in entries for line in entry.problem_lines]:
        raise user_error("; ".join(problems), f"Mend it, then: covey beats add {quoted(path)}", field="path")
    return entries


def agree(home: Home, entries: Sequence[CatalogEntry]) -> None:
    """Keep what the heads of these beats say as what a person has agreed to. Raises `AgentError`."""
    home.node.prepare()
    try:
        Agreements(home.path).agree(heads_of(entries))
    except OSError as error:
        raise tool_error(
            f"what you agree to cannot be kept in {home.path}: {error.strerror or error}",
            f"Look at it: ls -ld {quoted(home.path)}",
        ) from None


def add_workspaces(home: Home, tables: list[dict[str, Any]], user_home: str) -> tuple[list[str], list[str]]:
    """Add a `[[beats.workspace]]` for each table whose path is not configured yet.

    Returns the paths that were added, and those that were there. Repeating it changes nothing.
    """
    home.node.prepare()
    with locked(home.path):
        before = read_text(home.node.config_file)
        document = parse_text(home.node.config_file, before)
        after, added, present = append_workspaces(before, tables, user_home)
        expected = {**flat(document), KEY: [*_workspaces(document), *added]} if added else flat(document)
        replace_text(home.node.config_file, before, after, expected, ".".join(KEY))
    return [table["path"] for table in added], present


def append_workspaces(
    text: str, tables: list[dict[str, Any]], home: str
) -> tuple[str, list[dict[str, Any]], list[str]]:
    """Append to the text of a config.toml the tables whose path is not in it.

    Returns the new text, the tables that were added, and the paths that were there. `home`: the folder that `~` means.
    """
    document = parse_text("config.toml", text)
    present = _workspaces(document)
    known = {expand_path(str(table.get("path", "")), home) for table in present}
    new: list[dict[str, Any]] = []
    there: list[str] = []
    for table in tables:
        path = expand_path(table["path"], home)
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
