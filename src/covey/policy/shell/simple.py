"""Texts that every shell takes for one simple command: for what is to be allowed by a pattern.

This is less than a grammar, on purpose: bash, dash, zsh and fish have to agree on every character of it.
"""

from __future__ import annotations

import re

LONGEST = 20_000
"""Characters of a command that is read."""
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=")
_BLANK = " \t"
_OPERATORS = ";&|<>()`$"
_RESERVED = {
    "!", "{", "}", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "end", "esac", "fi", "for", "foreach",
    "function", "if", "in", "repeat", "select", "then", "time", "until", "while",
}  # fmt: skip


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
    found: list[str] = []
    while at < len(text) and text[at] not in _BLANK:
        letter = text[at]
        if letter in _OPERATORS or letter in "{}" or (first and letter in "*?[~") or (letter == "=" and not found):
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
