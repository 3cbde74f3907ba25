"""What is written down about beats: a row for every run before it begins, and how each beat stands. Nothing is run twice, and nothing that ran is forgotten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from covey.beats import planner
from covey.beats.beat import Beat
from covey.beats.money import Prices, Spent
from covey.kernel.clock import timestamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from covey.kernel.events import Events
    from covey.kernel.store import Store

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
MIGRATIONS = (_TABLES, _ESTIMATES_AND_LOOKS)
PRICED_RUNS = 10
"""How many of a beat's latest runs its price is taken from."""


class Standing(Struct, frozen=True, kw_only=True):
    """How a beat stands."""

    file: str
    plan: planner.Standing
    reason: str = ""
    """Why it is paused or parked."""
    outcome: str = ""
    """Of the last run that had one of its own."""
    streak: int = 0
    """Runs in a row with that outcome."""
    skipped: int = 0
    probe_digest: str = ""
    """Of what the probe said when a model last looked."""
    budget_from: float = 0.0
    """What was spent before does not count: somebody has let it run on."""


class Run(Struct, frozen=True, kw_only=True):
    """One run, from the moment it is due."""

    run: str
    file: str
    beat: str
    workspace: str
    agent: str
    why: str
    spec: Beat
    """The beat as it was then."""
    queued_at: float
    state: str = "queued"
    slot: float | None = None
    missed: int = 0
    verbose: bool = False
    began_at: float | None = None
    ended_at: float | None = None
    duration_ms: int | None = None
    outcome: str | None = None
    summary: str = ""
    error_kind: str = ""
    error: str = ""
    retry_at: float | None = None
    """When the provider serves again, if it said so."""
    probe: str = ""
    denials: tuple[str, ...] = ()
    cost_usd: float | None = None
    cost_estimated: bool = False
    """The agent ended before it told its cost: `money.priced` has estimated it."""
    tokens: int | None = None
    num_turns: int | None = None
    looked_at: float | None = None
    """When a model last looked, of a run whose probe found nothing new since then."""

    def as_dict(self) -> dict[str, Any]:
        """As the contract has it."""
        shown = asdict(self)
        for name in ("file", "spec", "verbose"):
            del shown[name]
        for name in ("slot", "queued_at", "began_at", "ended_at", "retry_at", "looked_at"):
            if shown[name] is not None:
                shown[name] = timestamp(shown[name])
        return {**shown, "denials": list(self.denials), "timeout_s": self.spec.timeout_s}


_STANDING = tuple(Standing.__struct_fields__)
_RUN = tuple(Run.__struct_fields__)
_PUT_STANDING = f"INSERT OR REPLACE INTO beat_standing ({', '.join(_STANDING)}) VALUES ({', '.join('?' * len(_STANDING))})"  # noqa: S608 - our own names
_PUT_RUN = f"INSERT INTO beat_run ({', '.join(_RUN)}) VALUES ({', '.join('?' * len(_RUN))})"  # noqa: S608
_UPDATE_RUN = f"UPDATE beat_run SET {', '.join(f'{name} = ?' for name in _RUN)} WHERE run = ?"  # noqa: S608
_READ_RUN = f"SELECT {', '.join(_RUN)} FROM beat_run"  # noqa: S608


