"""The beats while no daemon runs: `list`, `history`, `show` and `cost` from what is on the disk. Nothing is written.

Runs that were made without a daemon are in their folders until one takes them in; they are part of every answer.
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
from covey.beats import view
from covey.beats.book import Book
from covey.beats.folder import folders
from covey.beats.ledger import MIGRATIONS, row
from covey.beats.records import RUN_COLUMNS, Records, Run
from covey.beats.treasury import Treasury
from covey.kernel.config import Config
from murli import tool_error

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping

    from covey.beats.records import Standing
    from covey.kernel.home import Home
    from covey.kernel.settings import Settings

T = TypeVar("T")

_COLUMNS = ", ".join((*RUN_COLUMNS, "turns"))


class StoredBeats:
    """The beats as they were left: see `view.Beats`. None is running, for nobody is there to say so."""

    def __init__(self, book: Book, ledger: Records, setting: Callable[[str], Any]) -> None:
        self.book = book
        self.ledger = ledger
        self.treasury = Treasury(ledger, setting)
        self.standings: dict[str, Standing] = {}
        self.latest: Mapping[str, Run] = {}
        self.running: Mapping[str, Run] = {}
        self.queued: deque[Run] = deque()
        self.limit = int(setting("beats.max_concurrent"))

    async def load(self) -> None:
        self.standings = await self.ledger.standings()
        self.latest = await self.ledger.latest()

    def late(self) -> Mapping[str, float]:
        return {}


class _Connection:
    """A connection that is read by whoever awaits it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return work(self._connection)


@contextlib.contextmanager
def records(home: Home) -> Iterator[Records]:
    """What is known of the beats of a home. Raises `AgentError` if its database cannot be read."""
    try:
        with contextlib.closing(_opened(Path(home.node.database))) as connection:
            _add_runs_left_for_the_daemon(connection, Path(home.path) / "beats" / "runs")
            yield Records(_Connection(connection))
    except sqlite3.Error as error:
        raise tool_error(
            f"{home.node.database} cannot be read: {error}",
            "Run `covey up`: it brings the file up to date, or says what is wrong with it.",
        ) from None


def beats_list(home: Home, settings: Settings, _: dict[str, Any]) -> dict[str, Any]:
    """All beats; none has a next time, for nothing runs."""

    async def answer(beats: StoredBeats, _: Config) -> dict[str, Any]:
        listed = await view.listed(beats, time.time())
        return {**listed, "items": [{**item, "next_at": None} for item in listed["items"]], "next": None}

    return _with_beats(home, settings, answer)


def beats_cost(home: Home, settings: Settings, _: dict[str, Any]) -> dict[str, Any]:
    async def answer(beats: StoredBeats, config: Config) -> dict[str, Any]:
        return await view.cost(beats, time.time(), view.limits(config.get))

    return _with_beats(home, settings, answer)


def beats_history(home: Home, settings: Settings, params: dict[str, Any]) -> dict[str, Any]:
    async def answer(beats: StoredBeats, _: Config) -> dict[str, Any]:
        return await view.history(beats, params)

    return _with_beats(home, settings, answer)


def beats_show(home: Home, _: Settings, params: dict[str, Any]) -> dict[str, Any]:
    with records(home) as found:
        return asyncio.run(view.one_run(found, params["run"]))


OFFLINE: Mapping[str, Callable[[Home, Settings, dict[str, Any]], dict[str, Any]]] = {
    "beats.list": beats_list,
    "beats.cost": beats_cost,
    "beats.history": beats_history,
    "beats.show": beats_show,
}
"""What the command line does itself when there is no daemon, by the name of the operation."""


def _with_beats(
    home: Home, settings: Settings, answer: Callable[[StoredBeats, Config], Coroutine[Any, Any, dict[str, Any]]]
) -> dict[str, Any]:
    config = Config.load(home.node, settings)
    book = Book.load(config.get("beats.workspace"), str(Path.home()), AGENTS)
    with records(home) as found:
        beats = StoredBeats(book, found, config.get)

        async def answered() -> dict[str, Any]:
            await beats.load()
            return await answer(beats, config)

        return asyncio.run(answered())


def _opened(path: Path) -> sqlite3.Connection:
    """The database of a daemon that does not run, for reading; an empty one if there has never been a daemon."""
    if path.exists():
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for migration in MIGRATIONS:
        connection.executescript(migration.script)
    return connection


def _add_runs_left_for_the_daemon(connection: sqlite3.Connection, path: Path) -> None:
    """Put a view in front of the table of runs which has those too that no daemon has taken in yet."""
    connection.execute(f"CREATE TEMP TABLE left_for_daemon AS SELECT {_COLUMNS} FROM main.beat_run LIMIT 0")  # noqa: S608 - our own names
    for folder in folders(path):
        record = folder.handed_over
        with contextlib.suppress(msgspec.ValidationError, KeyError, TypeError):
            if (
                record is not None
                and connection.execute("SELECT 1 FROM main.beat_run WHERE run = ?", (folder.run,)).fetchone() is None
            ):
                values = (
                    *row(RUN_COLUMNS, msgspec.convert(record["run"], Run)),
                    msgspec.json.encode(record["turns"]).decode(),
                )
                connection.execute(f"INSERT INTO left_for_daemon VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608 - as above
    both = f"SELECT {_COLUMNS} FROM main.beat_run UNION ALL SELECT {_COLUMNS} FROM temp.left_for_daemon"  # noqa: S608 - as above
    connection.execute(f"CREATE TEMP VIEW beat_run AS {both}")
