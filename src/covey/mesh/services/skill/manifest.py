"""The manifest of a skill: its name, version and files. What could harm where it is installed is refused whole.

AgentError
└── BadSkill              the manifest, or a file, cannot be accepted; says which and why
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from covey.mesh.storable_text import storable
from murli import EXIT_USER_ERROR, AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_SKILL: Final = 256 * 1024
"""Bytes of all files together."""
MOST_FILES: Final = 200
LONGEST_PATH: Final = 200
DEEPEST_PATH: Final = 8
SKILL_FILE: Final = "SKILL.md"
FILE, PROGRAM = "0644", "0755"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_RESERVED = frozenset('<>:"|?*\\')


class BadSkill(AgentError):  # noqa: N818 - a state of the skill
    """The skill is refused as a whole."""

    def __init__(self, reason: str, suggestion: str = "Nothing was accepted. Ask its author to mend it.") -> None:
        super().__init__(
            f"the skill cannot be accepted: {reason}",
            code=EXIT_USER_ERROR,
            error="bad_skill",
            suggestion=suggestion,
            field="manifest",
        )


class SkillFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of a skill."""

    path: str
    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    size: Annotated[int, Meta(ge=0, le=2**53)]
    mode: str = FILE


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a skill consists of."""

    name: str
    version: str
    description: Annotated[str, Meta(max_length=2000)] = ""
    files: Annotated[list[SkillFile], Meta(min_length=1, max_length=MOST_FILES)]

    @property
    def bytes(self) -> int:
        """Return how large all files are together."""
        return sum(file.size for file in self.files)


def check_manifest(document: Any) -> Manifest:
    """Return a manifest if every part of it can be accepted. Raises `BadSkill`."""
    try:
        manifest = msgspec.convert(document, Manifest)
    except msgspec.ValidationError as error:
        raise BadSkill(f"its manifest does not have its form: {error}") from None
    check_name(manifest.name)
    if not _VERSION.fullmatch(manifest.version):
        raise BadSkill(f"{manifest.version[:40]!r} cannot be a version: use letters, digits and . + _ -")
    if storable(manifest.description) != manifest.description:
        raise BadSkill("its description is not text")
    for file in manifest.files:
        check_path(file.path)
        if file.mode not in (FILE, PROGRAM):
            raise BadSkill(f"{file.path} has the mode {file.mode!r}: it may be {FILE} or {PROGRAM}")
    _check_together([file.path for file in manifest.files])
    return manifest


def check_name(name: str) -> str:
    """Return a name if it can be a skill's: it becomes the name of a folder. Raises `BadSkill`."""
    if not _NAME.fullmatch(name) or _DEVICE.fullmatch(name):
        raise BadSkill(
            f"{name[:70]!r} cannot be its name",
            "Use 1 to 64 lower-case letters, digits and dashes, as in review-python.",
        )
    return name


def check_path(path: str) -> None:
    """Raise `BadSkill` unless a path stays below the skill's folder, and means the same on every system."""
    shown = repr(path[:80])
    parts = path.split("/")
    if not path or len(path) > LONGEST_PATH or len(parts) > DEEPEST_PATH:
        raise BadSkill(f"the path {shown} is empty, too long or too deep")
    if not path.isprintable() or unicodedata.normalize("NFC", path) != path or storable(path) != path:
        raise BadSkill(f"the path {shown} has characters that cannot be shown, or be written in several ways")
    for part in parts:
        if part in ("", ".", ".."):
            raise BadSkill(f"the path {shown} leads out of the skill's folder, or is written in a roundabout way")
        if part.startswith(".") or part != part.strip() or part.endswith("."):
            raise BadSkill(f"the path {shown} has a name that is hidden, or begins or ends with a blank or a dot")
        if _RESERVED & set(part) or _DEVICE.fullmatch(part):
            raise BadSkill(f"the path {shown} has a name that some systems do not allow")


def check_contents(manifest: Manifest, contents: Mapping[str, bytes]) -> None:
    """Raise `BadSkill` unless the contents are those that the manifest has, byte for byte."""
    if contents.keys() != {file.path for file in manifest.files}:
        raise BadSkill("its files are not those of its manifest")
    for file in manifest.files:
        data = contents[file.path]
        if len(data) != file.size or hashlib.sha256(data).hexdigest() != file.sha256:
            raise BadSkill(f"{file.path} does not have the hash that its manifest says")
    if sum(map(len, contents.values())) > LARGEST_SKILL:
        raise too_large(sum(map(len, contents.values())))


def too_large(size: int) -> BadSkill:
    """Return the error for a skill with too many bytes."""
    return BadSkill(
        f"its files have {size} bytes or more, and may have {LARGEST_SKILL} in all",
        "Keep what is large out of it: share that as a file (covey mesh file share <path>) and name it in SKILL.md.",
    )


def _check_together(paths: list[str]) -> None:
    """Raise unless the paths can exist beside each other, also where large and small letters are the same."""
    if SKILL_FILE not in paths:
        raise BadSkill(f"it has no {SKILL_FILE} at its top")
    spelt: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            above = "/".join(parts[:end])
            if spelt.setdefault(above.casefold(), above) != above:
                raise BadSkill(f"{spelt[above.casefold()]!r} and {above!r} are the same name on some systems")
    files = set(paths)
    if len(files) != len(paths):
        raise BadSkill("it has a file twice")
    for path in paths:
        parts = path.split("/")
        if any("/".join(parts[:end]) in files for end in range(1, len(parts))):
            raise BadSkill(f"{path!r} is below another file")
