"""What is written down about beats: a row for every run before it begins, and how each beat stands. Nothing is run twice, and nothing that ran is forgotten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from covey.beats.records import RUN_COLUMNS, STANDING_COLUMNS, Records, Run, Standing
from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.contract.beats_events import BEAT_FINISHED, BEAT_QUEUED, BEAT_STARTED
from covey.kernel.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from covey.contract.event_kind import EventKind
    from covey.kernel.events import Events
    from covey.kernel.store import Store

__all__ = ["MIGRATIONS", "Ledger", "Run", "Standing"]

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

_PUT_STANDING = f"INSERT OR REPLACE INTO beat_standing ({', '.join(STANDING_COLUMNS)}) VALUES ({', '.join('?' * len(STANDING_COLUMNS))})"  # noqa: S608 - our own names
_PUT_RUN = f"INSERT INTO beat_run ({', '.join(RUN_COLUMNS)}) VALUES ({', '.join('?' * len(RUN_COLUMNS))})"  # noqa: S608
_UPDATE_RUN = f"UPDATE beat_run SET {', '.join(f'{name} = ?' for name in RUN_COLUMNS)} WHERE run = ?"  # noqa: S608


class Ledger(Records):
    """Over one database. What it says is committed."""

    def __init__(self, store: Store, events: Events) -> None:
        super().__init__(store)
        self._store = store
        self._events = events

    async def put(self, standing: Standing) -> None:
        await self._store.write(lambda connection: _put(connection, _PUT_STANDING, STANDING_COLUMNS, standing))

    async def queue(self, run: Run, standing: Standing | None) -> None:
        """A run is due: on the disk before anything of it begins, together with the slot that it takes."""

        def also(connection: sqlite3.Connection) -> None:
            _put(connection, _PUT_RUN, RUN_COLUMNS, run)
            if standing is not None:
                _put(connection, _PUT_STANDING, STANDING_COLUMNS, standing)

        await self._events.append(BEAT_QUEUED, subject=run.run, data=run.as_dict(), source="beats", also=also)

    async def begin(self, run: Run) -> Run:
        begun = replace(run, state="running")
        await self._change(BEAT_STARTED, begun)
        return begun

    async def finish(self, run: Run, standing: Standing | None, turns: Sequence[Any]) -> None:
        """A run is over: its outcome, how the beat stands after it and the news of it, all or nothing."""
        text = json.dumps(turns)

        def also(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE beat_run SET turns = ? WHERE run = ?", (text, run.run))
            if standing is not None:
                _put(connection, _PUT_STANDING, STANDING_COLUMNS, standing)

        await self._change(BEAT_FINISHED, run, also)

    async def take_in(self, record: Mapping[str, Any]) -> Run:
        """A run that was begun without a daemon, and perhaps concluded and logged, with its `turns`; once, however often it is taken in."""
        run, text = msgspec.convert(record["run"], Run), json.dumps(record["turns"])

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT 1 FROM beat_run WHERE run = ?", (run.run,)).fetchone() is None:
                _put(connection, _PUT_RUN, RUN_COLUMNS, run)
                connection.execute(
                    "UPDATE beat_run SET turns = ?, logged = state = 'done' WHERE run = ?", (text, run.run)
                )

        await self._store.write(work)
        return run

    async def forget_turns(self, before: float) -> None:
        """Forget what was said in old runs; what they found and cost stays."""
        await self._store.write(
            lambda connection: (
                connection.execute(
                    "UPDATE beat_run SET turns = '[]' WHERE ended_at < ? AND turns != '[]'", (before,)
                ).rowcount
            )
        )

    async def logged(self, run: str) -> None:
        await self._store.write(
            lambda connection: connection.execute("UPDATE beat_run SET logged = 1 WHERE run = ?", (run,)).rowcount
        )

    async def complain(self, key: str, title: str, detail: str) -> None:
        def also(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO beat_complaint VALUES (?, ?, ?)", (key, title, detail))

        await self._events.append(
            ATTENTION_ASKED, subject=key, data={"title": title, "detail": detail}, source="beats", also=also
        )

    async def withdraw(self, key: str, why: str) -> None:
        def also(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM beat_complaint WHERE key = ?", (key,))

        await self._events.append(ATTENTION_SETTLED, subject=key, data={"why": why}, source="beats", also=also)

    async def _change(self, kind: EventKind, run: Run, more: Any = lambda _: None) -> None:
        def also(connection: sqlite3.Connection) -> None:
            connection.execute(_UPDATE_RUN, (*row(RUN_COLUMNS, run), run.run))
            more(connection)

        await self._events.append(kind, subject=run.run, data=run.as_dict(), source="beats", also=also)


def _put(connection: sqlite3.Connection, statement: str, names: Sequence[str], value: Struct) -> None:
    connection.execute(statement, row(names, value))


def row(names: Sequence[str], value: Struct) -> tuple[Any, ...]:
    """The columns of a run or a standing as the database has them."""
    return tuple(_column(getattr(value, name)) for name in names)


def _column(value: object) -> object:
    if isinstance(value, Struct):
        return msgspec.json.encode(value).decode()
    return json.dumps(list(value)) if isinstance(value, tuple) else int(value) if isinstance(value, bool) else value
