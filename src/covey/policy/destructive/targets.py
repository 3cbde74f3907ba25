"""Where a deletion may reach: below the workspace and the folders for temporary files, and nowhere else."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.path_pattern import leads_anywhere
from covey.policy.shell.mentions import views
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108 - only compared
_WILD = re.compile(r"[*?\[\]{}]")
_HARMLESS_DEVICES = re.compile(
    r"/dev/(?:null|zero|full|u?random|tty|std(?:in|out|err)|ptmx|(?:fd|pts|shm|tcp|udp)(?:/.*)?)?"
)
_SYSTEM_NAMES = ("dev", "proc", "sys")
_SYSTEM = tuple(f"/{name}" for name in _SYSTEM_NAMES)
_MENTIONED = re.compile(r"(?:^(?:-\w{0,2})?|(?<=[^\w./~*?\]}-]))(/+(?:dev|proc|sys)/[^\s\"'`:]*)")
_ANYWHERE = re.compile(r"((?<!/)/++(?:dev|proc|sys)/[^\s\"'`:]*)")
"""Paths of the system: at the beginning of a path, or behind what only the shell will know."""
_SCRIPTS = re.compile(r"sed\b|awk\b")
"""Programs whose scripts have the name of a file glued to a command: `sed w/dev/sda`."""
LONGEST = 4096
"""Characters of a path."""


class Place(NamedTuple):
    """Where a command runs, and for whom."""

    folder: str
    """The folder in which it begins."""
    workspace: str
    """The folder below which the agent may delete."""
    home: str
    temporary: tuple[str, ...] = TEMPORARY
    resolve: Callable[[str], str] = posixpath.normpath
    """Returns what a path leads to; by itself only its text is looked at."""
    folder_lasts: bool = False
    """Whether a `cd` counts for the agent's later commands."""


