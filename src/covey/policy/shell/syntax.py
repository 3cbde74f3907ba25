"""Shell texts as syntax trees, within bounds of size and time.

The grammar is the one that editors use for bash. It reads more than one shell does, and other shells read some texts in
a different way: `objection` names what must be known about the characters of a text before its tree says anything.
"""

from __future__ import annotations

import re
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Parser

from covey.policy.shell.simple import LONGEST

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_TOKENS = 300
"""Words and signs outside of quoted here-documents. The parser's time grows with their square."""
MOST_NODES = 4000
MOST_DOCUMENTS = 20
LONGEST_PARSE_S = 0.02
"""Processor time after which no further part of a text is parsed. What is left out is not certain."""
HIDDEN = "\ue000"
"""In a text that is part of another: characters that are not known. Shells give it no meaning."""
_ESCAPE = "\xff"
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]+){_ESCAPE}")
_TOKEN = re.compile(r"""[()\[\]{}<>|&;$`"'\\\n!#=]|[^\s()\[\]{}<>|&;$`"'\\!#=]+""")
_QUOTED_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"])(\w+)\1[^\n]*\n.*?^\t*\2$", re.DOTALL | re.MULTILINE)
_JOINED_LINES = re.compile(r"[^ \t\n]\\\n[^ \t\n]|\\\\\n|^[^#\n]*#[^\n]*\\$", re.MULTILINE)
_LATE_SUBSTITUTION = re.compile(r"\w\[(?:\$\(|`)")


class Parsed(NamedTuple):
    """A tree, or none; `why` says why the tree is not the whole truth about the text."""

    root: Node | None
    why: str


def parse(text: str, end: float) -> Parsed:
    """Return the syntax tree of a text; none if the processor time of the thread is beyond `end`."""
    if why := _too_much(text, end):
        return Parsed(None, why)
    # A parser of its own for each text: it keeps what it has read, and decisions are also made in threads.
    root = Parser(_language()).parse(encoded(text)).root_node
    if root.descendant_count > MOST_NODES:
        return Parsed(None, "it has too many parts")
    if root.has_error:
        return Parsed(root, "its syntax is not that of a complete shell command")
    return Parsed(root, _objection(text))


def encoded(text: str) -> bytes:
    """Return a text for the parser: characters beyond ASCII are written as numbers, which are parts of words as well.

    The scanner of tree-sitter-bash 0.25 looks up each character in a table of the C library that has 256 entries, and
    ends the process with one that is far behind its end.
    """
    return _BEYOND_ASCII.sub(lambda found: f"{_ESCAPE}{ord(found[0]):x}{_ESCAPE}", text).encode()


def decoded(source: bytes | None) -> str:
    """Return the text of a node, or of a part of it, as it was before `encoded`."""
    text = (source or b"").decode(errors="replace")
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


def _too_much(text: str, end: float) -> str:
    """Return why a text is not parsed at all; empty if it is."""
    if len(text) > LONGEST:
        return f"it has more than {LONGEST} characters"
    if _is_long(text):
        return f"it has more than {MOST_TOKENS} words and signs"
    return "reading it takes too long" if time.thread_time() > end else ""


def deadline() -> float:
    """Return until when, in processor time of this thread, a text and its parts are read."""
    _language()  # is loaded once, and not at the expense of the first text
    return time.thread_time() + LONGEST_PARSE_S


def unusual_characters(text: str) -> str:
    """Return why the characters of a text are not what they seem; empty if they are."""
    for letter in set(text) - {"\n", "\t", HIDDEN}:
        if not letter.isprintable():
            return "it has control characters, or characters that cannot be seen"
    return ""


def _objection(text: str) -> str:
    """Return what in a text shells read in a different way than the grammar."""
    if _JOINED_LINES.search(text):
        return "a line is continued inside of a word"
    if _LATE_SUBSTITUTION.search(text):
        return "a substitution in square brackets may be run later"
    return ""


def _is_long(text: str) -> bool:
    if text.count("<<") > MOST_DOCUMENTS:
        return True
    outside = _QUOTED_DOCUMENT.sub("\n", text) if "<<" in text else text
    return sum(1 for _ in _TOKEN.finditer(outside)) > MOST_TOKENS


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())
