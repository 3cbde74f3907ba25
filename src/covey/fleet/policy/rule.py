"""One rule of a policy: its conditions, and whether a request fits them."""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.fleet.policy.decision import ALLOW, ASK, DENY
from covey.fleet.policy.path_pattern import PathPattern
from covey.fleet.policy.settings import CONDITIONS
from covey.fleet.policy.shell_command import joined, parts, readable, simple_words, texts
from covey.fleet.policy.wildcard import UNKNOWN, Wildcard, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from covey.fleet.policy.decision import Effect
    from covey.fleet.policy.request import PolicyRequest
    from covey.fleet.policy.shell_command import Parts

EFFECTS: tuple[Effect, ...] = (ALLOW, DENY, ASK)
PATCHING = frozenset({"apply_patch"})
"""Tools whose command is a patch and no command line: the paths in it are all that it does."""


class Fit(Enum):
    """Whether a rule fits a request. MAYBE: that depends on what only the shell will know."""

    YES = 2
    MAYBE = 1
    NO = 0


class RuleProblem(NamedTuple):
    """Why a rule cannot be used: its place among the rules (from 0), the name in its table, and a sentence."""

    place: int
    key: str
    message: str


class Asked:
    """A request with what is read out of its command, once for all rules."""

    def __init__(self, request: PolicyRequest) -> None:
        self.request = request

    @cached_property
    def words(self) -> tuple[str, ...] | None:
        """The words of the command, if it is one simple command."""
        return simple_words(self.request.command)

    @cached_property
    def parts(self) -> Parts:
        """All commands in the command."""
        return parts(self.request.command)

    @cached_property
    def written(self) -> frozenset[str]:
        """The command and its parts, in all ways in which they may be written, without upper case."""
        whole = readable(self.request.command)
        found = {whole, whole.strip(), " ".join(whole.split())}
        found.update(text for command in self.parts.commands for text in texts(command))
        return frozenset(folded(text) for text in found)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The words of the command that may be paths, without upper case."""
        words = {word for command in self.parts.commands for word in command}
        words |= {word.partition("=")[2] for word in words if "=" in word}
        words |= {word[2:] for word in words if word.startswith("-")}  # as in -i~/.ssh/id
        return frozenset(folded(word.lstrip("@")) for word in words if word.strip("@"))


class Rule:
    """A rule that can be read. See `read_rule`."""

    def __init__(self, index: int, name: str, effect: Effect, conditions: Mapping[str, str], home: str) -> None:
        self.index = index
        self.name = name
        self.effect: Effect = effect
        self.conditions = dict(conditions)
        self._strict = effect == ALLOW
        written = {key: text if self._strict else folded(text) for key, text in conditions.items()}
        own_home = home if self._strict else folded(home)
        self._texts = {key: Wildcard(folded(conditions[key])) for key in ("agent", "tool", "target") if key in written}
        self._command = _command_patterns(written["command"]) if "command" in written else ()
        self._path = PathPattern(written["path"], own_home) if "path" in written else None
        self._folder = PathPattern(written["folder"].rstrip("/") + "/", own_home) if "folder" in written else None

    @property
    def narrowness(self) -> tuple[int, int]:
        """Return how many conditions it has, and how many characters of them are no wildcards."""
        literal = sum(letter not in "*?" for text in self.conditions.values() for letter in text)
        return len(self.conditions), literal

    def fit(self, asked: Asked, path: str) -> Fit:
        """Return whether a request fits all conditions; `path` is one of its paths, or empty if it has none.

        An `allow` is read strictly: the path has to fit, and the command has to be one simple command. The others are
        read loosely: any part of the command is enough, and a path that it mentions.
        """
        for key, pattern in self._texts.items():
            if not pattern.matches(folded(getattr(asked.request, key))):
                return Fit.NO
        if self._strict:
            return Fit.YES if self._fits_strictly(asked, path) else Fit.NO
        found = [Fit.YES]
        if self._folder:
            found.append(self._fit_folder(asked.request.folder, self._folder))
        if self._command:
            found.append(self._fit_parts(asked))
        if self._path:
            found.append(self._fit_paths(asked, path, self._path))
        return min(found, key=lambda one: one.value)

    def _fits_strictly(self, asked: Asked, path: str) -> bool:
        request = asked.request
        if self._folder and not self._folder.covers(request.folder, ""):
            return False
        if self._command and not (
            asked.words is not None and any(one.matches(joined(asked.words)) for one in self._command)
        ):
            return False
        if self._path and not self._command and request.command and folded(request.tool) not in PATCHING:
            return False  # a path does not say what a command does with it
        return self._path is None or (bool(path) and self._path.covers(path, request.folder))

    def _fit_folder(self, folder: str, pattern: PathPattern) -> Fit:
        if not folder:
            return Fit.MAYBE
        return Fit.YES if pattern.touches(folded(folder), "") else Fit.NO

    def _fit_parts(self, asked: Asked) -> Fit:
        if not asked.request.command.strip():
            return Fit.NO
        if any(one.matches(text) for text in asked.written for one in self._command):
            return Fit.YES
        maybe = any(one.may_match(text) for text in asked.written for one in self._command)
        return Fit.MAYBE if maybe or not asked.parts.certain else Fit.NO

    def _fit_paths(self, asked: Asked, path: str, pattern: PathPattern) -> Fit:
        folder = folded(asked.request.folder)
        mentioned = asked.mentioned if asked.request.command else frozenset()
        if any(pattern.touches(one, folder) for one in {folded(path), *mentioned} if one):
            return Fit.YES
        unknown = any(UNKNOWN in word for word in mentioned) or (bool(path) and not folder and path[0] not in "/~")
        return Fit.MAYBE if unknown or (mentioned and not asked.parts.certain) else Fit.NO


def read_rule(index: int, table: Mapping[str, Any], home: str) -> tuple[Rule | None, list[RuleProblem]]:
    """Return the rule of a table, or what is wrong with it. Names and kinds of values have been checked before."""
    problems = list(_problems(index, table))
    if problems:
        return None, problems
    conditions = {key: table[key] for key in CONDITIONS if key in table}
    return Rule(index, table["name"], table["effect"], conditions, home), []


def _problems(index: int, table: Mapping[str, Any]) -> Iterator[RuleProblem]:
    for key, value in table.items():
        if not value.strip() or not value.isprintable():
            yield RuleProblem(index, key, f"{key} is empty, or has characters that cannot be shown")
    if table["effect"] not in EFFECTS:
        yield RuleProblem(index, "effect", f"effect has to be one of {', '.join(EFFECTS)}")
    for key in ("path", "folder"):
        if key in table and (wrong := _wrong_path(table[key])):
            yield RuleProblem(index, key, f"{key} {wrong}")
    if "folder" in table and not table["folder"].startswith(("/", "~")):
        yield RuleProblem(index, "folder", "folder has to begin with / or ~/")


def _wrong_path(text: str) -> str:
    """Return what is wrong with a pattern for paths; empty if nothing is."""
    if {"..", "."} & set(text.removeprefix("./").split("/")) or "//" in text:
        return "is compared as it stands: write it without .., /./ and //"
    if text.startswith("~") and not text.startswith("~/"):
        return "may begin with ~/, but not with the home of another user"
    return ""


def _command_patterns(text: str) -> tuple[Wildcard, ...]:
    """Return the patterns that a text stands for: `git push *` is also `git push` without anything."""
    text = " ".join(text.split())
    return (Wildcard(text), Wildcard(text[:-2])) if text.endswith(" *") else (Wildcard(text),)
