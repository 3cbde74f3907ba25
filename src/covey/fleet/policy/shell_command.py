"""Command lines for a shell, read twice: strictly, as one simple command or not at all, and loosely, as all its parts.

Strictly is for what is to be allowed: whatever a shell might understand in another way is not read. Loosely is for what
is to be denied: every command in the text is found, also in substitutions and in what other programs are told to run;
what only the shell will know, such as the value of a variable, is `UNKNOWN`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.fleet.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 20_000
"""Characters of a command that is read; a longer one is never simple, and its parts are not certain."""
DEEPEST = 12
"""Substitutions inside of substitutions, and commands in the words of commands."""
MOST_WORDS = 64
"""Words after a program that runs others which are tried as the beginning of a command."""
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=")
_BLANK = " \t"
_OPERATORS = ";&|<>()`$"
_ANYTHING = "\1"
"""In a word that is being read: the shell makes something else of the whole word."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_RESERVED = {
    "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "end", "esac", "fi", "for", "foreach",
    "function", "if", "in", "repeat", "select", "then", "time", "until", "while",
}  # fmt: skip
_RUNS_OTHERS = _RESERVED | {
    "ash", "bash", "builtin", "busybox", "chroot", "chrt", "command", "csh", "dash", "doas", "docker", "entr", "env",
    "eval", "exec", "fish", "find", "flock", "ionice", "ksh", "nice", "nohup", "nsenter", "parallel", "pkexec",
    "podman", "runuser", "script", "setsid", "sh", "ssh", "stdbuf", "strace", "su", "sudo", "systemd-run", "tcsh",
    "timeout", "trap", "unbuffer", "unshare", "watch", "xargs", "zsh",
}  # fmt: skip
"""Programs and words of the shell after which another command may stand, somewhere in their words."""


def simple_words(text: str) -> tuple[str, ...] | None:
    """Return the words of a text that every shell takes for one command without side effects of its own; else None.

    None for several commands, pipes, redirections, substitutions, variables, braces, comments, assignments, control
    characters (line breaks too) and quotes that do not end. Wildcards in other words than the first are left as they
    are: they become names of files.
    """
    if len(text) > LONGEST or not text.replace("\t", " ").isprintable():
        return None
    words: list[str] = []
    at = 0
    while at < len(text):
        if text[at] in _BLANK:
            at += 1
            continue
        if text[at] == "#":
            return None
        read = _simple_word(text, at, first=not words)
        if read is None:
            return None
        word, at = read
        words.append(word)
    if not words or not words[0] or words[0] in _RESERVED:
        return None
    return tuple(words)


def _simple_word(text: str, at: int, *, first: bool) -> tuple[str, int] | None:
    """Return the word that begins at a place, and the place behind it; None if it is not plain."""
    if first and _ASSIGNMENT.match(text, at):
        return None
    found = []
    while at < len(text) and text[at] not in _BLANK:
        letter = text[at]
        if letter in _OPERATORS or letter in "{}" or (first and letter in "*?[~="):
            return None
        if letter in "'\"":
            end = text.find(letter, at + 1)
            inside = text[at + 1 : end]
            # A backslash in quotes: shells differ. $ and ` act in double quotes, ! does in a shell for people.
            if end < 0 or "\\" in inside or (letter == '"' and any(sign in inside for sign in "$`!")):
                return None
            found.append(inside)
            at = end + 1
        elif letter == "\\":
            if at + 1 >= len(text) or text[at + 1].isalnum():  # fish: \n and \x41 are other characters
                return None
            found.append(text[at + 1])
            at += 2
        else:
            found.append(letter)
            at += 1
    return "".join(found), at


def joined(words: tuple[str, ...]) -> str:
    """Return words with one blank between them; a word that has blanks itself, or is empty, stands in quotes."""
    return " ".join(word if word and not set(word) & set(_BLANK) else f"'{word}'" for word in words)


class Parts(Struct, frozen=True):
    """All commands that were found in a text, each as its words.

    `certain` is False if there may be others: the text could not be read to its end.
    """

    commands: tuple[tuple[str, ...], ...]
    certain: bool


def parts(text: str) -> Parts:
    """Return the commands in a text, read loosely."""
    reader = _Loose(readable(text)[:LONGEST], 0)
    reader.read()
    return Parts(tuple(dict.fromkeys(reader.found)), reader.certain and len(text) <= LONGEST)


def readable(text: str) -> str:
    """Return a text without the characters that mean something here and can be in no command."""
    return text.replace(UNKNOWN, "").replace(_ANYTHING, "")


