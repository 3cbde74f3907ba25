"""A change of settings as a value: what each file says before and after. Applied in one step per file, with a copy of what was there.

AgentError
└── NotEditable           the file is written in a way that we would not edit; says what to do instead
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.atomic_file import write_file
from covey.kernel.quoting import quoted
from covey.kernel.regular_file import NotRegularError, read_regular
from murli import AgentError, conflict, permission_denied, tool_error

if TYPE_CHECKING:
    from pathlib import Path

NEW_FILE_MODE = 0o600
LARGEST_FILE = 1 << 20
_BACKUP = ".covey-backup-"


class NotEditable(AgentError):  # noqa: N818 - a state of the file
    """The file was not touched."""

    def __init__(self, path: Path, why: str, suggestion: str) -> None:
        super().__init__(
            f"{path} {why}; it was not touched", code=1, error="not_editable", suggestion=suggestion, recoverable=True
        )
        self.path = path


class Edit(NamedTuple):
    """One file, by its real path. `None` is a file that is not there. `backup` is where a copy of `before` is to be kept."""

    path: Path
    before: bytes | None
    after: bytes | None
    mode: int = NEW_FILE_MODE
    backup: Path | None = None
    about: str = ""
    """What it does, for a person."""


@dataclass(frozen=True)
class Plan:
    """Everything that a change consists of, in the order in which it is to be done. Nothing to do: no files."""

    agent: str
    files: list[Edit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def apply(plan: Plan) -> None:
    """Do it. Each file is replaced in one step or stays as it was; one that has changed since the plan was made is refused before anything is done."""
    for edit in plan.files:
        if read(edit.path) != edit.before:
            raise conflict(f"{edit.path} was changed by somebody else just now; nothing was done", "Try again.")
    for edit in plan.files:
        try:
            _apply(edit)
        except OSError as error:
            raise _not_written(edit.path, error) from error


def read(path: Path) -> bytes | None:
    """The content of a file, through links; `None` if there is none."""
    try:
        content = read_regular(path, LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except NotRegularError as error:
        raise NotEditable(path, "is not a file", f"Look at it: ls -l {quoted(str(path))}") from error
    except OSError as error:
        raise permission_denied(
            f"{path} cannot be read: {error.strerror or error}", f"Look at it: ls -l {quoted(str(path))}"
        ) from error
    if len(content) > LARGEST_FILE:
        raise NotEditable(path, "is too large for a file of settings", f"Look at it: ls -l {quoted(str(path))}")
    return content


def mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return NEW_FILE_MODE


def backups(path: Path) -> dict[Path, bytes]:
    """The copies that were kept of a file, newest first."""
    found: dict[int, Path] = {}
    try:
        for file in path.parent.iterdir():
            number = file.name.removeprefix(path.name + _BACKUP)
            if number != file.name and number.isascii() and number.isdigit():
                found[int(number)] = file
    except OSError:
        return {}
    return {found[number]: read(found[number]) or b"" for number in sorted(found, reverse=True)}


def next_backup(path: Path) -> Path:
    newest = next(iter(backups(path)), None)
    number = int(newest.name.rpartition("-")[2]) + 1 if newest else 1
    return path.with_name(f"{path.name}{_BACKUP}{number}")


def _apply(edit: Edit) -> None:
    if edit.backup is not None and edit.before is not None:
        descriptor = os.open(edit.backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, edit.mode)
            file.write(edit.before)
            file.flush()
            os.fsync(descriptor)
    if edit.after is None:
        edit.path.unlink(missing_ok=True)
        return
    missing = [folder for folder in edit.path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    write_file(str(edit.path), edit.after, edit.mode)


def _not_written(path: Path, error: OSError) -> AgentError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return tool_error(
            f"{path} could not be written: no space is left on its disk; it is as it was",
            "Free some space, then try again.",
            error="disk_full",
        )
    message = f"{path} cannot be written: {error.strerror or error}; it is as it was"
    advice = f"Look at its folder: ls -ld {quoted(str(path.parent))}"
    return (
        permission_denied(message, advice)
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        else tool_error(message, advice)
    )
