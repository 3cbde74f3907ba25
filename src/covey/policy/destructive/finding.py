"""What the words of `find` say: where it starts, what it runs, and whether it deletes."""

from __future__ import annotations

import re
from typing import NamedTuple

from covey.policy.destructive.commands import is_known
from covey.policy.wildcard import UNKNOWN

_RUNS = {"-exec": False, "-execdir": True, "-ok": False, "-okdir": True}
"""Its actions that run a command, and whether in the folder of the file."""
_OPTION = re.compile(r"-[HLPEXdsx]+|-O\d*")
_EXPRESSION = ("-", "(", ")", "!", ",")


class Find(NamedTuple):
    """A command of find. `unknown`: a word of it is known only when it runs, and may be an option or a folder."""

    starts: tuple[str, ...]
    runs: tuple[tuple[tuple[str, ...], bool], ...]
    """Each command that it runs, and whether in the folder of the file."""
    deletes: bool
    unknown: bool


def read_find(words: tuple[str, ...]) -> Find:
    """Return what the words of find say, of which the first is its program."""
    starts: list[str] = []
    at = 1
    while at < len(words):
        word = words[at]
        if word in ("-D", "-f"):
            starts += words[at + 1 : at + 2] if word == "-f" else ()
            at += 2
        elif _OPTION.fullmatch(word) or word == "--":
            at += 1
        elif word.startswith(_EXPRESSION):
            break
        else:
            starts.append(word)
            at += 1
    runs: list[tuple[tuple[str, ...], bool]] = []
    others: list[str] = []
    while at < len(words):
        word = words[at]
        at += 1
        if word not in _RUNS:
            others.append(word)
            continue
        end = next((one for one in range(at, len(words)) if _ends(words, one)), len(words))
        runs.append((tuple(words[at:end]), _RUNS[word]))
        at = end + 1
    unknown = any(word.startswith((UNKNOWN, f"-{UNKNOWN}")) for word in others) or "-files0-from" in others
    return Find(tuple(starts) or (".",), tuple(runs), "-delete" in others, unknown or not _all_known(starts, others))


def _all_known(starts: list[str], others: list[str]) -> bool:
    """Return whether no start may become more words than one while something is deleted."""
    return all(map(is_known, starts)) or "-delete" not in others


def _ends(words: tuple[str, ...], at: int) -> bool:
    """Return whether a command of find ends at a word."""
    return words[at] == ";" or words[at - 1 : at + 1] == ("{}", "+")
