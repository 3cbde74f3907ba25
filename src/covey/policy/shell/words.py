"""Words of a syntax tree as texts, with what only the shell will know as `UNKNOWN`."""

# ruff: noqa: C901, PLR0911, C419 - one return for each kind of node; all parts are read, also behind one that is none

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.shell.outputs import GLOB, output_of
from covey.policy.shell.syntax import HIDDEN, decoded
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

__all__ = ["ELSEWHERE", "GLOB", "Word", "WordReader"]
ELSEWHERE = -1
"""The end of the place of a word that is written in a different place."""

_PLACES = {"HOME": "~", "PWD": "."}
_NUMBERS = {"$", "?", "#", "!", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID"}
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_EXPANSIONS = {"#", "##", "%", "%%", ":-", "-", ":+", "+", ":?", "?", "/", "//", ":"}
_SHORTENS = {"#", "##", "%", "%%"}
_ARITHMETIC = re.compile(r"\$\(\([\w\s+\-*/%$<>=]*\)\)")
_DOCUMENT = re.compile(r"\$\(\s*cat <<-?\s*(['\"])\w+\1\n")
_REFUSED_IN_EXPANSION = re.compile(r"['\"`\\!@(]")
_BRACES = re.compile(r"\{(?:\w+\.\.\w+|(?!\.+[,}])[^{},/~'\"\\$`]*(?:,(?!\.+[,}])[^{},/~'\"\\$`]*)*)\}")
"""Braces without quotes, of which no part leads out of the folder in front of them."""
_SUBSTITUTION = re.compile(r"\$[({]|`")
_LENGTH = re.compile(r"\$\{#\w+\}")


class Word(NamedTuple):
    """One word as it is written.

    `text` is what it becomes, `path` the same with known variables filled in, `at` where it begins. `single`: it
    becomes exactly one word. `literal`: nothing in it is left for a shell, or for a program that reads it as one.
    """

    text: str
    path: str
    at: tuple[int, ...]
    single: bool = True
    variable: str = ""
    """The name of the variable that is the whole word."""
    other: str = ""
    """The path if the variable at its beginning has no value."""

    @property
    def known(self) -> bool:
        """Return whether the text is what it becomes."""
        return UNKNOWN not in self.text


class WordReader:
    """Makes words of nodes.

    `substitution` is called with each substitution, `doubt` with what is not modelled, `late` for a word that has a
    substitution as its text. `inside` returns what a variable stands for in a path.
    `lists` returns the path that stands for all files whose names a substitution writes;
    empty if it may write anything else.
    """

    def __init__(
        self,
        substitution: Callable[[Node], None],
        lists: Callable[[Node], str],
        doubt: Callable[[str], None],
        late: Callable[[], None],
        above: tuple[int, ...],
        inside: Callable[..., str] = lambda *_, **__: UNKNOWN,
    ) -> None:
        self._substitution = substitution
        self._lists = lists
        self._doubt = doubt
        self._late = late
        self.above = above
        self._inside_path = inside
        self._is_filled = False
        self._brace = GLOB
        self._open = ""

    def word(self, node: Node) -> Word:
        """Return the word of a node."""
        text: list[str] = []
        path: list[str] = []
        outer = self._brace, self._open, self._is_filled
        self._brace = GLOB if _stays_in_its_folder(_text(node)) else UNKNOWN
        self._open = ""
        self._is_filled = False
        single = self._part(node, text, path, quoted=False)
        if self._open and _text(node) != "[":
            self._doubt("it is not clear where its brackets end")
        other = "".join(path[[bool(one) for one in path].index(True) + 1 :]) if self._is_filled else ""
        self._brace, self._open, self._is_filled = outer
        if _SUBSTITUTION.search("".join(text)):
            self._late()
        if _is_beside_place(text, path):
            path = [UNKNOWN, *path]
        inner = node
        while inner.type in ("string", "command_name", "concatenation") and inner.named_child_count == 1:
            inner = inner.named_children[0]
        name = inner.named_children[0] if inner.named_child_count == 1 else inner
        name = name.named_children[0] if name.type == "subscript" else name
        is_variable = inner.type in ("simple_expansion", "expansion") and _text(node).strip('"') in (
            f"${_text(name)}",
            f"${{{_text(name)}}}",
            f"${{{_text(name)}[@]}}",
        )
        return Word(
            "".join(text),
            "".join(path),
            (*self.above, node.start_byte),
            single,
            _text(name) if is_variable else "",
            other,
        )

    def _part(self, node: Node, text: list[str], path: list[str], *, quoted: bool) -> bool:  # noqa: PLR0912 - as above
        """Add what a node becomes; return whether that is one word."""
        kind = node.type
        if kind in ("word", "number", "variable_name", "extglob_pattern", "test_operator", "regex"):
            return self._bare(_text(node), text, path)
        if kind == "raw_string":
            return self._raw(_text(node)[1:-1], text, path)
        if kind == "string":
            return self._string(node, text, path)
        if kind in ("concatenation", "command_name"):
            if _has_gaps(node):
                self._doubt("it is not clear where one of its words ends")
            return all([self._of_word(child, text, path, quoted=quoted) for child in node.children])
        if kind == "ansi_c_string":
            return self._ansi(_text(node)[2:-1], text, path)
        if kind == "simple_expansion":
            place = _PLACES.get(_text(node)[1:]) if not any(path) else None
            place = "0" if _text(node)[1:] in _NUMBERS else place
            text.append(UNKNOWN)
            self._fill(place, _text(node)[1:], path, quoted=quoted, shortened=False)
            return quoted
        if kind == "arithmetic_expansion" and _ARITHMETIC.fullmatch(_text(node)):
            text.append(UNKNOWN)
            path.append("0")
            return True
        if kind == "expansion":
            self._expansion(node, path, quoted=quoted)
            text.append(UNKNOWN)
            return quoted
        if kind in ("command_substitution", "process_substitution"):
            self._substitution(node)
            text.append(UNKNOWN)
            path.append(self._output(node))
            return quoted or kind == "process_substitution"
        if not node.is_named and kind in ("=", "==", "=~", "!=", "!"):
            return self._bare(kind, text, path)
        if kind == "$" and self._is_sign(node):
            return self._raw("$", text, path)
        if kind == "brace_expression":
            text.append(UNKNOWN)
            path.append(GLOB)
            return False
        self._doubt(f"{kind.replace('_', ' ')} is not read")
        text.append(UNKNOWN)
        path.append(UNKNOWN)
        return False

    def _of_word(self, node: Node, text: list[str], path: list[str], *, quoted: bool) -> bool:
        """Add a part of a word; what is in brackets is read, and not added."""
        if self._open and node.type not in ("word", "number"):
            return self._part(node, [], [], quoted=quoted)
        return self._part(node, text, path, quoted=quoted)

    @staticmethod
    def _is_sign(node: Node) -> bool:
        """Return whether a `$` is a sign like others, in all shells: nothing that has a value stands behind it."""
        whole = node.parent
        if whole is None or whole.type != "string":
            return False
        after = (whole.text or b"")[node.end_byte - whole.start_byte :][:1]
        return after in (b'"', b"|", b" ", b")", b"/", b"\\")

    def _output(self, node: Node) -> str:
        """Return what a substitution may be as a path."""
        if node.type == "process_substitution":
            return "/dev/fd/3"
        if _DOCUMENT.match(_text(node)):
            return " "  # what is written there is seen as a part of the text
        return output_of(_text(node)) or self._lists(node) or UNKNOWN

    def _bare(self, written: str, text: list[str], path: list[str]) -> bool:
        """Add characters that are in no quotes."""
        single = True
        at = 0
        while at < len(written):
            letter = written[at]
            if self._is_in_brackets(letter, text, path):
                single = False
                at += 1
                continue
            if letter == "\\":
                letter = written[at + 1 : at + 2]
                at += 1
                if letter.isalnum():
                    self._doubt("a backslash in front of a letter means something else to every shell")
                letter = "" if letter == "\n" else letter
            elif letter in "*?":
                text.append(UNKNOWN)
                path.append(GLOB)
                single = False
                at += 1
                continue
            text.append(_shown(letter))
            path.append(_shown(letter))
            at += 1
        return single

    def _is_in_brackets(self, letter: str, text: list[str], path: list[str]) -> bool:
        """Return whether a character is one of brackets, or in them: then it is not a part of the word."""
        if letter == "{" or (letter == "[" and not self._open):
            self._open += "}" if letter == "{" else "]"
            text.append(UNKNOWN)
            path.append(self._brace if letter == "{" else GLOB)
        elif self._open:
            self._open = self._open[:-1] if letter == self._open[-1] else self._open
            text.append(UNKNOWN)
            is_empty = letter == "}" and path[-1] == GLOB  # `{}` has its own meaning for find and xargs
            path.append(GLOB if letter == "/" or is_empty else "")
        elif letter in "}]":
            text.append(UNKNOWN)
            path.append(UNKNOWN)
        else:
            return False
        return True

    def _raw(self, inside: str, text: list[str], path: list[str]) -> bool:
        if re.search(r"\\('|$)", inside):
            self._doubt("shells end a quote behind a backslash in different places")
        text.append(_shown(inside))
        path.append(_shown(inside))
        return True

    def _ansi(self, inside: str, text: list[str], path: list[str]) -> bool:
        if re.search(r"\\[^ntr\\]|\\$|'", inside):
            self._doubt("it has quotes with escapes")
        unescaped = re.sub(r"\\(.)", lambda found: _ANSI.get(found[1], found[1]), inside)
        text.append(_shown(unescaped))
        path.append(_shown(unescaped))
        return True

    def _string(self, node: Node, text: list[str], path: list[str]) -> bool:
        at = node.start_byte + 1
        whole = node.text or b""
        for child in node.children[1:-1]:
            self._inside(whole[at - node.start_byte : child.start_byte - node.start_byte], text, path)
            if child.type == "string_content":
                self._inside(child.text or b"", text, path)
            else:
                self._part(child, text, path, quoted=True)
            at = child.end_byte
        self._inside(whole[at - node.start_byte : -1], text, path)
        return _text(node).strip('"') not in ("$@", "${@}", "$*") and "[@]" not in _text(node)

    def _inside(self, written: bytes, text: list[str], path: list[str]) -> None:
        """Add characters that are in double quotes."""
        inside = decoded(written)
        if re.search(r"(?<!\\)(?:\\\\)*(?:`|\$[\w({])", inside):
            self._doubt("a substitution in its quotes is not read")
        unescaped = re.sub(r"\\([\"\\$`])", r"\1", inside).replace("\\\n", "")
        text.append(_shown(unescaped))
        path.append(_shown(unescaped))

    def _expansion(self, node: Node, path: list[str], *, quoted: bool) -> None:
        name = next((_text(child) for child in node.named_children if child.type == "variable_name"), "")
        whole = _text(node).replace("[@]", "")
        signs = {child.type for child in node.children if not child.is_named} - {"${", "}"}
        if _REFUSED_IN_EXPANSION.search(whole) or not signs <= _EXPANSIONS:
            self._doubt("an expansion with operators is not read")
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                self._substitution(child)
        is_plain = not signs and node.named_child_count == 1
        place = _PLACES.get(name) if is_plain and not any(path) else None
        if _LENGTH.fullmatch(_text(node)):
            place = "0"
        elif is_plain or (signs <= _SHORTENS and "[" not in _text(node)):
            self._fill(place, name, path, quoted=quoted, shortened=not is_plain)
            return
        path.append(place or UNKNOWN)

    def _fill(self, place: str | None, name: str, path: list[str], *, quoted: bool, shortened: bool) -> None:
        """Add what a variable stands for."""
        first = not any(path)
        path.append(place or self._inside_path(name, quoted=quoted, shortened=shortened, first=first))
        self._is_filled = self._is_filled or (place is None and first and path[-1] != UNKNOWN)


def _is_beside_place(text: list[str], path: list[str]) -> bool:
    """Return whether a word begins with a variable of a folder, and goes on in the same name: `$PWD..`, `${HOME}x`."""
    first = next((at for at, part in enumerate(path) if part), None)
    if first is None or path[first] not in _PLACES.values() or "".join(text)[:1] != UNKNOWN:
        return False
    rest = "".join(path[first + 1 :])
    return bool(rest) and not rest.startswith("/")


def _text(node: Node) -> str:
    return decoded(node.text)


def _has_gaps(node: Node) -> bool:
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:
            return True
        at = child.end_byte
    return False


def _shown(text: str) -> str:
    return text.replace(HIDDEN, UNKNOWN)


def _stays_in_its_folder(written: str) -> bool:
    """Return whether no braces in a word can stand for a way out of the folder in front of them."""
    return "{" not in _BRACES.sub("", written)
