"""Finds the files of beats: the HEARTBEAT.md of each workspace, and those in its folder heartbeats/."""

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


class HeartbeatFile(Struct, frozen=True, kw_only=True):
    """The file of a beat as it was found, or where it should be."""

    table: dict[str, Any]
    """What config.toml says of its workspace, except the path."""
    workspace: str
    path: str
    part: str = ""
    """The name of its folder below heartbeats/; empty for the workspace's own file."""
    stamp: tuple[int, ...] = ()
    """Differs when the file has changed; empty if there is nothing to read."""
    settled: bool = True
    """Whether the stamp can be relied on: a file may be written twice within one tick of the file system's clock."""
    problem: str = ""
    missing: bool = False
    """The problem is that there is no such file."""


def find_heartbeat_files(workspaces: Sequence[Mapping[str, Any]], home: str, now: float) -> Iterator[HeartbeatFile]:
    """Yield the files of all workspaces, in the order of the configuration.

    A workspace in which nothing can run yields one too, with the problem. `home`: the folder that `~` means. `now`: the
    time of the clock by which files are stamped.
    """
    known: dict[tuple[int, int], str] = {}
    for entry in workspaces:
        table = {name: value for name, value in entry.items() if name != "path"}
        written = str(entry.get("path", ""))
        path = expand_path(written, home)
        if path is None:
            yield HeartbeatFile(
                table=table,
                workspace=written,
                path=written,
                problem=f"path has to be absolute or begin with ~/, not {written[:60]!r} (in config.toml)",
            )
            continue
        try:
            found = path.stat()
        except OSError as error:
            yield HeartbeatFile(
                table=table,
                workspace=str(path),
                path=str(path / FILE),
                problem=f"the workspace cannot be used: {error.strerror or error}",
                missing=isinstance(error, FileNotFoundError),
            )
            continue
        identity = (found.st_dev, found.st_ino)
        if identity in known:
            problem = f"this workspace is in config.toml already, as {known[identity]}: take one of them out"
            yield HeartbeatFile(table=table, workspace=str(path), path=str(path / FILE), problem=problem)
            continue
        known[identity] = written
        yield from _inside(path, table, now)


def expand_path(path: str, home: str) -> Path | None:
    """Return the folder that a configured path means, or None if the path is neither absolute nor begins with `~/`."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return Path(path) if path.startswith("/") and path.isprintable() else None


def outside(file: str, workspace: str) -> str:
    """Return why a file may not be run for a workspace; empty if it lies in it.

    A link out of the workspace would have a text run unasked that nobody wrote for it, and whoever can change what the
    link leads to, or make one, would give the agent its instructions.
    """
    real = Path(file).resolve()
    if real.is_relative_to(Path(workspace).resolve()):
        return ""
    other = f", or put its folder on the schedule: covey beats add {quoted(str(real.parent))}"
    return (
        f"this is a link out of the workspace, to {quoted(str(real))}, and is not run: "
        f"copy that file here{other if real.name == FILE else ''}"
    )


def _inside(workspace: Path, table: dict[str, Any], now: float) -> Iterator[HeartbeatFile]:
    own = _heartbeat_file(workspace, table, workspace / FILE, "", now)
    if own:
        yield own
    folder = workspace / FOLDER
    others: list[HeartbeatFile] = []
    try:
        parts = sorted(part.name for part in folder.iterdir() if not part.name.startswith("."))
        others = [
            found for part in parts if (found := _heartbeat_file(workspace, table, folder / part / FILE, part, now))
        ]
    except (FileNotFoundError, NotADirectoryError):
        pass  # most workspaces have none
    except OSError as error:
        others = [
            HeartbeatFile(
                table=table,
                workspace=str(workspace),
                path=str(folder),
                part=FOLDER,
                problem=f"this folder cannot be read: {error.strerror or error}",
            )
        ]
    yield from others
    if not own and not others:
        problem = f"there is no {FILE}; make one: covey init {quoted(str(workspace))}"
        yield HeartbeatFile(
            table=table, workspace=str(workspace), path=str(workspace / FILE), problem=problem, missing=True
        )


def _heartbeat_file(workspace: Path, table: dict[str, Any], file: Path, part: str, now: float) -> HeartbeatFile | None:
    """Return what is known of a file, or None if it does not exist."""
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
        problem = outside(str(file), str(workspace)) or problem
    except (FileNotFoundError, NotADirectoryError):
        if not file.is_symlink():
            return None
        problem = "this is a link to a file that does not exist"
    except OSError as error:
        problem = f"this file cannot be read: {error.strerror or error}"
    if part and not part.isprintable():
        part = part.encode("utf-8", "backslashreplace").decode()
        file = workspace / FOLDER / part / FILE
        problem = "the name of this folder cannot be printed: rename it"
    return HeartbeatFile(
        table=table,
        workspace=str(workspace),
        path=str(file),
        part=part,
        stamp=() if problem else stamp,
        settled=settled,
        problem=problem,
    )
