"""What nodes of a syntax tree are, and what is written to a command, and by it."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from covey.policy.shell import programs
from covey.policy.shell.syntax import decoded
from covey.policy.shell.words import WordReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

MOST_PARTS = 4
"""Of a pipeline whose output is known to be names of files."""
_IN_A_FILE = re.compile(r"/dev/null|(?!/dev/|/proc/)[\w./~-]+")
"""What is written to a program from there is no part of the text, unless the text has written it."""
_SIGNIFICANT = re.compile(r"[$`\\*?\[\](){}]")
"""What may become a name when a text is read as a command. Quotes are only taken off."""


def listed_files(node: Node, before: int | None = None) -> str:
    """Return the names of files that a node writes, as one path; of a pipeline, what is before a place. Else empty."""
    while node.type == "command_substitution" and node.named_child_count == 1:
        node = node.named_children[0]
    parts = node.named_children if node.type == "pipeline" else [node]
    parts = [part for part in parts if before is None or part.start_byte < before]
    if not 0 < len(parts) <= MOST_PARTS or any(part.type != "command" or _has_redirection(part) for part in parts):
        return ""
    words = WordReader(lambda _: None, lambda _: "", lambda _: None, lambda: None, ())
    first, *others = ([words.word(child) for child in part.named_children] for part in parts)
    return programs.listed_files(first) if all(programs.chooses_lines(other) for other in others) else ""


def words_behind(command: Node) -> list[Node]:
    """Return the words of a command that are behind its redirections, where the grammar takes them for more files."""
    whole = command.parent
    if whole is None or whole.type != "redirected_statement" or whole.children[0] != command:
        return []
    found: list[Node] = []
    for redirect in whole.children[1:]:
        found += words_behind_target(redirect)
    return found


def words_behind_target(redirect: Node) -> list[Node]:
    """Return the words behind the target of a redirection, which the grammar takes for more targets."""
    if redirect.type != "file_redirect":
        return []
    targets = 0 if sign(redirect) in (">&-", "<&-") else 1
    return [child for child in redirect.named_children if child.type != "file_descriptor"][targets:]


def goes_over_lines(node: Node) -> bool:
    """Return whether a line ends between two parts of a node: then the grammar has taken two commands for one.

    A line that goes on after a backslash is none.
    """
    whole = node.text or b""
    at = [(child.start_byte - node.start_byte, child.end_byte - node.start_byte) for child in node.children]
    gaps = (whole[before[1] : after[0]] for before, after in itertools.pairwise(at))
    return any(b"\n" in gap.replace(b"\\\n", b"") for gap in gaps)


def is_input(node: Node) -> bool:
    """Return whether a node makes a command read from somewhere else."""
    return node.type in ("heredoc_redirect", "herestring_redirect") or (
        node.type == "file_redirect" and sign(node).startswith("<")
    )


def feeds(node: Node) -> bool:
    """Return whether a node writes something to a command that is not a text without a meaning for shells."""
    if node.type == "file_redirect":
        read = [text_of(child) for child in node.named_children[-1:]]
        return sign(node) == "<" and not all(map(_IN_A_FILE.fullmatch, read))
    if node.type == "heredoc_redirect":
        return any(_SIGNIFICANT.search(text_of(child)) for child in node.children if child.type == "heredoc_body")
    return node.type == "herestring_redirect" and _SIGNIFICANT.search(text_of(node)) is not None


def writes_plain_text(node: Node) -> bool:
    """Return whether a command writes its words, and these have no meaning for shells but what they say."""
    if node.type in ("subshell", "compound_statement"):
        return all(map(writes_plain_text, node.named_children))
    if node.type != "command" or _has_redirection(node):
        return False
    name = text_of(node.children[0])
    if name not in ("echo", "printf", "sleep"):
        return False
    words = [text_of(child).replace(r"\n", " ") for child in node.named_children]
    if name == "printf" and (words[1:-1] or "%" in words[-1]):
        return False
    return not any(map(_SIGNIFICANT.search, words))


def is_followed_by_words(redirect: Node) -> bool:
    """Return whether words may stand behind a redirection in the same command."""
    whole = redirect.parent
    if whole is None or whole.type != "redirected_statement":
        return True
    return any(
        sum(child.is_named and child.type != "file_descriptor" for child in one.children) > 1 or "here" in one.type
        for one in whole.children[1:]
    )


def _has_redirection(node: Node) -> bool:
    return any(child.type.endswith("redirect") or child.type == "variable_assignment" for child in node.children)


def operands(node: Node) -> Iterator[Node]:
    """Yield the words and signs of a test, from the left."""
    for child in node.children:
        if child.type in ("binary_expression", "unary_expression", "parenthesized_expression", "postfix_expression"):
            yield from operands(child)
        else:
            yield child


def text_of(node: Node) -> str:
    return decoded(node.text)


def sign(redirect: Node) -> str:
    return next((child.type for child in redirect.children if not child.is_named), "")
