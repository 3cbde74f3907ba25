"""Installing a skill into a folder of skills, and removing it again: in one step, and with a record of every file.

AgentError
└── NotInstallable        something else is in its place
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular
from covey.mesh.services.skill.manifest import PROGRAM
from murli import EXIT_CONFLICT, AgentError, permission_denied, tool_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.mesh.services.skill.manifest import Manifest

LARGEST_RECORD = 16 << 20
_BESIDE = ".covey-"


class NotInstallable(AgentError):  # noqa: N818 - a state of the folder
    """Nothing was written."""

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(message, code=EXIT_CONFLICT, error="not_installable", suggestion=suggestion)


class Installed(Struct, frozen=True, kw_only=True):
    """A skill that was written to a folder."""

    path: str
    name: str
    version: str
    author: str
    agent: str
    files: dict[str, str]
    """The sha256 of each file by its path below `path`."""
    made: list[str]
    """Folders that did not exist before, the outermost first."""
    at: float


class Removal(NamedTuple):
    """What an uninstallation did."""

    removed: list[str]
    kept: list[str]
    """Files that are not as they were written, or were added since."""


class InstallRecord:
    """The file with what is installed. Raises AgentError if it cannot be read: then nothing is changed."""

    def __init__(self, path: str) -> None:
        self.path = path

    def load(self) -> list[Installed]:
        """Return what is installed, by path."""
        try:
            return msgspec.json.decode(read_regular(self.path, LARGEST_RECORD), type=list[Installed])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.MsgspecError) as error:
            raise tool_error(
                f"the record of installed skills cannot be read: {error}",
                f"Look at {self.path}; without it, nothing is installed or uninstalled.",
            ) from error

    def put(self, installed: Installed) -> None:
        """Record an installation, in the place of an earlier one at its path."""
        self._save([*(one for one in self.load() if one.path != installed.path), installed])

    def drop(self, path: str) -> None:
        """Forget the installation at a path."""
        self._save([one for one in self.load() if one.path != path])

    def _save(self, every: list[Installed]) -> None:
        ordered = sorted(every, key=lambda one: one.path)
        write_file(self.path, msgspec.json.format(msgspec.json.encode(ordered), indent=1) + b"\n", 0o600)


def target_of(folder: Path, name: str) -> Path:
    """Return where a skill goes in a folder of skills: its real path, whatever links lead there."""
    return folder.resolve() / name


def missing_folders(path: Path) -> list[str]:
    """Return the folders above a path that do not exist, the outermost first."""
    return [str(above) for above in reversed(path.parents) if not os.path.lexists(above)]


def check_free(path: Path, known: Installed | None) -> None:
    """Raise `NotInstallable` unless nothing is at a path, or an installation there is as it was written."""
    if not os.path.lexists(path):
        return
    if known is None:
        raise NotInstallable(f"{path} exists, and was not installed by covey", "Move it away, then try again.")
    _check_place(path)
    differing = [*_changed(known), *_added(known)]
    if differing:
        raise NotInstallable(
            f"{path} was changed since it was installed: {', '.join(sorted(differing)[:10])}",
            f"Keep what you need elsewhere, then: covey mesh skill uninstall {known.name} --path {path}",
        )


def install(
    record: InstallRecord, path: Path, manifest: Manifest, contents: Mapping[str, bytes], origin: Mapping[str, Any]
) -> Installed:
    """Write a skill to a path that is free or has an earlier version of it, and return what is recorded.

    It is written beside, and then put in its place: whoever looks sees all of it or nothing. Raises AgentError.
    """
    known = next((one for one in record.load() if one.path == str(path)), None)
    check_free(path, known)
    made = missing_folders(path) if known is None else known.made
    beside = path.with_name(f"{_BESIDE}{path.name}.{os.urandom(6).hex()}")
    files = {file.path: file.sha256 for file in manifest.files}
    installed = Installed(
        path=str(path), name=manifest.name, version=manifest.version, files=files, made=made, **origin
    )
    try:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        try:
            _write(beside, manifest, contents)
            record.put(installed)  # before it is there, so that a crash leaves nothing that is not known
            _put_in_place(beside, path)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    except OSError as error:
        with contextlib.suppress(AgentError, OSError):
            if known is None:
                record.drop(str(path))
            else:
                record.put(known)
        _remove_empty(made[::-1] if known is None else [])
        raise permission_denied(
            f"{error.filename or path} cannot be written: {error.strerror or error}", "See the permissions there."
        ) from error
    return installed


def uninstall(record: InstallRecord, installed: Installed) -> Removal:
    """Remove every file that is as it was written, the folders that are empty then, and the record.

    Raises AgentError if its folder is another one now.
    """
    _check_place(Path(installed.path))
    changed = set(_changed(installed))
    removed: list[str] = []
    kept = sorted({*changed, *_added(installed)})
    for path in installed.files:
        full = Path(installed.path, path)
        if path not in changed and os.path.lexists(full):
            full.unlink()
            removed.append(path)
    folders = {installed.path, *(str(Path(installed.path, above)) for path in removed for above in Path(path).parents)}
    _remove_empty(sorted(folders, key=len, reverse=True))
    _remove_empty(installed.made[::-1])
    record.drop(installed.path)
    return Removal(sorted(removed), kept)


def _check_place(path: Path) -> None:
    if path.resolve() != path:
        raise NotInstallable(f"{path} is a link to {path.resolve()} now", "Nothing was changed. Look at it yourself.")


def _write(folder: Path, manifest: Manifest, contents: Mapping[str, bytes]) -> None:
    folder.mkdir(0o755)
    for file in manifest.files:
        full = folder / file.path
        full.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        write_file(str(full), contents[file.path], 0o755 if file.mode == PROGRAM else 0o644)


def _put_in_place(beside: Path, path: Path) -> None:
    """Rename a folder to its place; what was there is moved away first, and removed at last."""
    former = beside.with_name(f"{beside.name}.former")
    if os.path.lexists(path):
        path.rename(former)
    try:
        beside.rename(path)
    except OSError:
        if os.path.lexists(former):
            former.rename(path)
        raise
    shutil.rmtree(former, ignore_errors=True)


def _changed(installed: Installed) -> list[str]:
    """Return the files of an installation that are there, and are not as they were written."""
    return [
        path
        for path, sha256 in installed.files.items()
        if os.path.lexists(full := Path(installed.path, path)) and not _has_hash(full, sha256)
    ]


def _added(installed: Installed) -> list[str]:
    """Return the files in the folder of an installation that were not written with it."""
    found: list[str] = []
    for above, folders, names in os.walk(installed.path):
        links = [name for name in folders if Path(above, name).is_symlink()]
        found += [str(Path(above, name).relative_to(installed.path)) for name in (*names, *links)]
    return [path for path in found if path not in installed.files]


def _has_hash(path: Path, sha256: str) -> bool:
    """Return whether a path is a file with that hash, and no link on the way to it."""
    try:
        if path.parent.resolve() != path.parent or not stat.S_ISREG(path.lstat().st_mode):
            return False
        return hashlib.sha256(read_regular(path, LARGEST_RECORD)).hexdigest() == sha256
    except OSError:
        return False


def _remove_empty(folders: list[str]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
