"""What is known of the beats from the database: runs, how each beat stands, and what was spent. Only read here; `ledger` writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from covey.beats import planner
from covey.beats.beat import Beat
from covey.beats.money import Prices, Spent
from covey.kernel.clock import timestamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

T = TypeVar("T")

PRICED_RUNS = 10
"""How many of a beat's latest runs its price is taken from."""


class Readable(Protocol):
    """A database that can be read."""

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns."""
        ...


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


STANDING_COLUMNS = tuple(Standing.__struct_fields__)
RUN_COLUMNS = tuple(Run.__struct_fields__)
_READ_RUN = f"SELECT {', '.join(RUN_COLUMNS)} FROM beat_run"  # noqa: S608 - our own names


class Records:
    """Over one database."""

    def __init__(self, store: Readable) -> None:
        self._records = store

    async def standings(self) -> dict[str, Standing]:
        def read(connection: sqlite3.Connection) -> list[Standing]:
            rows = connection.execute(f"SELECT {', '.join(STANDING_COLUMNS)} FROM beat_standing")  # noqa: S608
            return [_standing(row) for row in rows]

        return {standing.file: standing for standing in await self._records.read(read)}

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
            "WHERE file = ? AND probe = 'needed' AND error_kind = '' AND outcome IS NOT NULL ORDER BY ended_at DESC LIMIT 1",
            (file,),
        )
        return found[0] if found else None

    async def turns(self, run: str) -> list[Any]:
        def read(connection: sqlite3.Connection) -> list[Any]:
            found = connection.execute("SELECT turns FROM beat_run WHERE run = ?", (run,)).fetchone()
            return list(json.loads(found[0])) if found else []

        return await self._records.read(read)

    async def spent(self, since: float, file: str | None = None) -> Spent:
        """What was spent from a moment on, by one beat or by all."""

        def read(connection: sqlite3.Connection) -> Spent:
            query = "SELECT count(*), total(cost_usd), coalesce(sum(tokens), 0) FROM beat_run WHERE began_at >= ?"  # which it has once it is over
            return Spent(
                *connection.execute(
                    *((f"{query} AND file = ?", (since, file)) if file else (query, (since,)))
                ).fetchone()
            )

        return await self._records.read(read)

    async def spent_by_others(self, since: float, files: Sequence[str]) -> Spent:
        """What was spent from a moment on by runs of other beats than these: folders that are run by hand, or are no longer scheduled."""

        def read(connection: sqlite3.Connection) -> Spent:
            query = "SELECT count(*), total(cost_usd), coalesce(sum(tokens), 0) FROM beat_run WHERE began_at >= ? AND file NOT IN (SELECT value FROM json_each(?))"
            return Spent(*connection.execute(query, (since, json.dumps(list(files)))).fetchone())

        return await self._records.read(read)

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
                usd_per_token=sum(cost for cost, _ in counted) / sum(tokens for _, tokens in counted)
                if counted
                else None,
                usd_per_run=sum(cost for cost, _ in runs) / len(runs) if runs else None,
            )

        return await self._records.read(read)

    async def complaints(self) -> dict[str, tuple[str, str]]:
        """What a person was told that is wrong, by key: title and detail."""
        return await self._records.read(
            lambda connection: {
                key: (title, detail) for key, title, detail in connection.execute("SELECT * FROM beat_complaint")
            }
        )

    async def _runs(self, where: str, values: Sequence[Any] = ()) -> list[Run]:
        def read(connection: sqlite3.Connection) -> list[Run]:
            return [_run(row) for row in connection.execute(f"{_READ_RUN} {where}", values)]

        return await self._records.read(read)


def _standing(row: Sequence[Any]) -> Standing:
    values = dict(zip(STANDING_COLUMNS, row, strict=True))
    return Standing(**{**values, "plan": msgspec.json.decode(values["plan"], type=planner.Standing)})


def _run(row: Sequence[Any]) -> Run:
    values = dict(zip(RUN_COLUMNS, row, strict=True))
    values["spec"] = msgspec.json.decode(values["spec"], type=Beat)
    values["denials"] = tuple(json.loads(values["denials"]))
    for name in ("verbose", "cost_estimated"):
        values[name] = bool(values[name])
    return Run(**values)
