"""The simple commands in a text for the shell, in the order in which they are written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.shell.reading import _Reader
from covey.policy.shell.syntax import HIDDEN, unusual_characters
from covey.policy.shell.words import GLOB
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.policy.shell.words import Word

_BRACES = re.compile(r"(?<!\$)\{(?![}\s])")
"""Braces that may become several words, of which each may be any path."""


class Commands(NamedTuple):
    """What was found in a text. `objection` says why there may be more, or it may mean something else.

    Each command is its words, with `UNKNOWN` for what only the shell will know and `*` for wildcards; `~` and `.` stand
    for the home folder and the folder in which it runs where the text has variables.
    """

    found: tuple[tuple[str, ...], ...]
    objection: str
    redirects: bool
    """Whether the text may write somewhere by `>`."""


def commands_in(text: str) -> Commands:
    """Return the commands in a text. Never raises."""
    reader = _Written("*" if _BRACES.search(text) is None else UNKNOWN)
    unusual = unusual_characters(text.replace(HIDDEN, "\0"))
    if unusual:
        reader.doubt(unusual)
    reader.read(text.replace(UNKNOWN, "").replace(GLOB, "").replace(HIDDEN, ""), (), piped=False)
    return Commands(tuple(reader.written), reader.reading().why, redirects=">" in text)


class _Written(_Reader):
    """Keeps each command as it is written; what its program is told to run is judged elsewhere."""

    def __init__(self, wildcard: str) -> None:
        super().__init__()
        self.written: list[tuple[str, ...]] = []
        self._wildcard = wildcard

    def run(self, own: Sequence[Word], *, piped: bool, certain: bool) -> None:
        """Keep a command."""
        del piped, certain
        self.written.append(tuple(self._plain(word) for word in own))

    def _plain(self, word: Word) -> str:
        """Return a word as one text. `{}` is what xargs and find replace."""
        if word.known:
            return word.text
        values = {path.replace(GLOB * 2, "{}").replace(GLOB, self._wildcard) for path in self._filled(word)}
        return values.pop() if len(values) == 1 else UNKNOWN


def is_known(word: str) -> bool:
    """Return whether nothing in a word is left to the shell."""
    return UNKNOWN not in word
