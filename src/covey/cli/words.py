"""The words of a command line, before anything parses them."""

from __future__ import annotations

from covey.contract import OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.contract import Operation

TAKE_A_VALUE = frozenset(("--output", "--input", "--fields", "--limit", "--profile", "--protocol-version"))
"""Flags that can stand in front of a verb and take the next word."""


def first_verb(words: Sequence[str]) -> int:
    """Where the verb begins."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in TAKE_A_VALUE else 1
    return place


def named(words: Sequence[str], place: int) -> Operation | None:
    """The operation whose verb stands at a place, spelt out or as an alias."""
    for operation in OPERATIONS:
        if operation.cli and tuple(words[place : place + len(operation.cli)]) == operation.cli:
            return operation
    return next(
        (
            operation
            for operation in OPERATIONS
            if tuple(words[place : place + 1]) in {(alias,) for alias in operation.aliases}
        ),
        None,
    )


def unaliased(words: Sequence[str], place: int) -> tuple[list[str], Operation | None]:
    """The words with an alias for a verb of several words replaced by it; those of one word are the parsers' own affair."""
    operation = named(words, place)
    if operation is None or len(operation.cli) == 1 or words[place] not in operation.aliases:
        return list(words), operation
    return [*words[:place], *operation.cli, *words[place + 1 :]], operation


def typed_agent(words: Sequence[str], operation: Operation | None) -> list[str]:
    """`--agent claude` as `--agent-type claude`, for an operation that has such a filter. Alone, or in front of a flag, it is murli's."""
    if operation is None or operation.parameter("agent_type") is None:
        return list(words)
    follows = [*words[1:], "-"]
    spelt = []
    for word, after in zip(words, follows, strict=True):
        filters = word.startswith("--agent=") or (
            word == "--agent" and not after.startswith("-") and after not in operation.cli
        )
        spelt.append(word.replace("--agent", "--agent-type", 1) if filters else word)
    return spelt
