"""Reads runs, beat records, spending and open alerts from the database; `ledger` writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from covey.beats.alerts import Alert
from covey.beats.money import Prices, Spent
from covey.beats.records import RECORD_COLUMNS, RUN_COLUMNS, record_from_row, run_from_row

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from covey.beats.beat import Beat
    from covey.beats.records import BeatRecord, Run

T = TypeVar("T")

PRICED_RUNS = 10
"""The number of a beat's latest runs from which its price is computed."""

_READ_RUN = f"SELECT {', '.join(RUN_COLUMNS)} FROM beat_run"  # noqa: S608 - our own names
_READ_RECORD = f"SELECT {', '.join(RECORD_COLUMNS)} FROM beat_standing"  # noqa: S608 - our own names
_SPENT = "SELECT count(*), total(cost_usd), coalesce(sum(tokens), 0) FROM beat_run WHERE began_at >= ?"
"""A run has `began_at` only once it is over."""
_PRICES = """
    SELECT cost_usd, tokens FROM beat_run
    WHERE file = ? AND agent = ? AND json_extract(spec, '$.model') = ? AND cost_usd > 0 AND NOT cost_estimated
    ORDER BY run DESC LIMIT ?
"""


class Readable(Protocol):
    """A database that can be read."""

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `work` returns."""
        ...


class Queries:
    """Reads one database."""

    def __init__(self, store: Readable) -> None:
        self._database = store

    async def records(self) -> dict[str, BeatRecord]:
        """Return all beat records by their file."""

        def read(connection: sqlite3.Connection) -> list[BeatRecord]:
            return [record_from_row(row) for row in connection.execute(_READ_RECORD)]

        return {record.file: record for record in await self._database.read(read)}

    async def unfinished(self) -> list[Run]:
        """Return the runs that are queued or running, in the order in which they were due."""
        return await self._runs("WHERE state != 'done' ORDER BY queued_at, run")

    async def unlogged(self) -> list[tuple[Run, list[Any]]]:
        """Return the runs that are over and perhaps not in the heartbeat log yet, with their turns."""
        runs = await self._runs("WHERE logged = 0 AND state = 'done' ORDER BY ended_at")
        return [(run, await self.turns(run.id)) for run in runs]

    async def history(self, *, name: str | None = None, outcome: str | None = None, limit: int = 50) -> list[Run]:
        """Return runs, newest first."""
        return await self._runs(
            "WHERE (?1 IS NULL OR beat = ?1) AND (?2 IS NULL OR outcome = ?2) ORDER BY run DESC LIMIT ?3",
            (name, outcome, limit),
        )

    async def find(self, run_id: str) -> list[Run]:
        """Return at most ten runs whose id ends with `run_id`."""
        return await self._runs("WHERE substr(run, -length(?1)) = ?1 LIMIT 10", (run_id.upper(),))

    async def latest(self) -> dict[str, Run]:
        """Return the last finished run of each beat, by file."""
        newest = "SELECT file, max(ended_at) FROM beat_run GROUP BY file"
        return {run.file: run for run in await self._runs(f"WHERE (file, ended_at) IN ({newest})")}

    async def last_look(self, file: str) -> Run | None:
        """Return the last run of a beat in which its probe had news and a model answered, or None."""
        found = await self._runs(
            "WHERE file = ? AND probe = 'needed' AND error_kind = '' AND outcome IS NOT NULL"
            " ORDER BY ended_at DESC LIMIT 1",
            (file,),
        )
        return found[0] if found else None

    async def turns(self, run_id: str) -> list[Any]:
        """Return the conversation of a run; empty if the run is unknown or its turns were pruned."""

        def read(connection: sqlite3.Connection) -> list[Any]:
            found = connection.execute("SELECT turns FROM beat_run WHERE run = ?", (run_id,)).fetchone()
            return list(json.loads(found[0])) if found else []

        return await self._database.read(read)

    async def spent(self, since: float, file: str | None = None) -> Spent:
        """Return what one beat, or all of them, have spent since a moment."""

        def read(connection: sqlite3.Connection) -> Spent:
            if file:
                found = connection.execute(_SPENT + " AND file = ?", (since, file))
            else:
                found = connection.execute(_SPENT, (since,))
            return Spent(*found.fetchone())

        return await self._database.read(read)

    async def spent_by_others(self, since: float, files: Sequence[str]) -> Spent:
        """Return what beats other than these have spent: those run by hand, and those no longer scheduled."""

        def read(connection: sqlite3.Connection) -> Spent:
            query = _SPENT + " AND file NOT IN (SELECT value FROM json_each(?))"  # noqa: S608 - a constant
            return Spent(*connection.execute(query, (since, json.dumps(list(files)))).fetchone())

        return await self._database.read(read)

    async def prices(self, beat: Beat) -> Prices:
        """Return what the latest runs of a beat with its present agent and model have cost, as the agent reported."""

        def read(connection: sqlite3.Connection) -> Prices:
            runs = connection.execute(_PRICES, (beat.file, beat.agent, beat.model, PRICED_RUNS)).fetchall()
            counted = [(cost, tokens) for cost, tokens in runs if tokens]
            per_token = per_run = None
            if counted:
                per_token = sum(cost for cost, _ in counted) / sum(tokens for _, tokens in counted)
            if runs:
                per_run = sum(cost for cost, _ in runs) / len(runs)
            return Prices(usd_per_token=per_token, usd_per_run=per_run)

        return await self._database.read(read)

    async def open_alerts(self) -> dict[str, Alert]:
        """Return the alerts that are open, by key."""
        return await self._database.read(
            lambda connection: {
                key: Alert(title, detail) for key, title, detail in connection.execute("SELECT * FROM beat_complaint")
            }
        )

    async def _runs(self, where: str, values: Sequence[Any] = ()) -> list[Run]:
        def read(connection: sqlite3.Connection) -> list[Run]:
            return [run_from_row(row) for row in connection.execute(f"{_READ_RUN} {where}", values)]

        return await self._database.read(read)
