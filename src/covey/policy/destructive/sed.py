"""Programs of sed: whether one runs commands, by `e` or by the flag `e` of `s`."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(?:\d+(?:~\d+)?|\$|[+~]\d+)")
_TO_END_OF_LINE = frozenset("aicrRwW#")
_LABELLED = frozenset(":btT")
_NUMBERED = frozenset("qQlL")
_ALONE = frozenset("=dDgGhHnNpPxzF")
_FLAGS = re.compile(r"[gpiIMm\d]*(?:w[^\n]*)?")


def runs_commands(script: str) -> bool:
    """Return whether a program of sed may run a command. What is not understood may."""
    at = 0
    while at < len(script):
        if script[at] in " \t\n;{}":
            at += 1
            continue
        after = _behind_addresses(script, at)
        end = None if after is None else _behind_command(script, after)
        if end is None:
            return True
        at = end
    return False


def _behind_addresses(script: str, at: int) -> int | None:
    """Return the place behind the addresses and `!` at a place; None if one of them does not end."""
    while at < len(script):
        letter = script[at]
        if letter in " \t,!":
            at += 1
        elif found := _ADDRESS.match(script, at):
            at = found.end()
        elif letter == "/" or (letter == "\\" and at + 1 < len(script)):
            first = at if letter == "/" else at + 1
            end = _behind_part(script, first + 1, script[first])
            if end is None:
                return None
            at = end
            while script[at : at + 1] in ("I", "M"):
                at += 1
        else:
            return at
    return at


def _behind_command(script: str, at: int) -> int | None:
    """Return the place behind the command at a place; None if it runs something or is not understood."""
    letter = script[at : at + 1]
    if letter in ("", "{", "}"):
        return at + 1
    if letter in ("s", "y"):
        return _behind_replacement(script, at)
    if letter in _TO_END_OF_LINE:
        return _end_of_line(script, at, goes_on=letter in "aic")
    if letter in _LABELLED:  # `;` ends a label for some; what follows is a command for these
        return next((end for end in range(at, len(script)) if script[end] in ";\n"), len(script))
    if letter in _NUMBERED:
        found = re.compile(r"[ \t]*\d*").match(script, at + 1)
        return _behind_end(script, found.end() if found else at + 1)
    return _behind_end(script, at + 1) if letter in _ALONE else None


def _behind_replacement(script: str, at: int) -> int | None:
    delimiter = script[at + 1 : at + 2]
    if delimiter in ("", "\n", "\\"):
        return None
    middle = _behind_part(script, at + 2, delimiter)
    end = None if middle is None else _behind_part(script, middle, delimiter)
    if end is None:
        return None
    flags = _FLAGS.match(script, end) if script[at] == "s" else None
    return _behind_end(script, flags.end() if flags else end)


def _behind_part(script: str, at: int, delimiter: str) -> int | None:
    """Return the place behind the next delimiter that has no backslash in front of it.

    In brackets a delimiter may be a letter like others, which not every sed does: then the parts are not understood.
    """
    while at < len(script):
        if script[at] == "\\":
            at += 2
        elif script[at] == delimiter:
            return at + 1
        elif script[at] == "[" and delimiter in script[at + 1 : (script.find("]", at + 2) + 1 or at + 1)]:
            return None
        else:
            at += 1
    return None


def _end_of_line(script: str, at: int, *, goes_on: bool) -> int:
    """Return the place behind a line; `goes_on`: a backslash at its end continues it."""
    while at < len(script) and script[at] != "\n":
        at += 2 if goes_on and script[at] == "\\" else 1
    return at + 1


def _behind_end(script: str, at: int) -> int | None:
    """Return the place of the sign that ends a command; None if something else follows it."""
    while script[at : at + 1] in (" ", "\t"):
        at += 1
    return at if script[at : at + 1] in ("", ";", "\n", "}", "#") else None
