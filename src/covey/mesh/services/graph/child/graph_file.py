"""The file of the graph: the engine's tables, and how far the log was applied, changed in one transaction."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import apsw
import graphqlite  # type: ignore[import-untyped]
import msgspec

from covey.mesh.services.graph.child.bound_functions import BoundFunctions
from covey.mesh.services.graph.child.changes import Changes
from covey.mesh.services.graph.child.contents import LOG_TABLES, OWN, facts_of, position_of, value_of
from covey.mesh.services.graph.child.faults import Faults
from covey.mesh.services.graph.child.limits import killed_after
from covey.mesh.services.graph.child.rows import message_of, rows_of
from covey.mesh.services.graph.engine import (
    APSW,
    GRAPHQLITE,
    Answer,
    Applied,
    EngineFaultError,
    NotAReadError,
    StatementError,
)
from covey.mesh.services.graph.statement import is_read
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.mesh.services.graph.engine import Facts, Position, Queued

LARGEST_VALUE: Final = 16 * 1024 * 1024
"""Bytes of one value and of one answer, with all its rows: part of the rules of the engine."""
STEPS: Final = 10_000
"""How many steps of SQLite's machine pass between two looks at the budget or the deadline."""
MOST_STEPS_TRIED, MOST_STEPS = 100_000_000, 400_000_000
"""What a statement may take when it is tried out, and when it is applied: what was tried out has room to grow."""
MOST_CHANGES: Final = 200_000
"""Rows that one statement may change, cascades included. Exact, and the same for all replicas."""
APPLY_CPU_S: Final = 120.0
"""What ends a loop of the engine that takes no steps of SQLite's machine; that counts as a crash."""
OVERTIME_S: Final = 1.0
_DENIED = {
    apsw.SQLITE_ANALYZE,  # statistics would change the order of rows, and be made at another time by every replica
    apsw.SQLITE_ATTACH,
    apsw.SQLITE_DETACH,
    apsw.SQLITE_PRAGMA,
}
_WRITES = {apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE, apsw.SQLITE_READ}
_SHOWN = 20


class _LostTransactionError(Exception):
    """A statement was interrupted, and the whole transaction was rolled back with it."""

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(reason)
        self.sequence = sequence
        self.reason = reason


