"""Imports workspaces from murmur's config.json into config.toml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import options
from covey.beats.catalog import BeatCatalog
from covey.beats.heartbeat_files import LARGEST_FILE, expand_path
from covey.beats.workspaces import add_workspaces, agree
from covey.kernel.quoting import quoted
from murli import not_found, user_error

if TYPE_CHECKING:
    from covey.kernel.home import Home

_AGENTS = {"claude-code": "claude"}


USUAL_FILE = ".murmur/config.json"
"""The path of murmur's configuration in a home folder."""


class Murmur(NamedTuple):
    """A parsed config.json of murmur."""

    tables: list[dict[str, Any]]
    """Tables for `[[beats.workspace]]`."""
    problems: list[str]
    left_out: int
    """The number of workspaces that cannot be imported."""


def read_murmur(text: str) -> Murmur:
    """Parse a config.json. Raises `ValueError` with a sentence if the text is not one."""
    if len(text) > LARGEST_FILE:
        raise ValueError(f"it has more than {LARGEST_FILE} characters")
    try:
        document = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    workspaces = document.get("workspaces") if isinstance(document, dict) else None
    if not isinstance(workspaces, list):
        raise ValueError('it has no list called "workspaces"')  # noqa: TRY004 - a mistake in a file
    tables: list[dict[str, Any]] = []
    problems: list[str] = []
    for number, workspace in enumerate(workspaces, 1):
        if not isinstance(workspace, dict) or not isinstance(workspace.get("path"), str):
            problems.append(f"workspace {number} has no path; it was left out")
            continue
        table, wrong = _table(workspace)
        if "path" in table:
            tables.append(table)
        problems += [f"{workspace['path'][:200]}: {sentence}" for sentence in wrong]
    return Murmur(tables, problems, len(workspaces) - len(tables))


def import_file(home: Home, source: str, user_home: str) -> dict[str, Any]:
    """Import the workspaces of a config.json. Returns `{source, file, imported, present, problems, left_out}`.

    Repeating it changes nothing; the rest of config.toml stays, byte for byte. Raises `AgentError` if neither the file
    nor anything in it can be used.
    """
    murmur = _read(source)
    if murmur.left_out and not murmur.tables:
        raise user_error(
            f"nothing could be taken over from {source}: {'; '.join(murmur.problems)}",
            f"Mend it, then: covey beats import {quoted(source)}",
            field="path",
        )
    added, present = add_workspaces(home, murmur.tables, user_home)
    new = [table for table in murmur.tables if table["path"] in added]
    agree(home, BeatCatalog.load(new, user_home, AGENTS).entries)
    return {
        "source": source,
        "file": home.node.config_file,
        "imported": added,
        "present": present,
        "problems": murmur.problems,
        "left_out": murmur.left_out,
    }


def _read(source: str) -> Murmur:
    advice = "Name murmur's configuration: covey beats import ~/.murmur/config.json"
    file = Path(source)
    try:
        if not file.is_file():
            raise not_found(f"{source} is not a file", advice, field="path")
        with file.open(encoding="utf-8-sig") as opened:
            return read_murmur(opened.read(LARGEST_FILE + 1))
    except OSError as error:
        raise user_error(
            f"{source} cannot be read: {error.strerror or error}", f"Look at it: ls -l {quoted(source)}", field="path"
        ) from None
    except ValueError as error:
        raise user_error(f"{source} is not a configuration of murmur: {error}", advice, field="path") from None


def _table(workspace: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a workspace without its unknown options, and what is wrong.

    The table is empty if the workspace could not run without them, or not as safely.
    """
    given = {name: value for name, value in workspace.items() if name != "path" and value is not None}
    if isinstance(given.get("agent"), str):
        given["agent"] = _AGENTS.get(given["agent"], given["agent"])
    known, unknown = options.canonical(given)
    problems = [f"{name} was left out: Covey has no such option" for name, _ in unknown]
    _, wrong = options.read(options.as_texts(known))
    if wrong:
        return {}, [*problems, *(f"it was left out altogether: {sentence}" for _, sentence in wrong)]
    if expand_path(workspace["path"], "/") is None:
        return {}, [*problems, "it was left out altogether: its path is not absolute"]
    table = {"path": workspace["path"], **options.as_texts(known)}
    if "maxTurns" in table:
        table["maxTurns"] = int(table["maxTurns"])
    return table, problems
