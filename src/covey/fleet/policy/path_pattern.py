"""Patterns for paths: `*` stands for characters of one name, `**` for any names, `?` for one character.

Paths are compared as they are written, without `.`, `//` and `..`; the disk is not looked at. A symbolic link is what
its name says, not what it points to. What is above a link is not what is above its name: so nothing with `..` in it is
ever allowed.
"""

from __future__ import annotations

import posixpath
import re

LONGEST = 4096
"""Characters; the system opens no longer path."""
HOMES = "/(?:home|Users|users)/[^/]+|/root"
"""Where home folders are on other machines, as a regular expression; for what is to be denied."""
_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|/|[^*?/]+")
_MEANING = {"**/": "(?:[^/]+/)*", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class PathPattern:
    """A pattern for files or folders.

    Without a slash it is a name, in any folder. One that begins with `~/` is below the home folder, one that begins
    with `/` is as it stands, any other is below the folder of the request. A slash at its end: the folder and
    everything below it.
    """

    def __init__(self, text: str, home: str) -> None:
        self.text = f"{text}**" if text.endswith("/") else text
        self._home = home

    def covers(self, path: str, folder: str) -> bool:
        """Return whether a path of a request fits, read strictly: as exactly one file, whatever happens."""
        whole = plain_path(path, folder, self._home)
        if whole is None or (self._is_relative and plain_path(folder, "", self._home) is None):
            return False
        return re.fullmatch(self._expression(folder, re.escape(self._home)), whole, re.DOTALL) is not None

    def touches(self, path: str, folder: str) -> bool:
        """Return whether a path of a request fits, or is below one that does, in any way in which it can be read."""
        expression = self._expression(folder, f"(?:{re.escape(self._home)}|{HOMES})")
        readings = _readings(path[:LONGEST], folder, self._home)
        return any(re.fullmatch(f"(?:{expression})(?:/.*)?", whole, re.DOTALL) for whole in readings)

    @property
    def _is_relative(self) -> bool:
        return "/" in self.text and not self.text.startswith(("/", "~/"))

    def _expression(self, folder: str, home: str) -> str:
        """Return a regular expression for whole paths; `home` is one too."""
        if "/" not in self.text:
            return f".*/{_expression(self.text)}"
        if self.text.startswith("~/"):
            return home + _expression(self.text[1:])
        above = "" if self.text.startswith("/") else re.escape(_normal(folder).rstrip("/")) + "/"
        return above + _expression(self.text.removeprefix("./"))


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


def _expression(pattern: str) -> str:
    return "".join(_MEANING.get(token) or re.escape(token) for token in _TOKEN.findall(pattern))
