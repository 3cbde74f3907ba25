"""The values that a text gives to its variables."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from covey.policy.shell.verdict import WILD, is_tame
from covey.policy.shell.words import ELSEWHERE, GLOB
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from covey.policy.shell.words import Word

MOST_VALUES = 64
"""Of one variable that are looked at one by one."""
MOST_ALTERNATIVES = 16
"""Of one command, by the values of its variables."""


def filled(word: Word, *, text: str, path: str, single: bool) -> Word:
    """Return what a word becomes. Its place says that it is not written there."""
    return word._replace(text=text, path=path, single=single, variable="", other="", at=(*word.at, ELSEWHERE))


class Values:
    """What each variable may be. A value that is not known is `UNKNOWN`."""

    def __init__(self) -> None:
        self._values: dict[str, set[str]] = {}
        self._used: dict[str, set[str]] = {}
        self.loops = 0
        """The number of loops around what is read: in these, a value may be one that the text gives further below."""

    def add(self, name: str, value: Word | None) -> None:
        """Keep a value that a variable may have; None if that may be any."""
        found = self._values.setdefault(name, set())
        if value is None:
            found.add(UNKNOWN)
        elif value.variable:
            found |= self._values.setdefault(value.variable, {UNKNOWN})
            self._use(value.variable)
        else:
            found.add(WILD.sub(GLOB, value.path))

    def paths(self, word: Word) -> Iterator[str]:
        """Yield what a path is with the values that the text gives to its variable."""
        values = self._values.get(word.variable) if word.variable else None
        if values and len(values) <= MOST_VALUES:
            yield from values
        else:
            yield word.path
        if word.other:
            yield word.other

    def commands(self, own: Sequence[Word]) -> list[list[Word]]:
        """Return what a command may be with the values that the text has given to its variables so far.

        A variable may also be without a value: then its word is not there, if it is in no quotes.
        """
        choices = [self._choices(word) for word in own]
        count = 1
        for one in choices:
            count *= len(one)
        if count == 1 or count > MOST_ALTERNATIVES:
            return [list(own)]
        for word, one in zip(own, choices, strict=True):
            if len(one) > 1:
                self._use(word.variable)
        found = [[word for word in words if word is not None] for words in itertools.product(*choices)]
        return [words for words in found if words] or [list(own)]

    def _choices(self, word: Word) -> list[Word | None]:
        values = self._values.get(word.variable, set()) if word.variable else set()
        known = [
            filled(word, text=value.replace(GLOB, UNKNOWN), path=value, single=GLOB not in value)
            for value in sorted(values)
        ]
        if not known or not all(one.path.strip() and is_tame(one) for one in known):
            return [word]
        if not word.single and any(set(one.path) & set(" \t\n") for one in known):
            return [word]
        return [*known, filled(word, text="", path="", single=True) if word.single else None]

    def inside(self, name: str, *, quoted: bool, shortened: bool, first: bool) -> str:
        """Return what a variable stands for in a path, as one text; `UNKNOWN` if it may lead out of its folder.

        `shortened`: as `${name%…}` is; `first`: at the beginning of the path.
        """
        values = self._values.get(name, {UNKNOWN})
        if any(UNKNOWN in value or ".." in value or not value.strip() for value in values):
            return UNKNOWN
        if not quoted and any(set(value) & set(" \t\n") for value in values):
            return UNKNOWN
        if first and any(value.startswith("-") for value in values):
            return UNKNOWN
        self._use(name)
        if first and len(values) == 1 and not shortened:
            return next(iter(values))
        if not any("/" in value or value.startswith("~") for value in values):
            return GLOB
        return UNKNOWN if first else GLOB * 2

    def _use(self, name: str) -> None:
        if self.loops:
            self._used.setdefault(name, set()).update(self._values[name])

    def changed(self) -> str:
        """Return a variable that was given another value behind a command that was read with its values."""
        return next((name for name, values in self._used.items() if self._values[name] != values), "")
