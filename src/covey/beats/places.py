"""Where beats are: the HEARTBEAT.md of each workspace, and those in its folder heartbeats/."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.kernel.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FILE = "HEARTBEAT.md"
FOLDER = "heartbeats"
LARGEST_FILE = 1 << 20
_SETTLED_S = 2.0


class Place(Struct, frozen=True, kw_only=True):
    """Where a beat is, or should be."""

    table: dict[str, Any]
    """What config.toml says of its workspace, but for the path."""
    workspace: str
    file: str
    part: str = ""
    """Its folder below heartbeats/, if it is there."""
    stamp: tuple[int, ...] = ()
    """Another one when the file has changed; empty if there is nothing to read."""
    settled: bool = True
    """Whether the stamp can be believed: a file may be written twice within one tick of the file system's clock."""
    problem: str = ""
    missing: bool = False
    """The problem is that there is no such file."""


def places(workspaces: Sequence[Mapping[str, Any]], home: str, now: float) -> Iterator[Place]:
    """Every place, in the order of the configuration. A workspace in which nothing can run has one too, with the problem. `home`: what `~` means. `now`: the time of the clock that files are stamped with."""
    known: dict[tuple[int, int], str] = {}
    for entry in workspaces:
        table = {name: value for name, value in entry.items() if name != "path"}
        written = str(entry.get("path", ""))
        path = expanded(written, home)
        if path is None:
            yield Place(
                table=table,
                workspace=written,
                file=written,
                problem=f"path has to be absolute or begin with ~/, not {written[:60]!r} (in config.toml)",
            )
            continue
        try:
            found = path.stat()
        except OSError as error:
            yield Place(
                table=table,
                workspace=str(path),
                file=str(path / FILE),
                problem=f"the workspace cannot be used: {error.strerror or error}",
                missing=isinstance(error, FileNotFoundError),
            )
            continue
        identity = (found.st_dev, found.st_ino)
        if identity in known:
            problem = f"this workspace is in config.toml already, as {known[identity]}: take one of them out"
            yield Place(table=table, workspace=str(path), file=str(path / FILE), problem=problem)
            continue
        known[identity] = written
        yield from _inside(path, table, now)


def expanded(path: str, home: str) -> Path | None:
    """The folder that is meant, or None if that cannot be told."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return Path(path) if path.startswith("/") and path.isprintable() else None


def _inside(workspace: Path, table: dict[str, Any], now: float) -> Iterator[Place]:
    own = _place(workspace, table, workspace / FILE, "", now)
    if own:
        yield own
    folder = workspace / FOLDER
    others: list[Place] = []
    try:
        parts = sorted(part.name for part in folder.iterdir() if not part.name.startswith("."))
        others = [place for part in parts if (place := _place(workspace, table, folder / part / FILE, part, now))]
    except (FileNotFoundError, NotADirectoryError):
        pass  # most have none
    except OSError as error:
        others = [
            Place(
                table=table,
                workspace=str(workspace),
                file=str(folder),
                part=FOLDER,
                problem=f"this folder cannot be read: {error.strerror or error}",
            )
        ]
    yield from others
    if not own and not others:
        problem = f"there is no {FILE}; make one: covey init {quoted(str(workspace))}"
        yield Place(table=table, workspace=str(workspace), file=str(workspace / FILE), problem=problem, missing=True)


def _place(workspace: Path, table: dict[str, Any], file: Path, part: str, now: float) -> Place | None:
    """The place of a file, or None if there is no such file."""
    stamp: tuple[int, ...] = ()
    settled = True
    problem = ""
    try:
        found = file.stat()
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev, found.st_ctime_ns)
        settled = not 0 <= now - max(found.st_mtime, found.st_ctime) < _SETTLED_S
        problem = "" if stat.S_ISREG(found.st_mode) else "this is not a file; put one in its place"
        if found.st_size > LARGEST_FILE:
            problem = f"this file has {found.st_size} bytes; a heartbeat may have {LARGEST_FILE}"
    except (FileNotFoundError, NotADirectoryError):
        if not file.is_symlink():
            return None
        problem = "this is a link to a file that does not exist"
    except OSError as error:
        problem = f"this file cannot be read: {error.strerror or error}"
    if not part.isprintable() and part:
        part = part.encode("utf-8", "backslashreplace").decode()
        file = workspace / FOLDER / part / FILE
        problem = "the name of this folder cannot be printed: rename it"
    return Place(
        table=table,
        workspace=str(workspace),
        file=str(file),
        part=part,
        stamp=() if problem else stamp,
        settled=settled,
        problem=problem,
    )
