"""Rewrites a command line before murli reads it: `--json`, aliases of verbs with two words, and `--agent TYPE`."""

from __future__ import annotations

from covey.contract import OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.contract import Operation

TAKE_A_VALUE = frozenset(("--output", "--input", "--fields", "--limit", "--profile", "--protocol-version"))
"""Flags that may come before a verb and take the next word."""


def expanded(words: Sequence[str]) -> list[str]:
    """Return a command line as murli knows it.

    `--json` becomes `--output json`, an alias becomes its verb, and `--agent TYPE` becomes `--agent-type TYPE` where a
    command has that filter: murli's own `--agent` takes no value, and murli knows aliases only of one word.
    """
    end = words.index("--") if "--" in words else len(words)
    head = [part for word in words[:end] for part in (["--output", "json"] if word == "--json" else [word])]
    place = verb_place(head)
    operation = operation_at(head, place)
    head = without_alias(head, place, operation)
    return [*with_agent_type(head, operation), *words[end:]]


def verb_place(words: Sequence[str]) -> int:
    """Return the index of the first word of the verb."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in TAKE_A_VALUE else 1
    return place


def operation_at(words: Sequence[str], place: int) -> Operation | None:
    """Return the operation whose verb or alias begins at an index, or None."""
    for operation in OPERATIONS:
        if operation.cli and tuple(words[place : place + len(operation.cli)]) == operation.cli:
            return operation
    alias = words[place] if place < len(words) else ""
    return next((operation for operation in OPERATIONS if alias in operation.aliases), None)


def without_alias(words: Sequence[str], place: int, operation: Operation | None) -> list[str]:
    """Return the words with an alias of a verb of two words replaced by it; murli knows those of one word itself."""
    if operation is None or len(operation.cli) == 1 or words[place] not in operation.aliases:
        return list(words)
    return [*words[:place], *operation.cli, *words[place + 1 :]]


def with_agent_type(words: Sequence[str], operation: Operation | None) -> list[str]:
    """Return the words with `--agent claude` as `--agent-type claude`, for an operation that has such a filter.

    Without a value, or before another flag, `--agent` stays as it is: murli's flag for JSON.
    """
    if operation is None or operation.parameter("agent_type") is None:
        return list(words)
    rewritten = []
    for word, after in zip(words, [*words[1:], "-"], strict=True):
        has_value = not after.startswith("-") and after not in operation.cli
        is_filter = word.startswith("--agent=") or (word == "--agent" and has_value)
        rewritten.append(word.replace("--agent", "--agent-type", 1) if is_filter else word)
    return rewritten
