"""The simple commands in a text for the shell, in the order in which they are written, and what else is in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.shell import programs as shell_programs
from covey.policy.shell.nodes import is_input, sign, text_of
from covey.policy.shell.reading import _Reader
from covey.policy.shell.syntax import unusual_characters
from covey.policy.shell.words import GLOB, Word, WordReader
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from covey.policy.shell.verdict import Verdict

_BRACES = re.compile(r"(?<!\$)\{(?![}\s])")
"""Braces that may become several words, of which each may be any path."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_GLUED = re.compile(r"[^\s&|;<>]&[^\s&|;<>)]")
"""`&` inside of a word, which is a part of it in fish."""
_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/[\w.+-]+$|/opt/homebrew/bin/[\w.+-]+$")
"""Programs of the system, which are what their names say."""
_CHANGES_SYNTAX = frozenset({"setopt", "unsetopt", "emulate"})
_DISCARDED = re.compile(r"/dev/(?:null|stdout|stderr|tty)|-|\d+")
"""Targets of a redirection in which nothing is kept."""


class Command(NamedTuple):
    """One command as its words; `fed` if something in the text is written to it.

    Its words have `UNKNOWN` for what only the shell will know and `*` for wildcards; `~` and `.` stand for the home
    folder and the folder in which it runs where the text has variables.
    """

    words: tuple[str, ...]
    fed: bool


class Commands(NamedTuple):
    """What was found in a text. `objection` says why there may be more, or it may mean something else."""

    found: tuple[Command, ...]
    objection: str
    values: tuple[str, ...]
    """What variables are given: by assignments, and by loops."""
    documents: tuple[str, ...]
    """Here-documents and here-strings."""
    targets: tuple[str, ...]
    """Files that redirections write to, other than those in which nothing is kept."""


def commands_in(text: str) -> Commands:
    """Return the commands in a text, in which `HIDDEN` stands for what is not known of it. Never raises."""
    reader = _Written("*" if _BRACES.search(text) is None else UNKNOWN)
    unusual = unusual_characters(text)
    if unusual:
        reader.doubt(unusual)
    if _GLUED.search(_QUOTED.sub("''", text)):
        reader.doubt("shells do not agree whether & ends a word: put blanks around it")
    reader.read(text.replace(UNKNOWN, "").replace(GLOB, ""), (), piped=False)
    why = reader.reading().why
    return Commands(tuple(reader.written), why, tuple(reader.given), tuple(reader.documents), tuple(reader.redirected))


def is_known(word: str) -> bool:
    """Return whether nothing in a word is left to the shell."""
    return UNKNOWN not in word


def runs_others(words: Sequence[str]) -> bool:
    """Return whether a program may run its words or what it reads, as the policy's reader knows programs."""
    verdict = _verdict(words)
    return verdict.runs_words or bool(verdict.why or verdict.script) or _is_file(words[0])


def takes_data(words: Sequence[str]) -> bool:
    """Return whether a program takes its words as data, or runs one that does."""
    verdict = _verdict(words)
    if verdict.inner and not verdict.why:
        return all(takes_data([word.text for word in inner]) for inner in verdict.inner)
    return not verdict.runs_words and not verdict.why and not verdict.script and not _is_file(words[0])


def is_made_for_running(words: Sequence[str]) -> bool:
    """Return whether a program is there to run its words."""
    verdict = _verdict(words)
    return verdict.runs_words and verdict.certainly


def start_of_inner(words: Sequence[str]) -> int | None:
    """Return the place of the program that the words tell a program to run; None if that is not certain."""
    verdict = _verdict(words)
    return verdict.inner[0][0].at[0] if len(verdict.inner) == 1 and verdict.inner[0] and not verdict.why else None


def _is_file(program: str) -> bool:
    """Return whether a program is a file that the text names, and may be another one than its name says."""
    return "/" in program and _SYSTEM.match(program) is None


def _verdict(words: Sequence[str]) -> Verdict:
    own = [Word(word, word, (at,), single=is_known(word)) for at, word in enumerate(words)]
    return shell_programs.judge(own, piped=False)


class _Written(_Reader):
    """Keeps each command as it is written; what its program is told to run is judged elsewhere."""

    def __init__(self, wildcard: str) -> None:
        super().__init__()
        self.written: list[Command] = []
        self.given: list[str] = []
        self.documents: list[str] = []
        self.redirected: list[str] = []
        self._wildcard = wildcard

    def run(self, own: Sequence[Word], *, piped: bool, certain: bool) -> None:
        """Keep a command."""
        del certain
        self._take_set(shell_programs.judge(list(own), piped=piped).sets)
        if own[0].text in _CHANGES_SYNTAX:
            self.doubt(f"{own[0].text} changes how the rest is read")
        self.written.append(Command(tuple(self._plain(word) for word in own), piped))

    def _value(self, name: str, value: Word | None) -> None:
        super()._value(name, value)
        if value is not None and value.text:
            self.given.append(value.text)

    def _feeds(self, node: Node) -> bool:
        return is_input(node)

    def _writes_plain_text(self, node: Node) -> bool:
        del node
        return False

    def _redirect(self, node: Node, words: WordReader, *, piped: bool) -> None:
        before = len(self._written)
        super()._redirect(node, words, piped=piped)
        for word in self._written[before:] if node.type != "heredoc_redirect" else ():
            if node.type == "herestring_redirect":
                self.documents.append(word.text)
            elif sign(node) != "<" and not _DISCARDED.fullmatch(word.text):
                self.redirected.append(self._plain(word))

    def _document(self, node: Node, words: WordReader, *, piped: bool) -> None:
        super()._document(node, words, piped=piped)
        self.documents += [text_of(child) for child in node.children if child.type == "heredoc_body"]

    def _plain(self, word: Word) -> str:
        """Return a word as one text. `{}` is what xargs and find replace."""
        if word.known:
            return word.text
        values = {path.replace(GLOB * 2, "{}").replace(GLOB, self._wildcard) for path in self._filled(word)}
        return values.pop() if len(values) == 1 else UNKNOWN
