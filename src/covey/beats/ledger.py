"""Writes runs and beat records: a run has its row before it begins, so that none runs twice and none is forgotten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from covey.beats.queries import Queries
from covey.beats.records import RECORD_COLUMNS, RUN_COLUMNS, BeatRecord, Run, to_row
from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.contract.beats_events import BEAT_FINISHED, BEAT_QUEUED, BEAT_STARTED
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from covey.beats.alerts import Alert
    from covey.contract.event_kind import EventKind
    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

_TABLES = """
CREATE TABLE beat_standing (
    file         TEXT PRIMARY KEY,
    plan         TEXT NOT NULL,
    reason       TEXT NOT NULL,
    outcome      TEXT NOT NULL,
    streak       INTEGER NOT NULL,
    skipped      INTEGER NOT NULL,
    probe_digest TEXT NOT NULL,
    budget_from  REAL NOT NULL
) STRICT;
CREATE TABLE beat_run (
    run         TEXT PRIMARY KEY,
    file        TEXT NOT NULL,
    beat        TEXT NOT NULL,
    workspace   TEXT NOT NULL,
    agent       TEXT NOT NULL,
    why         TEXT NOT NULL CHECK (why IN ('schedule', 'hand')),
    state       TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done')),
    slot        REAL,
    missed      INTEGER NOT NULL DEFAULT 0,
    verbose     INTEGER NOT NULL DEFAULT 0,
    queued_at   REAL NOT NULL,
    began_at    REAL,
    ended_at    REAL,
    duration_ms INTEGER,
    outcome     TEXT CHECK (outcome IN ('ok', 'attention', 'error')),
    summary     TEXT NOT NULL DEFAULT '',
    error_kind  TEXT NOT NULL DEFAULT '',
    error       TEXT NOT NULL DEFAULT '',
    retry_at    REAL,
    probe       TEXT NOT NULL DEFAULT '',
    denials     TEXT NOT NULL DEFAULT '[]',
    cost_usd    REAL,
    tokens      INTEGER,
    num_turns   INTEGER,
    spec        TEXT NOT NULL,
    logged      INTEGER NOT NULL DEFAULT 0,
    turns       TEXT NOT NULL DEFAULT '[]' -- last, for it may be long and is rarely read
) STRICT;
CREATE INDEX beat_run_spent ON beat_run (file, began_at, cost_usd, tokens);
CREATE INDEX beat_run_spent_by_all ON beat_run (began_at, cost_usd, tokens);
CREATE INDEX beat_run_by_end ON beat_run (file, ended_at);
CREATE INDEX beat_run_open ON beat_run (state) WHERE state != 'done';
CREATE INDEX beat_run_unlogged ON beat_run (logged) WHERE logged = 0;
CREATE TABLE beat_complaint (
    key    TEXT PRIMARY KEY,
    title  TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
"""
_ESTIMATES_AND_LOOKS = """
ALTER TABLE beat_run ADD COLUMN cost_estimated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE beat_run ADD COLUMN looked_at REAL;
"""
MIGRATIONS = (
    Migration("beats.tables", _TABLES, digest="8d96766fdfa331e6"),
    Migration("beats.estimates", _ESTIMATES_AND_LOOKS, digest="b992277589f7fbef"),
)

_PUT_RECORD = (
    f"INSERT OR REPLACE INTO beat_standing ({', '.join(RECORD_COLUMNS)})"  # noqa: S608 - our own names
    f" VALUES ({', '.join('?' * len(RECORD_COLUMNS))})"
)
_PUT_RUN = f"INSERT INTO beat_run ({', '.join(RUN_COLUMNS)}) VALUES ({', '.join('?' * len(RUN_COLUMNS))})"  # noqa: S608 - as above
_UPDATE_RUN = f"UPDATE beat_run SET {', '.join(f'{name} = ?' for name in RUN_COLUMNS)} WHERE run = ?"  # noqa: S608 - as above
_TAKE_IN = "UPDATE beat_run SET turns = ?, logged = state = 'done' WHERE run = ?"
_PRUNE_TURNS = "UPDATE beat_run SET turns = '[]' WHERE ended_at < ? AND turns != '[]'"
_MARK_LOGGED = "UPDATE beat_run SET logged = 1 WHERE run = ?"


class Ledger(Queries):
    """Persistence of runs and beat records; every method returns after the commit. All raise `StoreError`."""

    def __init__(self, store: Store, events: Events) -> None:
        super().__init__(store)
        self._store = store
        self._events = events

    async def save_record(self, record: BeatRecord) -> None:
        """Store a beat record."""
        await self._store.write(lambda connection: _put_record(connection, record))

    async def queue(self, run: Run, record: BeatRecord | None) -> None:
        """Store a run that is due, and in the same transaction the beat record whose slot it takes."""

        def also(connection: sqlite3.Connection) -> None:
            _put_run(connection, run)
            if record is not None:
                _put_record(connection, record)

        await self._events.append(BEAT_QUEUED, subject=run.id, data=run.as_dict(), source="beats", also=also)

    async def begin(self, run: Run) -> Run:
        """Store that a run has begun, and return it in that state."""
        begun = replace(run, state="running")
        await self._change(BEAT_STARTED, begun)
        return begun

    async def finish(self, run: Run, record: BeatRecord | None, turns: Sequence[Any]) -> None:
        """Store a finished run, its turns and the beat record after it, and publish that, in one transaction."""
        text = json.dumps(turns)

        def also(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE beat_run SET turns = ? WHERE run = ?", (text, run.id))
            if record is not None:
                _put_record(connection, record)

        await self._change(BEAT_FINISHED, run, also)

    async def take_in(self, handover: Mapping[str, Any]) -> Run:
        """Store a run that was begun without a daemon, with its `turns`, and return it.

        A run that is over is in the heartbeat log already. Taking in the same run again changes nothing. Raises
        `KeyError` or `msgspec.ValidationError` if the handover is damaged.
        """
        run, text = msgspec.convert(handover["run"], Run), json.dumps(handover["turns"])

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT 1 FROM beat_run WHERE run = ?", (run.id,)).fetchone() is None:
                _put_run(connection, run)
                connection.execute(_TAKE_IN, (text, run.id))

        await self._store.write(work)
        return run

    async def prune_turns(self, before: float) -> None:
        """Delete the conversations of runs that ended before a moment; what they found and cost stays."""
        await self._store.write(lambda connection: connection.execute(_PRUNE_TURNS, (before,)).rowcount)

    async def mark_logged(self, run_id: str) -> None:
        """Store that a run is in the heartbeat log."""
        await self._store.write(lambda connection: connection.execute(_MARK_LOGGED, (run_id,)).rowcount)

    async def open_alert(self, key: str, alert: Alert) -> None:
        """Ask for a person's attention, and remember that it was asked for."""

        def also(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO beat_complaint VALUES (?, ?, ?)", (key, *alert))

        data = {**alert._asdict(), "kind": "beat", "command": alert.command}
        await self._events.append(ATTENTION_ASKED, subject=key, data=data, source="beats", also=also)

    async def settle_alert(self, key: str, why: str) -> None:
        """Settle an alert, and forget it."""

        def also(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM beat_complaint WHERE key = ?", (key,))

        await self._events.append(ATTENTION_SETTLED, subject=key, data={"why": why}, source="beats", also=also)

    async def _change(
        self, kind: EventKind, run: Run, more: Callable[[sqlite3.Connection], None] = lambda _: None
    ) -> None:
        def also(connection: sqlite3.Connection) -> None:
            connection.execute(_UPDATE_RUN, (*to_row(run), run.id))
            more(connection)

        await self._events.append(kind, subject=run.id, data=run.as_dict(), source="beats", also=also)


def _put_run(connection: sqlite3.Connection, run: Run) -> None:
    connection.execute(_PUT_RUN, to_row(run))


def _put_record(connection: sqlite3.Connection, record: BeatRecord) -> None:
    connection.execute(_PUT_RECORD, to_row(record))
