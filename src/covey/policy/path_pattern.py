"""Patterns for paths: `*` stands for characters of one name, `**` for any names, `?` for one character.

Paths are compared as they are written, without `.`, `//` and `..`; the disk is not looked at. A symbolic link is what
its name says, not what it points to. What is above a link is not what is above its name: so nothing with `..` in it is
ever allowed.

A pattern is compared without trying anything twice: the places in the path that the parts of the pattern read so far
can end at are the bits of one integer, and each further part is one step. So the time is bounded by the length of the
pattern times that of the path, whatever is in them.
"""

from __future__ import annotations

import posixpath
import re
from enum import Enum

LONGEST = 4096
"""Characters; the system opens no longer path."""
HOMES = ("/home/?*", "/Users/?*", "/users/?*", "/root")
"""Where home folders are on other machines, as patterns; for what is to be denied."""
_PART = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|(?:(?!/\*\*$)[^*?])+")


_OF_KERNEL = ("cwd", "root", "fd", "map_files")
_WILDCARD = re.compile(r"[*?\[{\0\1]")
_LAST = re.compile(r"[*?\]}\0\1]")


def leads_anywhere(path: str) -> bool:
    """Return whether a path may go through a link that the kernel makes to any place: `/proc/self/cwd`, `/dev/fd/..`.

    A wildcard in it, or what is not known of it, may stand for any part of a name.
    """
    names = [name for name in path.split("/") if name not in ("", ".")]
    for at, name in enumerate(names):
        if name == "fd" and at and names[at - 1] == "dev" and names[at + 1 : at + 2] == [".."]:
            return True
        is_proc = _may_be(name, "proc") if at == 0 and path.startswith("/") else name == "proc"
        links = [names[place] for place in (at + 2, at + 4) if place < len(names)]
        if is_proc and any(_may_be(one, link) for one in links for link in _OF_KERNEL):
            return True
    return False


def _may_be(written: str, name: str) -> bool:
    """Return whether a name that may have wildcards may stand for another one. Only its ends are compared."""
    parts = _WILDCARD.split(written)
    return written == name or (len(parts) > 1 and name.startswith(parts[0]) and name.endswith(_LAST.split(written)[-1]))


class _Wild(Enum):
    """A part of a pattern that is not a text."""

    FOLDERS = "**/"
    BELOW = "/**"
    ANY = "**"
    NAME = "*"
    ONE = "?"


_Part = _Wild | str
_WILD = {one.value: one for one in _Wild}


class PathPattern:
    """A pattern for files or folders.

    Without a slash it is a name, in any folder. One that begins with `~/` is below the home folder, one that begins
    with `/` is as it stands, any other is below the folder of the request. A slash at its end: the folder and
    everything below it.
    """

    def __init__(self, text: str, home: str) -> None:
        self.text = f"{text}**" if text.endswith("/") else text
        self._home = home
        self._parts = _parts(self.text[1:] if self._is_of_home else self.text.removeprefix("./"))

    def covers(self, path: str, folder: str) -> bool:
        """Return whether a path of a request fits, read strictly: as exactly one file, whatever happens."""
        whole = plain_path(path, folder, self._home)
        if whole is None or (self._is_relative and plain_path(folder, "", self._home) is None):
            return False
        return _Text(whole).fits(self._above(folder, ()), self._parts)

    def touches(self, path: str, folder: str) -> bool:
        """Return whether a path of a request fits, or is below one that does, in any way in which it can be read."""
        above, parts = self._above(folder, _OTHER_HOMES), (*self._parts, _Wild.BELOW)
        return any(_Text(whole).fits(above, parts) for whole in _readings(path[:LONGEST], folder, self._home))

    @property
    def _is_of_home(self) -> bool:
        return self.text.startswith("~/")

    def may_be_below(self, path: str, folder: str) -> bool:
        """Return whether something below a path could fit: not if the pattern begins with a different folder."""
        searched = _normal(posixpath.join("/", folder, _from_home(path, self._home)))
        if "/" not in self.text or ".." in path.split("/"):
            return True
        fixed = re.split(r"[*?]", self.text, maxsplit=1)[0].rpartition("/")[0]
        if self.text.startswith("~/"):
            found = _HOME.match(searched)
            homes = {self._home, "/root", "/home", "/Users", "/users"} if found is None else {found[0], self._home}
            begins = {home + fixed[1:] for home in homes}
        else:
            begins = {posixpath.join("/", folder, fixed)}
        return any(_is_within(searched, one) or _is_within(one, searched) for one in map(_normal, begins))

    @property
    def _is_relative(self) -> bool:
        return "/" in self.text and not self.text.startswith(("/", "~/"))

    def _above(self, folder: str, other_homes: tuple[tuple[_Part, ...], ...]) -> tuple[tuple[_Part, ...], ...]:
        """Return what may be in front of the pattern, each as parts."""
        if self._is_of_home:
            return ((self._home,), *other_homes)
        if self._is_relative:
            return ((_normal(folder).rstrip("/") + "/",),)
        return ((_Wild.ANY, "/"),) if "/" not in self.text else ((),)


