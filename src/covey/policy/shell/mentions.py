"""Names and paths of rules that are written somewhere in a text, whatever a shell makes of that place."""

# ruff: noqa: PLR2004 - the bounds of Unicode

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from covey.policy.path_pattern import leads_anywhere
from covey.policy.shell.globbed import may_fit
from covey.policy.shell.outputs import GLOB
from covey.policy.shell.searching import READS_ALL
from covey.policy.shell.verdict import program_name
from covey.policy.shell.words import ELSEWHERE
from covey.policy.wildcard import UNKNOWN, Wildcard, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from covey.policy.path_pattern import PathPattern
    from covey.policy.shell.reading import Reading

_ESCAPE = re.compile(r"\\(?:x\{?([0-9a-fA-F]{1,2})\}?|[uU]\{?([0-9a-fA-F]{1,8})\}?|0?([0-7]{1,3}))")
_QUOTES = re.compile(r"\\\r?\n|\$(?=['\"])|['\"\\]")
_BEFORE = r"(?:(?<![\w.\-])|(?<![\w.\-])-[a-z]{0,3}[sce]|(?<=[0-9;])e)"
"""Where a word may begin: also behind an option that takes one."""
_AFTER = r"(?![\w\-]|\.\w)"
_WILD = re.compile(r"[*?]")
_HOME = re.compile(rf"/(?:home|users)/[^/*?{GLOB}]+(?=/)|/root(?=/)")
_HOMES = ("/home/*", "/Users/*", "/users/*", "/root")


def views(text: str) -> tuple[str, ...]:
    """Return a text without its quotes, as it is and with the characters that its escapes stand for."""
    return tuple(dict.fromkeys(folded(_QUOTES.sub("", one)) for one in (text, _ESCAPE.sub(_unescaped, text))))


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[1] or found[2], 16) if found[1] or found[2] else int(found[3], 8)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


class NamedCommand:
    """The program of a pattern for commands, as it may be written anywhere."""

    def __init__(self, pattern: str) -> None:
        pattern = folded(" ".join(pattern.split()))
        first = program_name(pattern.split(" ", maxsplit=1)[0])
        self.name = _WILD.split(first)[0]
        self._is_prefix = self.name != first
        self._program = Wildcard(self.name + "*" * self._is_prefix)
        self._pieces = [piece for piece in re.split(r"[*?\s/]+", pattern) if piece]
        self._anywhere = Wildcard(f"*{pattern}*")
        self._word = re.compile(_BEFORE + re.escape(self.name) + ("" if self._is_prefix else _AFTER))

    def is_elsewhere(self, texts: Sequence[str], reading: Reading) -> bool:
        """Return whether it is written where it is not the program of a command that was read."""
        if not self.name:
            return bool(reading.globbed) or any(self._anywhere.matches(" ".join(text.split())) for text in texts)
        if any(self._program.may_match(folded(name).replace(GLOB, UNKNOWN)) for name in reading.globbed):
            return True
        read = {
            one.at
            for one in reading.commands
            if one.at[-1:] != (ELSEWHERE,) and self._is_program(program_name(folded(one.words[0])))
        }
        return any(
            all(piece in text for piece in self._pieces) and sum(1 for _ in self._word.finditer(text)) > len(read)
            for text in texts
        )

    def _is_program(self, name: str) -> bool:
        return name.startswith(self.name) if self._is_prefix else name == self.name


