"""Names of programs that matter, wherever they are written: as a word, glued to an option, in a text."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from covey.policy.destructive import programs
from covey.policy.shell.mentions import views as unquoted_views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PIECE = re.compile(r"[\w.+/~-]+")
"""What may be the name of a program, with its folder."""
_GLUED = re.compile(r"-[A-Za-z]{1,2}(?=[/\w])")
"""An option of one letter, which may have its value in the same word."""
_OPTION = re.compile(r"-[A-Za-z]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_QUOTED = re.compile(r"([\"'])(.*?)\1", re.DOTALL)
MOST_READINGS = 8
SHORTEST = 4
"""Letters of a name behind two letters of options: many words end with shorter ones."""
_TEXT = re.compile(r"[\s;&|()<>`$]")
_DYNAMIC = re.compile(r"[$`\\'\"*?\[{]")
_FIRST_SIGN = re.compile(r"[=!:@,]")


_BLANK_ESCAPE = re.compile(r"\\[abcefnrtv]")
"""What is a blank, or nothing, to a program that reads escapes."""


def views(text: str) -> tuple[str, ...]:
    """Return a text without its quotes, as it is and with its escapes read."""
    return tuple(dict.fromkeys((*unquoted_views(text), *unquoted_views(_BLANK_ESCAPE.sub(" ", text)))))


def makes_links(text: str) -> bool:
    """Return whether a text names a program that makes links."""
    return any(_name(found[0]) in programs.LINKS for view in views(text) for found in _PIECE.finditer(view))


def is_text(word: str) -> bool:
    """Return whether a word may be more than one word for a shell that reads it."""
    return _TEXT.search(word) is not None


def may_hide(word: str) -> bool:
    """Return whether the name of a program may be hidden in a text by quotes, or made when it runs."""
    return _DYNAMIC.search(word) is not None


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what may be names of programs in a text, with whether it is at the end of the text.

    An option of one letter in front of it is taken off.
    """
    for found in _PIECE.finditer(text):
        at_end = found.end() == len(text)
        yield found[0], at_end
        glued = _GLUED.match(found[0])
        if glued is None:
            continue
        for size in range(2, glued.end() + 1):
            rest = found[0][size:]
            name = programs.family(rest)
            is_likely = size == 2 or len(rest) >= SHORTEST  # noqa: PLR2004 - the sign and one letter
            if programs.is_denied(name) or (is_likely and programs.is_watched(name)):
                yield rest, at_end


def watched_in(text: str) -> set[str]:
    """Return the names of watched programs in a text, also where quotes or escapes are in them."""
    return {name for view in views(text) for piece, _ in pieces(view) if programs.is_watched(name := _name(piece))}


def denied_in(text: str) -> str:
    """Return the name of a program that does harm by itself, and is written in a text; empty if there is none."""
    found = (name for view in views(text) for piece, _ in pieces(view) if programs.is_denied(name := _name(piece)))
    return next(found, "")


def unread(text: str, read: Iterable[str]) -> str:
    """Return the name of a program that does harm, and is written more often in a text than in what was read of it.

    Empty if there is none: then it is in no comment, and in nothing that the shell may read in a different way.
    """
    written, found = _denied(text), Counter[str]()
    for one in read:
        found += _denied(one)
    return next((name for name, times in written.items() if times > found[name]), "")


def readings(word: str) -> tuple[str, ...]:
    """Return the texts that a program may take out of a word.

    They are the word, what is behind its first word, a sign or an option of one letter, and what is in quotes.
    """
    found = [word, word.strip().partition(" ")[2]]
    found += [word[sign.end() :] for sign in _FIRST_SIGN.finditer(word)][:MOST_READINGS]
    found += [word[size:] for size in (2, 3) if _OPTION.match(word)]
    quoted = [inside[2] for inside in _QUOTED.finditer(word) if is_text(inside[2])][:MOST_READINGS]
    found += [*quoted, *(_ESCAPED.sub(r"\1", one) for one in quoted)]
    return tuple(dict.fromkeys(one.strip() for one in found if one.strip()))


def _name(piece: str) -> str:
    return programs.family(piece)


def _denied(text: str) -> Counter[str]:
    """Return how often each program that does harm is written in a text, without what is glued to options."""
    names = (_name(found[0]) for found in _PIECE.finditer(views(text)[0]))
    return Counter(name for name in names if programs.is_denied(name))
