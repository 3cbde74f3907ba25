"""Functions whose result would differ from peer to peer: time and chance, bound to what a statement's author wrote.

The engine translates statements to SQL and asks SQLite for both. Here SQLite is given functions of the same names.
"""

from __future__ import annotations

import hashlib
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

TIMES = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""SQLite's functions of time, and which of their arguments is the time."""
COMPOSE, COMPOSE_ARGUMENTS = "_gql_date_compose", 10
"""The engine's own function that takes a missing year, its first argument, from the clock."""
LARGEST_BLOB = 1024


class BoundFunctions:
    """Functions for one connection. `bind` says what they return from then on."""

    def __init__(self, connection: apsw.Connection, pure: apsw.Connection) -> None:
        """Replace the functions of `connection`; `pure` is another one, with the engine, that computes."""
        self._pure = pure
        self._now = datetime.fromtimestamp(0, UTC)
        self._random = random.Random(0)  # noqa: S311 - it is to be foreseen
        for name, place in TIMES.items():
            connection.create_scalar_function(name, self._time_function(name, place))
        connection.create_scalar_function(COMPOSE, self._compose, COMPOSE_ARGUMENTS)
        for name, count, function in (
            ("random", 0, self._random_number),
            ("randomblob", 1, self._random_blob),
            ("current_timestamp", 0, self._timestamp),
            ("current_date", 0, self._date),
            ("current_time", 0, self._time),
        ):
            connection.create_scalar_function(name, function, count)

    def bind(self, now_ms: int, seed: str) -> None:
        """Let the functions of time return this moment, and those of chance what follows from `seed`."""
        self._now = datetime.fromtimestamp(now_ms / 1000, UTC)
        self._random = random.Random(int.from_bytes(hashlib.blake2b(seed.encode()).digest()))  # noqa: S311 - as above

    def _text(self, between: str) -> str:
        return self._now.strftime(f"%Y-%m-%d{between}%H:%M:%S.") + f"{self._now.microsecond // 1000:03d}"

    def _time_function(self, name: str, place: int) -> Callable[..., Any]:
        def function(*given: Any) -> Any:
            arguments = list(given)
            if len(arguments) <= place:
                arguments = [*arguments[:place], self._text(" ")]
            elif isinstance(arguments[place], str):
                word = arguments[place].lower()
                if word == "now":
                    arguments[place] = self._text(" ")
                elif word in {"subsec", "subsecond"}:
                    arguments.insert(place, self._text(" "))
            marks = ",".join("?" * len(arguments))
            return self._pure.execute(f"SELECT {name}({marks})", arguments).get

        return function

    def _compose(self, *given: Any) -> Any:
        arguments = list(given)
        if arguments[0] is None and not any(
            isinstance(one, str) for one in arguments
        ):  # a text is a date to begin with
            arguments[0] = self._now.year
        marks = ",".join("?" * len(arguments))
        return self._pure.execute(f"SELECT {COMPOSE}({marks})", arguments).get

    def _timestamp(self, *_: Any) -> str:
        return self._text(" ")[:19]

    def _date(self, *_: Any) -> str:
        return self._text(" ")[:10]

    def _time(self, *_: Any) -> str:
        return self._text(" ")[11:19]

    def _random_number(self, *_: Any) -> int:
        return self._random.getrandbits(64) - (1 << 63)

    def _random_blob(self, *given: Any) -> bytes:
        wanted = given[0] if isinstance(given[0], int) else 1
        return self._random.randbytes(min(max(wanted, 1), LARGEST_BLOB))