class MentionedPath:
    """A pattern for paths, compared with what may be a path in a text."""

    def __init__(self, pattern: PathPattern, home: str) -> None:
        self._pattern = pattern
        self._home = home
        text = pattern.text
        self._parts = [part for part in text.removeprefix("~").split("/") if part.strip("*?")]
        self._needles = [
            Wildcard(f"*{part}*").matches if _WILD.search(part) else _written_alone(part).search for part in self._parts
        ]
        self._is_name = "/" not in text

    def is_certain(self, paths: frozenset[str], folder: str) -> bool:
        """Return whether one of the paths fits, in the folder of the request."""
        return any(
            self._pattern.touches(path, folder)
            for whole in paths
            for path in _readings(whole)
            if UNKNOWN not in path and GLOB not in path
        )

    def is_searched(self, reading: Reading, folder: str) -> bool:
        """Return whether a program may go through a folder that a denied path is in.

        A name that is denied in any folder may be anywhere: there only programs that go through all files count.
        """
        inside = [posixpath.join(folder, one) if not one.startswith(("~", "/")) else one for one in reading.folders]
        return any(
            self._pattern.may_be_below(posixpath.normpath(cut if cut[0] in "/~" else posixpath.join(one, cut)), folder)
            for name, word in reading.searched
            if not self._is_name or name in READS_ALL
            for path in _readings(folded(word))
            if (cut := _known_folder(path))
            for one in inside
            if UNKNOWN not in one
        )

    def is_possible(self, reading: Reading, texts: Sequence[str], folder: str) -> bool:
        """Return whether a path may fit: in another folder, with what is not known of it, or written anywhere."""
        if any(self._needles and all(one(text) for one in self._needles) for text in texts):
            return True
        inside = {posixpath.join(folder, one) if not one.startswith(("~", "/")) else one for one in reading.folders}
        return any(self._may_fit(path, one) for whole in reading.paths for path in _readings(whole) for one in inside)

    def _may_fit(self, path: str, folder: str) -> bool:
        path, folder = folded(path), folded(folder)
        if UNKNOWN in path:
            return True
        is_relative = path[:1] not in ("/", "~")
        if is_relative and UNKNOWN in folder:
            return not self._is_name or self._pattern.touches(path.replace(GLOB, "x"), "/")
        folder = re.sub(r"^~(?=/|$)", self._home or "/home/me", folder)
        if GLOB not in path + folder:
            return self._pattern.touches(path, folder if UNKNOWN not in folder else "/")
        whole = posixpath.join("/", folder, re.sub(r"^~(?=/|$)", self._home, path)).replace(UNKNOWN, GLOB * 2)
        if leads_anywhere(whole):
            return True
        known = posixpath.normpath(whole) if ".." not in whole.partition(GLOB)[2] else GLOB
        if self._is_name and GLOB * 2 not in known and known != GLOB:
            names = known.replace(GLOB, UNKNOWN).split("/")
            return any(Wildcard(self._pattern.text).may_match(name) for name in names)
        return known == GLOB or any(may_fit(known, one) for one in self._wholes(folder, known))

    def _wholes(self, folder: str, path: str) -> Iterator[str]:
        """Yield patterns for whole paths that match at least all that the pattern for paths does.

        `path` says which home folder it may be, where that is known.
        """
        text = self._pattern.text
        if text.startswith("~/"):
            of_path = _HOME.match(path)
            homes = (of_path[0],) if of_path else map(folded, _HOMES)
            yield from (f"{one}{text[1:]}" for one in (self._home, *homes))
        elif text.startswith("/"):
            yield text
        elif self._is_name:
            yield f"**/{text}"
        else:
            yield posixpath.join("/", folder.replace(UNKNOWN, "**"), text)


_FILE = re.compile(r"file:(?:/{0,2}(?:localhost)?(?=/)|//)", re.IGNORECASE)


def _written_alone(part: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w.\-])" + re.escape(part) + r"(?![\w\-])")


def _known_folder(path: str) -> str:
    """Return the folder in which what a wildcard stands for lies; the path itself if it has none."""
    return path if GLOB not in path else path.partition(GLOB)[0].rpartition("/")[0] or ("/" if path[:1] == "/" else ".")


def _readings(word: str) -> Iterator[str]:
    """Yield the paths that a word may be, or hold."""
    found = {word, *re.split(r"[=,:]", word), word.partition("=")[2], word[2:] if word.startswith("-") else ""}
    for one in found:
        path = one.lstrip("@<")
        if url := _FILE.match(path):  # what is behind it may have escapes, and signs that curl expands
            path = UNKNOWN if re.search(r"[%\[{]", path) else path[url.end() :]
        if leads_anywhere(path):
            path = UNKNOWN
        if path.startswith("//"):
            path = "/" + path.lstrip("/")
        if other := re.match(r"~([\w.-]+)(?=/|$)", path):
            path = f"/home/{other[1]}{path[other.end() :]}"
        elif re.match(r"~[+-]", path):
            path = UNKNOWN
        if path:
            yield path
