"""What the words of a shell say: which texts and files it runs."""

from __future__ import annotations

import re
from typing import NamedTuple

from covey.policy.wildcard import UNKNOWN

_TEXT_OPTIONS = {"fish": re.compile(r"-[a-zA-Z]*?[cC]|--(?:init-)?command(?:=|$)")}
"""Options with a text that is run, in the same word or in the next."""


class Start(NamedTuple):
    """How a shell is started."""

    texts: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    reads: bool = False
    """Whether it runs what it reads, or something that is not known."""
    tells: bool = False
    """Whether it only tells about itself."""


def read_start(name: str, words: tuple[str, ...]) -> Start:
    """Return what the words of a shell say, of which the first is its program."""
    texts: list[str] = []
    scripts: list[str] = []
    has_text, at = False, 1
    while at < len(words) and words[at].startswith(("-", "+", UNKNOWN)) and words[at] not in {"-", "--"}:
        option, following = words[at], list(words[at + 1 : at + 2])
        at += 1
        if option in {"--version", "--help"}:
            return Start(tells=True)
        letters = "" if option.startswith("--") else option[1:]
        own = _TEXT_OPTIONS.get(name)
        found = own.match(option) if own else None
        if UNKNOWN in option or (found is None and "s" in letters):
            return Start(reads=True)
        if found is not None:
            at += found.end() == len(option)
            texts += following if found.end() == len(option) else [option[found.end() :]]
        elif option in {"--rcfile", "--init-file"}:
            at += 1
            scripts += following
        else:
            at += letters[-1:] in ("o", "O")
            has_text |= "c" in letters or option == "--command"
    operands = words[at + 1 :] if words[at : at + 1] == ("--",) else words[at:]
    texts += operands[:1] if has_text else ()
    scripts += operands[:1] if not texts else ()
    return Start(tuple(texts), tuple(scripts), tuple(operands), reads=not operands and not texts)