class Folders:
    """The folders in which a command of a text may run, as far as they are known."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.known = [place.folder] if place.folder.startswith("/") else []
        self.certain = bool(self.known)

    def change(self, words: tuple[str, ...], *, repeated: bool) -> str:
        """Take a `cd` into account. Returns what is wrong with it; empty if nothing is."""
        targets = [word for word in words[1:] if word == "-" or not word.startswith("-")]
        target = targets[0] if targets else self._place.home
        other_home = target.startswith("~") and target != "~" and not target.startswith("~/")
        if UNKNOWN in target or other_home or target == "-" or len(targets) > 1 or (repeated and ".." in target):
            self.certain = False
        else:
            folders = self.known or ["/"] * target.startswith(("/", "~"))
            new = [_joined(folder, target, self._place.home) for folder in folders]
            self.known = list(dict.fromkeys([*self.known, *new]))[:64]
            self.certain &= len(self.known) < 64  # noqa: PLR2004 - the bound of the line above
        if self._place.folder_lasts and not (self.certain and all(map(self._is_inside, self.known))):
            return "cd out of the workspace would count for later commands: name the path in the command instead"
        return ""

    def unknown(self) -> Folders:
        """Return the same where it is not known in which folder a command runs."""
        found = Folders(self._place)
        found.known, found.certain = list(self.known), False
        return found

    def _is_inside(self, folder: str) -> bool:
        return _is_below(folder, self._place.workspace) or folder == posixpath.normpath(self._place.workspace)

    def all_of(self, word: str) -> list[str] | None:
        """Return the paths that a word may mean; None if that is not known."""
        if word.startswith("~") and word != "~" and not word.startswith("~/"):
            return None
        if word.startswith(("/", "~")):
            return [_joined("/", word, self._place.home)]
        return [_joined(folder, word, self._place.home) for folder in self.known] if self.certain else None


def objection_to_deleting(word: str, folders: Folders, place: Place, *, start: bool = False) -> str:
    """Return why what a word names may not be deleted with all that is below it; empty if it may.

    `start`: what is deleted lies below it, as with `find`; then the workspace itself may be named.
    """
    if not word:
        return ""  # it names nothing
    if UNKNOWN in word or leads_anywhere(word):
        return "what is deleted is known only when it runs: write the path out"
    if any(map(_may_be_above, word.split("/"))):
        return f"{_shown(word)} may match the folder above: name what is to be deleted"
    paths = folders.all_of(word)
    if paths is None:
        return f"it is not known which folder {_shown(word)} is in: write the whole path, without cd"
    for path in paths:
        if wrong := _objection(path, word, place, start=start):
            return wrong
    return ""


def _may_be_above(name: str) -> bool:
    """Return whether a name with wildcards may be `..`, as some shells have it."""
    return name.startswith(".") and bool(_WILD.search(name)) and fnmatchcase("..", name)


def _objection(path: str, word: str, place: Place, *, start: bool) -> str:
    home = posixpath.normpath(place.home) if place.home else ""
    workspace = posixpath.normpath(place.workspace) if place.workspace else ""
    for reading in dict.fromkeys((path, _resolved(path, place))):
        if reading == "/" or (home and (_matches_above(reading, home) or _empties(reading, home))):
            return f"{_shown(word)} is the home folder, or what it lies in"
        if workspace and workspace != "/" and (_is_below(reading, workspace) or (start and reading == workspace)):
            continue
        if not (home and _is_below(reading, home)) and any(_is_inside(reading, folder) for folder in place.temporary):
            continue
        return f"{_shown(word)} is not below the workspace: name a path inside of it"
    return ""


def device_in(text: str, folders: Folders) -> str:
    """Return the device or the switch of the system that a text names, or may name; empty if it names none."""
    split = (re.split(signs, view) for view in views(text) for signs in (r"[\s=,;&|<>()]+", r"[\s=;&|<>()]+"))
    words = dict.fromkeys(word for part in split for word in part if 0 < len(word) < LONGEST)
    in_script = _SCRIPTS.search(text) is not None
    return next((found for word in words for found in _devices(word, folders, in_script=in_script)), "")


def _devices(word: str, folders: Folders, *, in_script: bool) -> Iterator[str]:
    """Yield the devices that a word may mean as a path, or mention, and the folder of devices."""
    if leads_anywhere(word):
        yield word
    if any(posixpath.normpath(path) == "/dev" for path in folders.all_of(word) or ()):
        yield "/dev"
    mentioned = _ANYWHERE if in_script or re.search(r"[$`{]", word) else _MENTIONED
    paths = [f"/{found[1].strip('/').rstrip('.]})')}" for found in mentioned.finditer(word)]
    if "dev" in word or _WILD.search(word) or any(folder.startswith(_SYSTEM) for folder in folders.known):
        paths += [_joined(folder, word, "") for folder in folders.known if folder.startswith(_SYSTEM)]
        paths += folders.all_of(word) or ["/" + re.sub(r"^(?:\.{0,2}/)+", "", word)]
    for path in paths:
        plain = posixpath.normpath(path)
        begin, _, rest = plain[1:].partition("/")
        for own in (name for name in _SYSTEM_NAMES if rest and _may_be(name, begin)):
            whole = f"/{own}/{rest}"
            is_device = own == "dev" and not _HARMLESS_DEVICES.fullmatch(whole)
            if is_device or (own != "dev" and _may_be_switch(whole)):
                yield whole


def _may_be(name: str, pattern: str) -> bool:
    """Return whether a shell may make a name of a pattern, which may have braces."""
    if not _WILD.search(pattern):
        return name == pattern
    signs = {"*": ".*", "?": ".", "{": "(?:", "}": ")", ",": "|"}
    parts = re.findall(r"\[!?\]?[^\]]*\]|\.\.|.", pattern, re.DOTALL)
    written = (signs.get(one) or (".*" if one == ".." or len(one) > 1 else re.escape(one)) for one in parts)
    try:
        return re.fullmatch("".join(written), name) is not None
    except re.error:  # braces that do not end
        return True


def _may_be_switch(path: str) -> bool:
    names = path.split("/")
    return any(
        len(names) == len(switch) and all(map(_may_be, switch, names))
        for switch in (one.split("/") for one in ("/proc/sysrq-trigger", "/sys/power/state", "/sys/power/disk"))
    )


def _resolved(path: str, place: Place) -> str:
    """Return what a path leads to, up to its first wildcard."""
    whole = path.split("/")
    first = next((at for at, name in enumerate(whole) if _WILD.search(name)), len(whole))
    return posixpath.join(place.resolve("/".join(whole[:first]) or "/"), *whole[first:])


def _joined(folder: str, target: str, home: str) -> str:
    if target == "~" or target.startswith("~/"):
        target = home + target[1:]
    path = posixpath.normpath(posixpath.join(folder, target))
    return f"/{path.lstrip('/')}"


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/")


def _is_inside(path: str, folder: str) -> bool:
    """Return whether a path is below a folder, and not a wildcard for everything in it."""
    first = path.removeprefix(f"{folder}/").partition("/")[0]
    return _is_below(path, folder) and not _WILD.search(first)


def _matches_above(path: str, home: str) -> bool:
    """Return whether a path, which may have wildcards, may be the home folder or a folder in which it lies."""
    names, own = path.split("/"), home.split("/")
    return len(names) <= len(own) and all(map(_fits, own, names))


def _empties(path: str, home: str) -> bool:
    """Return whether a wildcard stands for what is in the home folder, or in a folder in which that lies."""
    above, _, last = path.rpartition("/")
    return bool(_WILD.search(last)) and (not above or _matches_above(above, home))


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or bool(_WILD.search(pattern) and ("{" in pattern or fnmatchcase(name, pattern)))


def _shown(word: str) -> str:
    return word.replace(UNKNOWN, "*")[:100]
