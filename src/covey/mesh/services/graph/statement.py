"""What kind of statement a text in Cypher is, found by its words alone: comments, strings and names do not count.

Pure. Whatever is not clearly a read counts as a write; a statement that reads files is refused.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST_STATEMENT = 64 * 1024
WRITING = frozenset({"CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH", "DROP", "LOAD"})
READING_BEGINS = frozenset({"MATCH", "OPTIONAL", "RETURN", "UNWIND", "WITH", "CALL", "SHOW", "PROFILE"})
_OPENING, _CLOSING = "([{", ")]}"
_TOKEN = re.compile(
    r"""(?P<space>[\s\x00-\x20\x7f-\uffff]+ | //[^\n]* | /\*(?s:.*?)(?:\*/|\Z) )
      | (?P<text>'(?:\\.|[^'\\])*(?:'|\Z) | "(?:\\.|[^"\\])*(?:"|\Z) )
      | (?P<name>`(?:``|[^`])*(?:`|\Z) )
      | (?P<parameter>\$[A-Za-z0-9_]*)
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)


class Word(NamedTuple):
    """A bare word of a statement, in capitals."""

    text: str
    start: int
    depth: int
    """In how many brackets it stands."""
    after: str
    """The last character before it that is not white space or a comment; empty at the beginning."""


def words(statement: str) -> Iterator[Word]:
    """Yield the bare words of a statement: no strings, no comments, no parameters, no names in backticks."""
    depth, before = 0, ""
    for match in _TOKEN.finditer(statement):
        kind = match.lastgroup
        if kind == "space":
            continue
        if kind == "word":
            yield Word(match.group().upper(), match.start(), depth, before)
        elif kind == "mark":
            depth += (match.group() in _OPENING) - (match.group() in _CLOSING)
        before = match.group()[-1]


def is_read(statement: str) -> bool:
    """Return whether a statement only reads. Raises AgentError if it is too long, empty, or reads files."""
    _check_size(statement)
    found = list(words(statement))
    if not found:
        raise user_error("there is no statement", "Try: MATCH (n) RETURN n LIMIT 10", field="cypher")
    for one, following in itertools.pairwise(found):
        if one.text == "LOAD" and following.text == "CSV" and following.after.upper() == "D":
            raise user_error(
                "LOAD CSV is refused: a statement of the mesh reads no files",
                "Read the file yourself, and pass its rows as a parameter: UNWIND $rows AS row CREATE (…)",
                field="cypher",
            )
    if found[0].text == "EXPLAIN":
        return True  # it is not executed
    return found[0].text in READING_BEGINS and not any(
        one.text in WRITING and one.after not in {".", ":"} for one in found
    )


def _check_size(statement: str) -> None:
    size = len(statement.encode("utf-8", "surrogatepass"))
    if size > LARGEST_STATEMENT:
        raise user_error(
            f"the statement has {size} bytes and may have {LARGEST_STATEMENT}",
            "Pass what is long as a parameter, and write in several statements.",
            field="cypher",
        )
    if "\0" in statement or any("\ud800" <= one <= "\udfff" for one in statement):
        raise user_error("the statement has characters that cannot be in one", "Remove them.", field="cypher")


def with_created(statement: str) -> str:
    """Return a statement in which what CREATE has made can be returned whole; the same one if that is not asked.

    The engine answers `CREATE (a)-[r:R]->(b) RETURN a, r` with ids instead of nodes, and refuses `r` after a MATCH;
    with `WITH *` between the two it answers as it should.
    """
    clauses = [one for one in words(statement) if one.depth == 0 and one.after not in {".", ":"}]
    for before, one in itertools.pairwise(clauses):
        if one.text == "RETURN" and before.text == "CREATE":
            return f"{statement[: one.start]}WITH * {statement[one.start :]}"
    return statement
