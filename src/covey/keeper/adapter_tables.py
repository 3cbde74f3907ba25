"""The tables [[keeper.adapter]] of the configuration: what may stand in them, and what is wrong with one.

Cheap to import: the command line checks the configuration with this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.keeper.adapters.catalog import KINDS, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SESSION, KIND, NAME = "session", "kind", "name"


def problems(tables: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with the tables: the index of the table, the name in it, and a sentence without secrets."""
    known = set[tuple[str, str]]()
    for index, table in enumerate(tables):
        settings = {name: value for name, value in table.items() if name not in {SESSION, KIND}}
        for sentence in check(table[KIND], settings):
            yield index, next((name for name in settings if sentence.startswith(name)), KIND), sentence
        channel = (table.get(SESSION, ""), table.get(NAME, table[KIND]))
        if channel in known:
            yield index, NAME, f"there are two adapters called {channel[1]}: give each a name of its own"
        known.add(channel)


def columns() -> dict[str, tuple[str, ...]]:
    """Return which kinds of value each name in a table takes."""
    kinds = {str: ("text",), int: ("number",), bool: ("number",), tuple: ("list",)}
    options = {option.name: kinds[type(option.default)] for every in KINDS.values() for option in every}
    return {SESSION: ("text",), KIND: ("text",), NAME: ("text",), **options}
