"""One rule of a policy: its conditions, and whether a request fits them."""

from __future__ import annotations

import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from covey.policy.decision import ALLOW, ASK, DENY
from covey.policy.path_pattern import PathPattern, leads_anywhere
from covey.policy.settings import CONDITIONS
from covey.policy.shell.mentions import MentionedPath, NamedCommand, views
from covey.policy.shell.reading import read
from covey.policy.shell.simple import joined, simple_words
from covey.policy.shell.written import possible_texts, texts
from covey.policy.tool_call import FILE, MCP, OTHER, PATCH, SHELL, ToolCall
from covey.policy.wildcard import UNKNOWN, Wildcard, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from covey.policy.decision import Effect
    from covey.policy.request import PolicyRequest
    from covey.policy.shell.reading import Reading

EFFECTS: tuple[Effect, ...] = (ALLOW, DENY, ASK)
NAMED_MCP = "mcp__"
"""How the condition `tool` begins that names tools of MCP servers; an MCP tool that is not named is not allowed."""
OF_PATHS = frozenset({FILE, PATCH})
"""Kinds of calls whose paths are all that they do."""
UNDECLARED = frozenset({MCP, OTHER})
"""Kinds of calls of which any text may be a command or a path: what they mean is not known here."""


_PATH_OF_URL = re.compile(r"^file:/{0,2}(?:localhost)?(?=/)", re.IGNORECASE)


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
        return simple_words(self.request.call.command)

    @cached_property
    def reading(self) -> Reading:
        """All commands in the command, and whether these are all."""
        return read(self.request.call.command)

    @cached_property
    def views(self) -> tuple[str, ...]:
        """The command without its quotes."""
        return views(self.request.call.command)

    @cached_property
    def written(self) -> frozenset[str]:
        """The command and its parts, in all ways in which they may be written, without upper case."""
        whole = self.request.call.command.replace(UNKNOWN, "")
        found = {whole, whole.strip(), " ".join(whole.split())}
        found.update(text for command in self.reading.commands if command.certain for text in texts(command.words))
        return frozenset(folded(text) for text in found)

    @cached_property
    def possible(self) -> frozenset[str]:
        """What may be a command in the command, or the same as one: without the options in front of a subcommand."""
        found = {text for command in self.reading.commands for text in possible_texts(command.words)}
        return frozenset(folded(text) for text in found)

    @cached_property
    def paths(self) -> frozenset[str]:
        """The words of the command that may be paths, without upper case."""
        return frozenset(folded(path) for path in self.reading.paths)

    @property
    def is_command(self) -> bool:
        """Return whether a shell is given it."""
        return bool(self.request.call.command.strip())

    @cached_property
    def as_texts(self) -> tuple[Asked, ...]:
        """The command, and the texts of a call without a declared form, each as if a shell were given it."""
        call = self.request.call
        if not call.unread and (self.is_command or call.kind in OF_PATHS):
            return (self,) if self.is_command else ()
        found = (*call.texts, *(one for text in call.texts if (one := _PATH_OF_URL.sub("", text)) != text))
        calls = [ToolCall(kind=SHELL, command=text) for text in found if text.strip()]
        return tuple(Asked(replace(self.request, call=one)) for one in calls)


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
        self._named = NamedCommand(written["command"]) if "command" in written else None
        self._path = PathPattern(written["path"], own_home) if "path" in written else None
        self._mentioned = MentionedPath(self._path, own_home) if self._path else None
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
        if not self._fits_names(asked.request):
            return Fit.NO
        if self._strict:
            return Fit.YES if self._fits_strictly(asked, path) else Fit.NO
        found = [Fit.YES]
        if self._folder:
            found.append(self._fit_folder(asked.request.runs_in, self._folder))
        if self._command:
            found.append(self._fit_parts(asked))
        if self._path:
            found.append(self._fit_paths(asked, path, self._path))
        return min(found, key=lambda one: one.value)

    def _fits_names(self, request: PolicyRequest) -> bool:
        """Return whether the conditions for names fit."""
        given = {"agent": request.agent, "tool": request.tool, "target": request.target}
        return all(pattern.matches(folded(given[key])) for key, pattern in self._texts.items())

    def _fits_strictly(self, asked: Asked, path: str) -> bool:
        call, folder = asked.request.call, asked.request.runs_in
        if self._folder and not self._folder.covers(folder, ""):
            return False
        if call.kind == MCP and not folded(self.conditions.get("tool", "")).startswith(NAMED_MCP):
            return False
        if self._command and not (
            call.kind == SHELL
            and asked.words is not None
            and any(one.matches(joined(asked.words)) for one in self._command)
        ):
            return False
        if self._path is None:
            return True
        # A path does not say what a command, or a tool that is not for files, does with it.
        return call.kind in OF_PATHS and bool(path) and not leads_anywhere(path) and self._path.covers(path, folder)

    def _fit_folder(self, folder: str, pattern: PathPattern) -> Fit:
        if not folder:
            return Fit.MAYBE
        return Fit.YES if pattern.touches(folded(folder), "") else Fit.NO

    def _fit_parts(self, asked: Asked) -> Fit:
        if not asked.is_command:
            return self._fit_texts(asked)
        if any(one.matches(text) for text in asked.written for one in self._command):
            return Fit.YES
        if not asked.reading.certain or (self._named and self._named.is_elsewhere(asked.views, asked.reading)):
            return Fit.MAYBE
        maybe = any(one.may_match(text) for text in asked.written | asked.possible for one in self._command)
        return Fit.MAYBE if maybe else Fit.NO

    def _fit_texts(self, asked: Asked) -> Fit:
        """Return whether the command may be in a text of a call that has no declared command."""
        if asked.request.call.kind not in UNDECLARED and not asked.request.call.unread:
            return Fit.NO
        return Fit.MAYBE if any(map(self._may_be_in, asked.as_texts)) else Fit.NO

    def _may_be_in(self, asked: Asked) -> bool:
        """Return whether the command may be in a text, which need not be for a shell."""
        named = self._named is not None and self._named.is_elsewhere(asked.views, asked.reading)
        return named or any(one.may_match(text) for text in asked.written | asked.possible for one in self._command)

    def _fit_paths(self, asked: Asked, path: str, pattern: PathPattern) -> Fit:
        folder, call = folded(asked.request.runs_in), asked.request.call
        whole = call.texts if call.unread or call.kind == MCP else ()
        if any(pattern.touches(folded(one), folder) for one in (path, *whole) if one):
            return Fit.YES
        maybe = bool(path) and not folder and path[0] not in "/~"
        maybe = maybe or leads_anywhere(path) or any(map(leads_anywhere, whole))
        maybe = maybe or (call.deep and pattern.may_be_below(folded(path), folder))
        maybe = maybe or any(pattern.may_be_below(folded(one), folder) for one in whole if one[:1] in ("/", "~"))
        fits = [self._fit_mentions(one, folder) for one in asked.as_texts]
        if call.kind == OTHER and not call.unread:  # a prompt that mentions a path does not read it
            fits = [min(one, Fit.MAYBE, key=lambda fit: fit.value) for one in fits]
        return max([Fit.MAYBE if maybe else Fit.NO, *fits], key=lambda one: one.value)

    def _fit_mentions(self, asked: Asked, folder: str) -> Fit:
        """Return whether a path fits that a command, or another text, mentions."""
        if self._mentioned is None:
            return Fit.NO
        if self._mentioned.is_certain(asked.paths, folder):
            return Fit.YES
        if asked.is_command and not asked.reading.certain:
            return Fit.MAYBE
        possible = self._mentioned.is_possible(asked.reading, asked.views, folder)
        return Fit.MAYBE if possible or self._mentioned.is_searched(asked.reading, folder) else Fit.NO

    def why_possible(self, asked: Asked) -> str:
        """Return why it is not known whether the rule fits a request that it may fit."""
        if not asked.is_command:
            return "where that is, is not known"
        if asked.reading.why:
            return asked.reading.why
        if self._named and self._named.name and self._named.is_elsewhere(asked.views, asked.reading):
            return f"{self._named.name} is written in it where it may be run"
        if self._mentioned and self._mentioned.is_searched(asked.reading, folded(asked.request.runs_in)):
            return "a program in it may go through a folder in which that path is"
        return "what it does is known only when it runs"


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
