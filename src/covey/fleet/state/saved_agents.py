"""The agents in the database, with their states and the last claim of each source, for the next daemon to continue.

Each change is written in the transaction of its event, so the tables and the journal never disagree.
"""

from __future__ import annotations

from json import loads
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert, to_builtins

from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.contract.fleet_events import AGENT_ENDED, AGENT_SIGNAL, AGENT_STARTED, AGENT_STATE
from covey.fleet.answers.view import Row  # noqa: TC001 - a Struct reads its annotations
from covey.fleet.history.picture import row_of
from covey.fleet.state.engine import Signal
from covey.fleet.state.model import PROCESS, Claim
from covey.fleet.watch.runtimes import Runtime
from covey.kernel.events.event import encode
from covey.kernel.store.migrations import Migration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping

MIGRATION = Migration(
    "fleet.agents",
    """
CREATE TABLE agent_runtime (
    runtime_id      TEXT PRIMARY KEY,
    target          TEXT NOT NULL,
    socket          TEXT NOT NULL,
    window_id       TEXT NOT NULL,
    pane_id         TEXT NOT NULL,
    pane_epoch      TEXT NOT NULL,
    agent           TEXT NOT NULL,
    pid             INTEGER NOT NULL,
    process_started INTEGER NOT NULL,
    started_at      REAL NOT NULL
) STRICT;
CREATE TABLE agent_state (
    runtime_id    TEXT PRIMARY KEY REFERENCES agent_runtime ON DELETE CASCADE,
    state         TEXT NOT NULL,
    reason        TEXT NOT NULL,
    state_version INTEGER NOT NULL,
    last_seen_at  REAL NOT NULL,
    asked         INTEGER NOT NULL,
    row           TEXT NOT NULL
) STRICT;
CREATE TABLE agent_source (
    runtime_id TEXT NOT NULL REFERENCES agent_runtime ON DELETE CASCADE,
    source     TEXT NOT NULL,
    claim      TEXT,
    cursor     TEXT NOT NULL,
    PRIMARY KEY (runtime_id, source)
) STRICT;
""",
    digest="ad4408aa477ecad2",
)
"""`asked`: whether a person was asked for it. `row`: as events have it. `claim`: what the source claims, if anything;
`cursor`: its last signal."""

_FIELDS = tuple(
    name for name in Runtime.__struct_fields__ if name not in {"ended_at", "suspended", "version", "version_note"}
)
_RUNTIME = f"INSERT OR REPLACE INTO agent_runtime ({', '.join(_FIELDS)}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608 - our own names
_STATE = (
    "INSERT INTO agent_state (runtime_id, state, reason, state_version, last_seen_at, asked, row) "
    "SELECT ?1, ?2, ?3, ?4, ?5, 0, ?6 "
    "WHERE EXISTS (SELECT 1 FROM agent_runtime WHERE runtime_id = ?1) "
    "ON CONFLICT (runtime_id) DO UPDATE SET state = ?2, reason = ?3, state_version = ?4, last_seen_at = ?5, row = ?6"
)
_SOURCE = (
    "INSERT INTO agent_source (runtime_id, source, claim, cursor) SELECT ?1, ?2, ?3, ?4 "
    "WHERE EXISTS (SELECT 1 FROM agent_runtime WHERE runtime_id = ?1) "
    "ON CONFLICT (runtime_id, source) DO UPDATE SET claim = ?3, cursor = ?4"
)


class SavedAgent(Struct, frozen=True, kw_only=True):
    """One agent as the last daemon knew it."""

    runtime: Runtime
    row: Row
    claims: tuple[Claim, ...] = ()
    cursors: tuple[Signal, ...] = ()
    asked: bool = False


def change(
    kind: str, runtime: Runtime | None, subject: str, data: Mapping[str, Any], at: float, claim: Claim | None
) -> Callable[[sqlite3.Connection], None] | None:
    """Return what an event of the fleet changes in the tables; None if nothing.

    `claim` is what the source of a signal claims now, as the engine has it.
    """
    if kind == AGENT_SIGNAL and data["applied"]:
        cursor = encode({**data, "claim": None})
        values = (subject, data["source"], None if claim is None else encode(to_builtins(claim)), cursor)

        def write_signal(connection: sqlite3.Connection) -> None:
            connection.execute(_SOURCE, values)
            connection.execute("UPDATE agent_state SET last_seen_at = ? WHERE runtime_id = ?", (at, subject))

        return write_signal
    if kind in {AGENT_STARTED, AGENT_STATE} and runtime is not None:
        identity = tuple(getattr(runtime, name) for name in _FIELDS)
        state = (subject, data["state"], data["reason"], data["state_version"], at, encode(data))

        def write_state(connection: sqlite3.Connection) -> None:
            if kind == AGENT_STARTED:
                connection.execute(_RUNTIME, identity)
            connection.execute(_STATE, state)

        return write_state
    if kind == AGENT_ENDED:
        return lambda connection: _run(connection, "DELETE FROM agent_runtime WHERE runtime_id = ?", (subject,))
    if kind in {ATTENTION_ASKED, ATTENTION_SETTLED}:
        asked = (kind == ATTENTION_ASKED, data["runtime_id"])
        return lambda connection: _run(connection, "UPDATE agent_state SET asked = ? WHERE runtime_id = ?", asked)
    return None


def _run(connection: sqlite3.Connection, statement: str, values: tuple[Any, ...]) -> None:
    connection.execute(statement, values)


def load(connection: sqlite3.Connection) -> list[SavedAgent]:
    """Return every agent that the last daemon knew."""
    claims: dict[str, list[Claim]] = {}
    cursors: dict[str, list[Signal]] = {}
    for runtime_id, claim, cursor in connection.execute(
        "SELECT runtime_id, claim, cursor FROM agent_source ORDER BY runtime_id, source"
    ):
        cursors.setdefault(runtime_id, []).append(convert(loads(cursor), Signal))
        if claim is not None:
            claims.setdefault(runtime_id, []).append(convert(loads(claim), Claim))
    columns = ", ".join(f"r.{name}" for name in _FIELDS)
    tables = "agent_runtime r JOIN agent_state USING (runtime_id)"
    query = f"SELECT {columns}, asked, row FROM {tables} ORDER BY r.rowid"  # noqa: S608 - our own names
    found = []
    for *identity, asked, row in connection.execute(query):
        fields = dict(zip(_FIELDS, identity, strict=True))
        runtime_id = fields["runtime_id"]
        stopped = any(claim.source == PROCESS for claim in claims.get(runtime_id, ()))
        saved = row_of(loads(row))
        runtime = convert(
            {**fields, "suspended": stopped, "version": saved.version, "version_note": saved.version_note}, Runtime
        )
        found.append(
            SavedAgent(
                runtime=runtime,
                row=saved,
                claims=tuple(claims.get(runtime_id, ())),
                cursors=tuple(cursors.get(runtime_id, ())),
                asked=bool(asked),
            )
        )
    return found
