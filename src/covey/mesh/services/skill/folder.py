"""Reading a folder with a SKILL.md: everything in it becomes part of the skill, or the folder is refused."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from covey.kernel.regular_file import NotRegularError, descriptor_of
from covey.mesh.services.skill.manifest import (
    FILE,
    LARGEST_SKILL,
    MOST_FILES,
    PROGRAM,
    SKILL_FILE,
    BadSkill,
    Manifest,
    check_manifest,
    check_path,
    too_large,
)
from murli import not_found, permission_denied

LEFT_OUT = frozenset({".git", ".gitignore", ".DS_Store", "__pycache__"})
"""Names that are never part of a skill."""
_FIELD = re.compile(r"(name|version|description):\s*(.*)")
_QUOTES = "\"'"


class Packed(NamedTuple):
    """A folder as it will be shared."""

    manifest: Manifest
    contents: dict[str, bytes]
    left_out: list[str]
    """Paths of the folder that are not part of the skill."""


def pack(folder: str, *, name: str | None, version: str | None, description: str | None) -> Packed:
    """Return the skill in a folder. What is not given is taken from the head of its SKILL.md.

    Without a version, the hash of its files is one. Raises AgentError.
    """
    contents: dict[str, bytes] = {}
    modes: dict[str, str] = {}
    left_out: list[str] = []
    try:
        for path in _files(Path(folder), left_out):
            room = LARGEST_SKILL - sum(map(len, contents.values()))
            contents[path], modes[path] = _read(Path(folder, path), room)
            if len(contents) > MOST_FILES:
                raise _too_many()
    except NotRegularError as error:
        raise BadSkill(str(error), "A skill has files and folders only.") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise not_found(f"there is no folder {folder}", f"Name a folder with a {SKILL_FILE}.", field="path") from error
    except OSError as error:
        reason = f"{error.filename or folder} cannot be read: {error.strerror or error}"
        raise permission_denied(reason, "See its permissions.") from error
    if SKILL_FILE not in contents:
        raise not_found(f"there is no {SKILL_FILE} in {folder}", "It says what the skill does.", field="path")
    head = read_head(contents[SKILL_FILE].decode("utf-8", "replace"))
    files = [
        {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "mode": modes[path]}
        for path, data in contents.items()
    ]
    digest = hashlib.sha256("".join(f"{file['sha256']} {file['mode']} {file['path']}\n" for file in files).encode())
    manifest = check_manifest(
        {
            "name": name or head.get("name") or Path(folder).resolve().name,
            "version": version or head.get("version") or digest.hexdigest()[:12],
            "description": description if description is not None else head.get("description", ""),
            "files": files,
        }
    )
    return Packed(manifest, contents, left_out)


def read_head(text: str) -> dict[str, str]:
    """Return name, version and description from the lines between `---` at the beginning of a SKILL.md."""
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---" or "---" not in (line.strip() for line in lines[1:]):
        return {}
    found: dict[str, str] = {}
    for line in lines[1:]:
        if line.strip() == "---":
            break
        field = _FIELD.fullmatch(line.rstrip())
        if field is not None and field[2] not in ("", "|", ">", "|-", ">-"):
            value = field[2]
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES
            found[field[1]] = value[1:-1] if quoted else value
    return found


def _files(folder: Path, left_out: list[str]) -> list[str]:
    """Return the paths of all files below a folder, sorted. Raises `BadSkill` for links and hidden names."""
    found: list[str] = []
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                path = f"{below}/{entry.name}" if below else entry.name
                if entry.name in LEFT_OUT:
                    left_out.append(path)
                    continue
                if entry.is_symlink():
                    raise BadSkill(f"{path} is a symbolic link", "Put the file itself there.")
                if entry.name.startswith("."):
                    raise BadSkill(f"{path} is hidden: it may hold a secret", "Move it out of the folder.")
                check_path(path)
                (waiting if entry.is_dir(follow_symlinks=False) else found).append(path)
                if len(found) + len(waiting) > 2 * MOST_FILES:
                    raise _too_many()
    return sorted(found)


def _read(path: Path, room: int) -> tuple[bytes, str]:
    """Return the content of a file, which is no link, and its mode. Raises `BadSkill` if it has more than `room`."""
    descriptor = descriptor_of(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(room + 1)
        mode = PROGRAM if os.fstat(descriptor).st_mode & stat.S_IXUSR else FILE
    if len(data) > room:
        raise too_large(LARGEST_SKILL + 1)
    return data, mode


def _too_many() -> BadSkill:
    return BadSkill(f"it has more than {MOST_FILES} files", "Put fewer into the folder.")