class GraphFile:
    """The graph in a file. Only the process of the engine opens one."""

    def __init__(self, path: str) -> None:
        """Open the file, and create it if there is none. Raises EngineFaultError."""
        if (graphqlite.__version__, apsw.apsw_version()) != (GRAPHQLITE, APSW):
            raise EngineFaultError(
                f"graphqlite {graphqlite.__version__} and apsw {apsw.apsw_version()} are installed, and the graph of a "
                f"mesh needs graphqlite {GRAPHQLITE} and apsw {APSW}"
            )
        self._faults = Faults()
        pure = _connection(":memory:")
        self._writer = _connection(path)
        for statement in ("journal_mode=wal", "synchronous=normal", "temp_store=memory", "foreign_keys=on"):
            list(self._writer.execute(f"PRAGMA {statement}"))
        _load_engine(pure)
        self._writer.authorizer = lambda code, *_: apsw.SQLITE_DENY if code == apsw.SQLITE_ANALYZE else apsw.SQLITE_OK
        _load_engine(self._writer)
        _cypher(self._writer, "RETURN 1", {})
        self._writer.authorizer = None
        self._writer.execute(LOG_TABLES).fetchall()
        self._sync_once()
        self._executing = False
        self._writer.set_commit_hook(lambda: self._executing)
        self._bound = BoundFunctions(self._writer, pure)
        self._changes = Changes(self._writer)
        self._reader = _connection(path, apsw.SQLITE_OPEN_READONLY)
        for statement in ("temp_store=memory", "query_only=on"):
            list(self._reader.execute(f"PRAGMA {statement}"))
        _load_engine(self._reader)
        _cypher(self._reader, "MATCH (n) RETURN count(n)", {})  # opens what it needs of the file
        for connection in (self._writer, self._reader):
            connection.limit(apsw.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
            connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
        self._faults.clear()

    def _sync_once(self) -> None:
        """Do what opens files for a moment: the first time that the log of changes is synchronised, its folder is."""
        for _ in range(2):
            self._writer.execute("PRAGMA user_version=1").fetchall()
            self._writer.execute("INSERT OR REPLACE INTO covey_crash VALUES (0, 0)").fetchall()
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def position(self) -> Position:
        """Return how far the log was applied."""
        return position_of(self._writer)

    def facts(self) -> Facts:
        """Return what the graph holds."""
        return facts_of(self._writer)

    def read(self, statement: str, params: dict[str, Any], *, limit: int, deadline_s: float) -> Answer:
        """Return the rows of a statement that reads. Raises StatementError or NotAReadError."""
        until = time.monotonic() + deadline_s
        late = False
        self._faults.clear()

        def check() -> bool:
            nonlocal late
            late = time.monotonic() > until
            return late

        self._reader.set_progress_handler(check, STEPS)
        try:
            with killed_after(wall_s=deadline_s + OVERTIME_S):
                text = _cypher(self._reader, statement, params)
        except apsw.Error as error:
            self._faults.raise_any()
            if late:
                raise StatementError(f"it takes longer than {deadline_s:g} s") from None
            if self._faults.refused_write:
                raise NotAReadError(message_of(error)) from None
            raise _statement_error(error) from None
        finally:
            self._reader.set_progress_handler(None)
        self._faults.raise_any()
        if self._faults.refused_write:
            raise NotAReadError("the statement writes")
        rows = rows_of(text)
        return Answer(rows=rows[:limit], truncated=len(rows) > limit)

    def try_out(self, entry: Queued, *, deadline_s: float) -> None:
        """Execute a statement that writes, and undo it. Raises StatementError."""
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            with killed_after(wall_s=deadline_s + OVERTIME_S):
                self._execute(entry, MOST_STEPS_TRIED, time.monotonic() + deadline_s)
        finally:
            self._undo()

    def apply(self, entries: Sequence[Queued], *, answer_for: Sequence[str], limit: int) -> list[Applied]:
        """Execute entries in order, and store how far that is, in one transaction. Raises EngineFaultError."""
        failed: dict[int, str] = {}
        while True:
            try:
                return self._apply_all(entries, answer_for, limit, failed)
            except _LostTransactionError as lost:
                failed[lost.sequence] = lost.reason
            except apsw.Error as error:
                raise EngineFaultError(message_of(error)) from error
            finally:
                self._undo()

    def _apply_all(
        self, entries: Sequence[Queued], answer_for: Sequence[str], limit: int, failed: Mapping[int, str]
    ) -> list[Applied]:
        """Execute entries in one transaction, but not those that are known to have failed."""
        self._writer.execute("BEGIN IMMEDIATE")
        last = value_of(self._writer, "SELECT coalesce(max(sequence), 0) FROM covey_log")
        done = []
        for entry in entries:
            if entry.sequence > last:
                known = failed.get(entry.sequence)
                queued = entry if known is None else msgspec.structs.replace(entry, outcome="failed", reason=known)
                done.append(self._apply(queued, entry.id in answer_for, limit))
        self._writer.execute("COMMIT")
        return done

    def _apply(self, entry: Queued, wanted: bool, limit: int) -> Applied:  # noqa: FBT001 - it is private
        outcome, reason, answer = entry.outcome, entry.reason, None
        if outcome == "applied":
            outcome, reason, answer = self._execute_entry(entry, limit)
        self._writer.execute(
            "INSERT INTO covey_log VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (entry.sequence, entry.id, entry.digest, entry.author, entry.at, entry.epoch, outcome, reason),
        )
        return Applied(
            sequence=entry.sequence, id=entry.id, outcome=outcome, reason=reason, answer=answer if wanted else None
        )

    def _execute_entry(self, entry: Queued, limit: int) -> tuple[Any, str, Answer | None]:
        """Return what becomes of an entry that may be executed."""
        pinned = value_of(self._writer, "SELECT name FROM covey_engine")
        if pinned is None:
            self._writer.execute("INSERT INTO covey_engine VALUES (?)", (entry.engine,))
        elif pinned != entry.engine:
            return "refused", f"it was written for {entry.engine[:100]}", None
        if value_of(self._writer, "SELECT 1 FROM covey_log WHERE id = ?", entry.id):
            return "repeated", "", None
        self._writer.execute("SAVEPOINT covey_entry")
        try:
            with killed_after(cpu_s=APPLY_CPU_S):
                rows = self._execute(entry, MOST_STEPS, None)
        except StatementError as error:
            if not self._writer.in_transaction:
                raise _LostTransactionError(entry.sequence, str(error)) from None
            self._writer.execute("ROLLBACK TO covey_entry")
            self._writer.execute("RELEASE covey_entry")
            return "failed", str(error), None
        self._writer.execute("RELEASE covey_entry")
        return "applied", "", Answer(rows=rows[:limit], truncated=len(rows) > limit, counters=self._changes.counters())

    def _execute(self, entry: Queued, most_steps: int, until: float | None) -> list[Any]:
        """Execute a statement that writes, and return its rows. Raises StatementError or EngineFaultError."""
        try:
            is_read(entry.statement)  # what may not be executed is refused here too: not every author has asked
        except AgentError as error:
            raise StatementError(error.message) from None
        left = most_steps // STEPS
        excess = ""

        def check() -> bool:
            nonlocal left, excess
            left -= 1
            if left < 0:
                excess = "it takes too many steps"
            elif self._changes.total > MOST_CHANGES:
                excess = f"it changes more than {MOST_CHANGES} rows"
            elif until is not None and time.monotonic() > until:
                excess = "it takes too long"
            return bool(excess)

        self._bound.bind(entry.now_ms, entry.id)
        self._changes.clear()
        self._faults.clear()
        self._writer.authorizer = _authorize
        self._writer.set_progress_handler(check, STEPS)
        self._executing = True  # what is interrupted loses its transaction, and the engine goes on: nothing may be kept
        try:
            text = _cypher(self._writer, entry.statement, entry.params)
        except apsw.Error as error:
            self._faults.raise_any()
            raise (StatementError(excess) if excess else _statement_error(error)) from None
        finally:
            self._executing = False
            self._writer.set_progress_handler(None)
            self._writer.authorizer = None
        self._faults.raise_any()  # the engine goes on after some of them
        if excess or self._changes.total > MOST_CHANGES or not self._writer.in_transaction:
            raise StatementError(excess or f"it changes more than {MOST_CHANGES} rows")
        return rows_of(text)

    def _undo(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    def count_crash(self, sequence: int) -> int:
        """Store that an entry has crashed the engine, and return how often it has."""
        self._writer.execute(
            "INSERT INTO covey_crash VALUES (?1, 1) ON CONFLICT (sequence) DO UPDATE SET count = count + 1", (sequence,)
        )
        return int(value_of(self._writer, "SELECT count FROM covey_crash WHERE sequence = ?", sequence))


def _connection(path: str, flags: int = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) -> apsw.Connection:
    connection = apsw.Connection(path, flags=flags, statementcachesize=0)
    connection.set_busy_timeout(20_000)  # the process before may be ending
    return connection


def _load_engine(connection: apsw.Connection) -> None:
    connection.enable_load_extension(enable=True)
    connection.load_extension(graphqlite.loadable_path())
    connection.enable_load_extension(enable=False)


def _cypher(connection: apsw.Connection, statement: str, params: dict[str, Any]) -> str | None:
    row = connection.execute("SELECT cypher(?, ?)", (statement, msgspec.json.encode(params).decode())).fetchone()
    return None if row is None or row[0] is None else str(row[0])


def _authorize(code: int, first: str | None, *_: str | None) -> int:
    """Refuse what a statement of the graph never needs, whatever SQL the engine makes of it."""
    if code in _DENIED or (code in _WRITES and first is not None and first.startswith(OWN)):
        return apsw.SQLITE_DENY
    return apsw.SQLITE_OK


def _statement_error(error: apsw.Error) -> StatementError:
    if isinstance(error, apsw.TooBigError):
        return StatementError(f"a value or the whole answer is larger than {LARGEST_VALUE // 1024**2} MB")
    return StatementError(message_of(error))