class _Text:
    """A path without `//` that is compared. A place is the number of characters in front of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._everywhere = (1 << len(text) + 1) - 1
        self._masks: dict[str, int] = {}

    def fits(self, above: tuple[tuple[_Part, ...], ...], parts: tuple[_Part, ...]) -> bool:
        """Return whether one of the beginnings and then the parts are the whole text."""
        places = 0
        for beginning in above:
            places |= self._after(1, beginning)
        return bool(self._after(places, parts) >> len(self._text))

    def _after(self, places: int, parts: tuple[_Part, ...]) -> int:
        """Return the places that the parts can end at if they begin at one of `places`."""
        for part in parts:
            if not places:
                break
            places = self._after_wild(places, part) if isinstance(part, _Wild) else self._after_text(places, part)
        return places

    def _after_text(self, places: int, part: str) -> int:
        if places & (places - 1) == 0:
            at = places.bit_length() - 1
            return places << len(part) if self._text.startswith(part, at) else 0
        for character in part:
            places = (places & self._of(character)) << 1
            if not places:
                break
        return places

    def _after_wild(self, places: int, part: _Wild) -> int:
        slashes = self._of("/")
        within = self._everywhere >> 1 & ~slashes
        match part:
            case _Wild.ONE:
                return (places & within) << 1
            case _Wild.NAME:  # the sum carries each place to the end of its name
                return places | (within + (places & within)) ^ within
            case _Wild.ANY:
                return self._from_first(places)
            case _Wild.FOLDERS:
                return places | (self._from_first(places & within) & slashes) << 1
            case _Wild.BELOW:
                return places & 1 << len(self._text) | self._from_first(places & slashes)

    def _from_first(self, places: int) -> int:
        """Return all places from the first of these to the end."""
        return self._everywhere & ~((places & -places) - 1) if places else 0

    def _of(self, character: str) -> int:
        """Return the places in front of a character."""
        mask = self._masks.get(character)
        if mask is None:
            signs = "1".join("0" * len(piece) for piece in self._text.split(character))
            mask = self._masks[character] = int(signs[::-1] or "0", 2)
        return mask


def plain_path(path: str, folder: str, home: str) -> str | None:
    """Return a path as a whole; None if what it names depends on more than its text."""
    whole = posixpath.join(folder, _from_home(path, home)) if folder else _from_home(path, home)
    if (
        not path
        or len(whole) > LONGEST
        or not whole.isprintable()
        or not whole.startswith("/")
        or ".." in whole.split("/")
    ):
        return None
    return _normal(whole)


def _readings(path: str, folder: str, home: str) -> set[str]:
    """Return the ways in which a path can be read: `..` as the folder above, or as it stands."""
    whole = posixpath.join("/", folder, _from_home(path, home))
    return {_normal(whole), re.sub(r"/(?:\.?/)+", "/", whole)}


def _from_home(path: str, home: str) -> str:
    return home + path[1:] if home and (path == "~" or path.startswith("~/")) else path


def _normal(path: str) -> str:
    normal = posixpath.normpath(path)
    return f"/{normal.lstrip('/')}" if normal.startswith("/") else normal


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _parts(pattern: str) -> tuple[_Part, ...]:
    return tuple(_WILD.get(part, part) for part in _PART.findall(pattern))


_HOME = re.compile(r"/(?:home|users)/[^/]+|/root(?=/|$)", re.IGNORECASE)
_OTHER_HOMES = tuple(_parts(home) for home in HOMES)
