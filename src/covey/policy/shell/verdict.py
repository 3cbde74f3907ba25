"""What a program does with its words, and which words are what they say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.shell.words import GLOB
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.policy.shell.words import Word

_LATER = re.compile(r"[$`\\*?\[\]{}()]")
_SPLITS = re.compile(r"[$`\\()\s;&|<>'\"]")
WILD = re.compile(r"\[.*\]|\{.*\}|[*?\[\]{}]", re.DOTALL)
"""What a shell may take for a pattern, when it reads a text that it has in a variable."""


class Verdict(NamedTuple):
    """What a program does with its words. `why`: what is not certain about it; empty if all is."""

    why: str = ""
    runs_words: bool = False
    """Some of the words may be a command: each of them can be its first."""
    certainly: bool = False
    """It is made for that."""
    inner: tuple[tuple[Word, ...], ...] = ()
    texts: tuple[Word, ...] = ()
    """Words that a shell reads."""
    sets: tuple[str, ...] = ()
    """Variables that may have any value afterwards."""
    opens_files: bool = True
    """Whether it may open the file that a word names, also one that is not known."""
    opens_below: bool = False
    """Whether a word that is not known may be a file in the folder in which it runs, or below that."""
    data: tuple[Word, ...] = ()
    """Words that are no files, as far as they are not known."""
    writes: bool = False
    """It may write a file that is not named by one of its words."""
    script: tuple[Word, ...] = ()
    """A program in a file with its words, whatever the name of the file is."""


def program_name(word: str) -> str:
    """Return the name of a program without its folder, as file systems without upper case know it."""
    return word.rpartition("/")[2].casefold()


def is_literal(word: Word) -> bool:
    """Return whether a word is what it says, also for a program that reads it as a shell does."""
    return word.known and not _LATER.search(word.text)


def is_tame(word: Word) -> bool:
    """Return whether a word stays what it is for a program that reads it as a shell does.

    It is a literal, a number, a pattern for names, or below a folder that is known.
    """
    if word.known:
        return is_literal(word) or not _SPLITS.search(word.text)
    return UNKNOWN not in word.path and word.path.strip() != "" and not _LATER.search(word.path)


def names_with_wildcards(word: Word) -> Iterator[str]:
    """Yield the names, with wildcards, of the programs that a word may become."""
    whole = WILD.sub(GLOB, word.text if word.known else word.path)
    if GLOB in whole:
        for piece in (whole, whole.partition("=")[2], re.sub(r"^-\w", "", whole)):
            yield program_name(piece)
