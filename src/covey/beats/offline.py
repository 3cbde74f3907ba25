"""Answers `list`, `history`, `show` and `cost` from the disk while no daemon runs. Nothing is written.

Runs that were made without a daemon are in their folders until a daemon stores them; they are part of every answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import answers
from covey.beats.agreements import Agreements
from covey.beats.budgets import Budgets
from covey.beats.catalog import BeatCatalog
from covey.beats.ledger import MIGRATIONS
from covey.beats.queries import Queries
from covey.beats.records import RUN_COLUMNS, Run, to_row
from covey.beats.run_folder import run_folders
from covey.kernel.config.config import Config
from murli import tool_error

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping

    from covey.beats.records import BeatRecord
    from covey.kernel.config.settings import Settings
    from covey.kernel.home import Home

T = TypeVar("T")

_COLUMNS = ", ".join((*RUN_COLUMNS, "turns"))


class StoredBeats:
    """The beats as the last daemon left them: see `answers.Beats`. None of them is running."""

    def __init__(self, catalog: BeatCatalog, queries: Queries, setting: Callable[[str], Any]) -> None:
        self.catalog = catalog
        self.queries = queries
        self.budgets = Budgets(queries, setting)
        self.records: dict[str, BeatRecord] = {}
        self.latest: Mapping[str, Run] = {}
        self.running: Mapping[str, Run] = {}
        self.queued: deque[Run] = deque()
        self.limit = int(setting("beats.max_concurrent"))

    async def load(self) -> None:
        """Read what the database knows."""
        self.records = await self.queries.records()
        self.latest = await self.queries.latest()

    def late(self) -> Mapping[str, float]:
        """Return no beat: without a daemon none can be late."""
        return {}


class _Connection:
    """A connection that is read at once; see `queries.Readable`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return work(self._connection)


@contextlib.contextmanager
def open_queries(home: Home) -> Iterator[Queries]:
    """Yield queries about the beats of a home. Raises `AgentError` if its database cannot be read."""
    try:
        with contextlib.closing(_open_database(Path(home.node.database))) as connection:
            _add_handovers(connection, Path(home.path) / "beats" / "runs")
            yield Queries(_Connection(connection))
    except sqlite3.Error as error:
        raise tool_error(
            f"{home.node.database} cannot be read: {error}",
            "Run `covey up`: it brings the file up to date, or says what is wrong with it.",
        ) from None


def beats_list(home: Home, settings: Settings, _: dict[str, Any]) -> dict[str, Any]:
    """Return all beats; none has a next time, because nothing runs."""

    async def answer(beats: StoredBeats, _: Config) -> dict[str, Any]:
        listed = await answers.beat_list(beats, time.time())
        return {**listed, "items": [{**item, "next_at": None} for item in listed["items"]], "next": None}

    return _with_beats(home, settings, answer)


def beats_cost(home: Home, settings: Settings, _: dict[str, Any]) -> dict[str, Any]:
    async def answer(beats: StoredBeats, config: Config) -> dict[str, Any]:
        return await answers.cost(beats, time.time(), answers.limits(config.get))

    return _with_beats(home, settings, answer)


def beats_history(home: Home, settings: Settings, params: dict[str, Any]) -> dict[str, Any]:
    async def answer(beats: StoredBeats, _: Config) -> dict[str, Any]:
        return await answers.history(beats, params)

    return _with_beats(home, settings, answer)


def beats_show(home: Home, _: Settings, params: dict[str, Any]) -> dict[str, Any]:
    with open_queries(home) as queries:
        return asyncio.run(answers.one_run(queries, params["run"]))


OFFLINE: Mapping[str, Callable[[Home, Settings, dict[str, Any]], dict[str, Any]]] = {
    "beats.list": beats_list,
    "beats.cost": beats_cost,
    "beats.history": beats_history,
    "beats.show": beats_show,
}
"""The operations that the command line performs itself without a daemon, by name."""


def _with_beats(
    home: Home, settings: Settings, answer: Callable[[StoredBeats, Config], Coroutine[Any, Any, dict[str, Any]]]
) -> dict[str, Any]:
    config = Config.load(home.node, settings)
    catalog = BeatCatalog(str(Path.home()), AGENTS, agreements=Agreements(home.path, read_only=True))
    catalog.reload(config.get("beats.workspace"))
    with open_queries(home) as queries:
        beats = StoredBeats(catalog, queries, config.get)

        async def answered() -> dict[str, Any]:
            await beats.load()
            return await answer(beats, config)

        return asyncio.run(answered())


def _open_database(path: Path) -> sqlite3.Connection:
    """Open the database of a daemon that does not run, for reading; an empty one if there has never been a daemon."""
    if path.exists():
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for migration in MIGRATIONS:
        connection.executescript(migration.script)
    return connection


def _add_handovers(connection: sqlite3.Connection, path: Path) -> None:
    """Cover the table of runs by a view that also holds the runs that no daemon has stored yet."""
    connection.execute(f"CREATE TEMP TABLE left_for_daemon AS SELECT {_COLUMNS} FROM main.beat_run LIMIT 0")  # noqa: S608 - our own names
    for folder in run_folders(path):
        handover = folder.handover
        if handover is None:
            continue
        with contextlib.suppress(msgspec.ValidationError, KeyError, TypeError):
            known = connection.execute("SELECT 1 FROM main.beat_run WHERE run = ?", (folder.run_id,)).fetchone()
            if known is None:
                turns = msgspec.json.encode(handover["turns"]).decode()
                values = (*to_row(msgspec.convert(handover["run"], Run)), turns)
                places = ", ".join("?" * len(values))
                connection.execute(f"INSERT INTO left_for_daemon VALUES ({places})", values)  # noqa: S608 - as above
    both = f"SELECT {_COLUMNS} FROM main.beat_run UNION ALL SELECT {_COLUMNS} FROM temp.left_for_daemon"  # noqa: S608 - as above
    connection.execute(f"CREATE TEMP VIEW beat_run AS {both}")