def texts(command: tuple[str, ...]) -> Iterator[str]:
    """Yield the ways in which a command may be written: with and without the folder of its program.

    Each also as if an unknown word were none or several.
    """
    name = command[0].rpartition("/")[2]
    for words in dict.fromkeys((command, (name, *command[1:]))):
        text = " ".join(words)
        yield text
        yield text.replace(f" {UNKNOWN}", UNKNOWN).replace(f"{UNKNOWN} ", UNKNOWN)


class _Loose:
    """Reads a text from the left. Whatever separates commands for some shell does it here."""

    def __init__(self, text: str, depth: int) -> None:
        self.found: list[tuple[str, ...]] = []
        self.certain = True
        self._text = text
        self._at = 0
        self._depth = depth

    def read(self, closing: str = "") -> None:
        """Read up to a closing sign, which is taken, or to the end."""
        words: list[str] = []
        word: list[str] = []
        has_word = False
        while (letter := self._next()) and letter != closing:
            separates = letter in ";&|\n\r()" or (letter == "{" and not has_word and self._peek() in " \t\n")
            if not separates and letter not in " \t<>":  # what is redirected to counts as a word
                self._letter(letter, word)
                has_word = True
                continue
            if has_word:
                words.append(_ended(word))
                word, has_word = [], False
            if separates:
                self._command(words)
                words = []
            if letter == "(":
                self._inner(")")
        if has_word:
            words.append(_ended(word))
        self._command(words)
        self.certain &= not closing or bool(letter)

    def _next(self) -> str:
        letter = self._peek()
        self._at += 1
        return letter

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _letter(self, letter: str, word: list[str]) -> None:
        """Take one character of a word, or all that is quoted by it."""
        if letter == "\\":
            escaped = self._next()
            self.certain &= bool(escaped)
            word.append("" if escaped == "\n" else escaped)
        elif letter == "'":
            word.append(self._upto("'"))
        elif letter == '"':
            self._quoted(word)
        elif letter == "`":
            self._inner("`")
            word.append(UNKNOWN)
        elif letter == "$":
            self._dollar(word)
        elif letter in "[{":
            word.append(_ANYTHING)
        else:
            word.append(UNKNOWN if letter in "*?" else letter)

    def _upto(self, sign: str) -> str:
        """Take what stands before a sign, and the sign."""
        end = self._text.find(sign, self._at)
        self.certain &= end >= 0
        end = end if end >= 0 else len(self._text)
        taken = self._text[self._at : end]
        self._at = end + 1
        return taken

    def _quoted(self, word: list[str]) -> None:
        """Take what stands in double quotes."""
        while (letter := self._next()) != '"':
            if not letter:
                self.certain = False
                return
            if letter == "\\":
                escaped = self._next()
                word.append(escaped if escaped in '"\\$`' else f"\\{escaped}")
            elif letter == "$":
                self._dollar(word)
            elif letter == "`":
                self._inner("`")
                word.append(UNKNOWN)
            else:
                word.append(letter)

    def _dollar(self, word: list[str]) -> None:
        """Take a variable or a substitution."""
        following = self._peek()
        word.append(_ANYTHING if following in ("{", "'") else UNKNOWN)  # ${…} and $'…' are not taken apart
        if following == "(":
            self._at += 1
            self._inner(")")
        elif name := _NAME.match(self._text, self._at):
            self._at = name.end()

    def _inner(self, closing: str) -> None:
        """Read the commands of a substitution."""
        if self._depth >= DEEPEST:
            self.certain = False
            return
        self._depth += 1
        self.read(closing)
        self._depth -= 1

    def _command(self, words: list[str]) -> None:
        """Keep a command, and those that its program may be told to run."""
        own = list(words)
        while own and _ASSIGNMENT.match(own[0]):
            del own[0]
        if not own:
            return
        self.found.append(tuple(own))
        if own[0].rpartition("/")[2].casefold() not in _RUNS_OTHERS:
            return
        if self._depth >= DEEPEST:
            self.certain = False
            return
        for at in range(1, min(len(own), MOST_WORDS)):
            self.found.append(tuple(own[at:]))
        for word in own[1:MOST_WORDS]:
            if word != UNKNOWN and set(word) & set(" \t\n;&|("):
                inner = _Loose(word, self._depth + 1)
                inner.read()
                self.found += inner.found
                self.certain &= inner.certain
        self.certain &= len(own) <= MOST_WORDS


def _ended(word: list[str]) -> str:
    return UNKNOWN if _ANYTHING in word else "".join(word)