class Ledger:
    """Over one database. What it says is committed."""

    def __init__(self, store: Store, events: Events) -> None:
        self._store = store
        self._events = events

    async def standings(self) -> dict[str, Standing]:
        def read(connection: sqlite3.Connection) -> list[Standing]:
            rows = connection.execute(f"SELECT {', '.join(_STANDING)} FROM beat_standing")  # noqa: S608
            return [_standing(row) for row in rows]

        return {standing.file: standing for standing in await self._store.read(read)}

    async def unfinished(self) -> list[Run]:
        """In the order in which they were due."""
        return await self._runs("WHERE state != 'done' ORDER BY queued_at, run")

    async def unlogged(self) -> list[tuple[Run, list[Any]]]:
        """Runs that are over and perhaps not in the log yet, with what was said."""
        runs = await self._runs("WHERE logged = 0 AND state = 'done' ORDER BY ended_at")
        return [(run, await self.turns(run.run)) for run in runs]

    async def history(self, *, name: str | None = None, outcome: str | None = None, limit: int = 50) -> list[Run]:
        """Newest first."""
        return await self._runs(
            "WHERE (?1 IS NULL OR beat = ?1) AND (?2 IS NULL OR outcome = ?2) ORDER BY run DESC LIMIT ?3",
            (name, outcome, limit),
        )

    async def find(self, run: str) -> list[Run]:
        """Those whose id ends like this."""
        return await self._runs("WHERE substr(run, -length(?1)) = ?1 LIMIT 10", (run.upper(),))

    async def latest(self) -> dict[str, Run]:
        """The last finished run of each beat, by file."""
        newest = "SELECT file, max(ended_at) FROM beat_run GROUP BY file"
        return {run.file: run for run in await self._runs(f"WHERE (file, ended_at) IN ({newest})")}

    async def last_look(self, file: str) -> Run | None:
        """The last run of a beat in which its probe had news and a model answered; None if there is none."""
        found = await self._runs(
            "WHERE file = ? AND probe = 'needed' AND error_kind = '' AND outcome IS NOT NULL ORDER BY ended_at DESC LIMIT 1", (file,)
        )
        return found[0] if found else None

    async def turns(self, run: str) -> list[Any]:
        def read(connection: sqlite3.Connection) -> list[Any]:
            found = connection.execute("SELECT turns FROM beat_run WHERE run = ?", (run,)).fetchone()
            return list(json.loads(found[0])) if found else []

        return await self._store.read(read)

    async def spent(self, since: float, file: str | None = None) -> Spent:
        """What was spent from a moment on, by one beat or by all."""

        def read(connection: sqlite3.Connection) -> Spent:
            query = "SELECT count(*), total(cost_usd), coalesce(sum(tokens), 0) FROM beat_run WHERE began_at >= ?"  # which it has once it is over
            return Spent(*connection.execute(*((f"{query} AND file = ?", (since, file)) if file else (query, (since,)))).fetchone())

        return await self._store.read(read)

    async def prices(self, beat: Beat) -> Prices:
        """What the latest runs of a beat with its present agent and model have cost, as the agent told it."""

        def read(connection: sqlite3.Connection) -> Prices:
            runs = connection.execute(
                "SELECT cost_usd, tokens FROM beat_run WHERE file = ? AND agent = ? AND json_extract(spec, '$.model') = ? AND cost_usd > 0"
                " AND NOT cost_estimated ORDER BY run DESC LIMIT ?",
                (beat.file, beat.agent, beat.model, PRICED_RUNS),
            ).fetchall()
            counted = [(cost, tokens) for cost, tokens in runs if tokens]
            return Prices(
                usd_per_token=sum(cost for cost, _ in counted) / sum(tokens for _, tokens in counted) if counted else None,
                usd_per_run=sum(cost for cost, _ in runs) / len(runs) if runs else None,
            )

        return await self._store.read(read)

    async def put(self, standing: Standing) -> None:
        await self._store.write(lambda connection: _put(connection, _PUT_STANDING, _STANDING, standing))

    async def queue(self, run: Run, standing: Standing | None) -> None:
        """A run is due: on the disk before anything of it begins, together with the slot that it takes."""

        def also(connection: sqlite3.Connection) -> None:
            _put(connection, _PUT_RUN, _RUN, run)
            if standing is not None:
                _put(connection, _PUT_STANDING, _STANDING, standing)

        await self._events.append("beat.queued", subject=run.run, data=run.as_dict(), source="beats", also=also)

    async def begin(self, run: Run) -> Run:
        begun = replace(run, state="running")
        await self._change("beat.started", begun)
        return begun

    async def finish(self, run: Run, standing: Standing | None, turns: Sequence[Any]) -> None:
        """A run is over: its outcome, how the beat stands after it and the news of it, all or nothing."""
        text = json.dumps(turns)

        def also(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE beat_run SET turns = ? WHERE run = ?", (text, run.run))
            if standing is not None:
                _put(connection, _PUT_STANDING, _STANDING, standing)

        await self._change("beat.finished", run, also)

    async def take_in(self, record: Mapping[str, Any]) -> Run:
        """A run that was begun without a daemon, and perhaps concluded and logged, with its `turns`; once, however often it is taken in."""
        run, text = msgspec.convert(record["run"], Run), json.dumps(record["turns"])

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT 1 FROM beat_run WHERE run = ?", (run.run,)).fetchone() is None:
                _put(connection, _PUT_RUN, _RUN, run)
                connection.execute("UPDATE beat_run SET turns = ?, logged = state = 'done' WHERE run = ?", (text, run.run))

        await self._store.write(work)
        return run

    async def forget_turns(self, before: float) -> None:
        """Forget what was said in old runs; what they found and cost stays."""
        await self._store.write(
            lambda connection: connection.execute("UPDATE beat_run SET turns = '[]' WHERE ended_at < ? AND turns != '[]'", (before,)).rowcount
        )

    async def logged(self, run: str) -> None:
        await self._store.write(lambda connection: connection.execute("UPDATE beat_run SET logged = 1 WHERE run = ?", (run,)).rowcount)

    async def complaints(self) -> dict[str, tuple[str, str]]:
        """What a person was told that is wrong, by key: title and detail."""
        return await self._store.read(
            lambda connection: {key: (title, detail) for key, title, detail in connection.execute("SELECT * FROM beat_complaint")}
        )

    async def complain(self, key: str, title: str, detail: str) -> None:
        def also(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO beat_complaint VALUES (?, ?, ?)", (key, title, detail))

        await self._events.append("attention.asked", subject=key, data={"title": title, "detail": detail}, source="beats", also=also)

    async def withdraw(self, key: str, why: str) -> None:
        def also(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM beat_complaint WHERE key = ?", (key,))

        await self._events.append("attention.settled", subject=key, data={"why": why}, source="beats", also=also)

    async def _change(self, kind: str, run: Run, more: Any = lambda _: None) -> None:
        def also(connection: sqlite3.Connection) -> None:
            connection.execute(_UPDATE_RUN, (*_row(_RUN, run), run.run))
            more(connection)

        await self._events.append(kind, subject=run.run, data=run.as_dict(), source="beats", also=also)

    async def _runs(self, where: str, values: Sequence[Any] = ()) -> list[Run]:
        def read(connection: sqlite3.Connection) -> list[Run]:
            return [_run(row) for row in connection.execute(f"{_READ_RUN} {where}", values)]

        return await self._store.read(read)


def _put(connection: sqlite3.Connection, statement: str, names: Sequence[str], value: Struct) -> None:
    connection.execute(statement, _row(names, value))


def _row(names: Sequence[str], value: Struct) -> tuple[Any, ...]:
    return tuple(_column(getattr(value, name)) for name in names)


def _column(value: object) -> object:
    if isinstance(value, Struct):
        return msgspec.json.encode(value).decode()
    return json.dumps(list(value)) if isinstance(value, tuple) else int(value) if isinstance(value, bool) else value


def _standing(row: Sequence[Any]) -> Standing:
    values = dict(zip(_STANDING, row, strict=True))
    return Standing(**{**values, "plan": msgspec.json.decode(values["plan"], type=planner.Standing)})


def _run(row: Sequence[Any]) -> Run:
    values = dict(zip(_RUN, row, strict=True))
    values["spec"] = msgspec.json.decode(values["spec"], type=Beat)
    values["denials"] = tuple(json.loads(values["denials"]))
    for name in ("verbose", "cost_estimated"):
        values[name] = bool(values[name])
    return Run(**values)
