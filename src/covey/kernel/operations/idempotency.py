"""Calls that carry an idempotency key: a repeated call is answered again, not performed again.

A call is written down before it begins. If it is cut off, because the daemon ends or the deadline comes, the same key
is refused from then on: what was done is not known, and doing it twice may be worse than not at all.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from covey.kernel.store.migrations import Migration
from murli import (
    EXIT_CANCELLED,
    EXIT_CONFLICT,
    EXIT_PARTIAL,
    EXIT_TIMEOUT,
    EXIT_TOOL_ERROR,
    AgentError,
    conflict,
    user_error,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable

    from covey.kernel.clock import Clock
    from covey.kernel.operations.call import Call
    from covey.kernel.store.store import Store

MIGRATIONS = (
    Migration(
        "calls.replies",
        """
CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    created REAL NOT NULL
);
CREATE INDEX replies_created ON replies(created);
""",
        digest="15102e3ddb344842",
    ),
    Migration(
        "calls.idempotent",
        """
DROP TABLE replies;
CREATE TABLE idempotent_call (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    caller TEXT NOT NULL,
    begun REAL NOT NULL,
    code INTEGER,
    body BLOB
);
CREATE INDEX idempotent_call_caller ON idempotent_call(caller, begun);
CREATE INDEX idempotent_call_begun ON idempotent_call(begun);
""",
        digest="d2cff05dd2c52521",
    ),
)

log = logging.getLogger("covey.api")

KEPT_S = 24 * 3600.0
LONGEST_KEY = 200
MOST = 10_000
"""Calls that are kept, about 6 MB; the oldest go first."""
MOST_OF_ONE_CALLER = 5_000
FIELD = "Idempotency-Key"
FAILED = frozenset({EXIT_TOOL_ERROR, EXIT_PARTIAL, EXIT_CANCELLED})
"""Exit codes of calls that failed for no fault of the caller's: they may be tried again with the same key."""


class Answer(NamedTuple):
    """The result of a call, or the envelope of its error, as JSON.

    `code` is 0 or the error's exit code; `replayed` says that the call was performed before.
    """

    code: int
    body: bytes
    replayed: bool = False


class _Known(NamedTuple):
    """A row: `code` is None if the call began and its outcome is not known."""

    fingerprint: str
    code: int | None
    body: bytes | None


class IdempotentCalls:
    """Keeps the answer to each key for a day. The same key with other content is a conflict, never a silent replay."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._running: dict[str, asyncio.Future[None]] = {}

    async def once(self, key: str, call: Call, perform: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the kept answer, or perform the call and keep its answer.

        Raises AgentError, and performs nothing, if the key cannot be used, was used for another call, or belongs to a
        call whose outcome is not known, and if the database cannot be written.
        """
        check_key(key)
        fingerprint = hashlib.sha256(
            msgspec.json.encode([call.operation.name, call.params], order="sorted")
        ).hexdigest()
        while key in self._running:  # the first caller is still at it: its answer will be ours
            await asyncio.shield(self._running[key])
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running[key] = done
        try:
            known = await self._store.read(lambda db: self._find(db, key))
            if known is not None:
                return _kept(known, fingerprint)
            await self._store.write(lambda db: self._begin(db, key, fingerprint, call.caller.identity))
            answer = await perform()
            if answer.code in FAILED:
                await self._forget(key)
            elif answer.code != EXIT_TIMEOUT:
                await self._keep(key, answer, call)
            return answer
        finally:
            del self._running[key]
            done.set_result(None)

    def _find(self, db: sqlite3.Connection, key: str) -> _Known | None:
        row = db.execute(
            "SELECT fingerprint, code, body FROM idempotent_call WHERE key = ? AND begun >= ?",
            (key, self._clock.time() - KEPT_S),
        ).fetchone()
        return _Known(*row) if row else None

    def _begin(self, db: sqlite3.Connection, key: str, fingerprint: str, caller: str) -> None:
        now = self._clock.time()
        db.execute("DELETE FROM idempotent_call WHERE begun < ?", (now - KEPT_S,))
        oldest = (
            "DELETE FROM idempotent_call WHERE key IN "
            "(SELECT key FROM idempotent_call {} ORDER BY begun DESC LIMIT -1 OFFSET ?)"
        )
        db.execute(oldest.format("WHERE caller = ?"), (caller, MOST_OF_ONE_CALLER - 1))
        db.execute(oldest.format(""), (MOST - 1,))
        db.execute(
            "INSERT OR REPLACE INTO idempotent_call (key, fingerprint, caller, begun) VALUES (?, ?, ?, ?)",
            (key, fingerprint, caller, now),
        )

    async def _keep(self, key: str, answer: Answer, call: Call) -> None:
        try:
            await self._store.write(
                lambda db: (
                    db.execute(
                        "UPDATE idempotent_call SET code = ?, body = ? WHERE key = ?", (answer.code, answer.body, key)
                    ).rowcount
                )
            )
        except AgentError as error:  # it is done: saying otherwise would have it done again
            log.error(  # noqa: TRY400 - the reason says it all
                "the answer to an idempotent call could not be kept",
                extra={"operation": call.operation.name, "reason": error.message},
            )

    async def _forget(self, key: str) -> None:
        try:
            await self._store.write(lambda db: db.execute("DELETE FROM idempotent_call WHERE key = ?", (key,)).rowcount)
        except AgentError as error:
            log.error("an idempotent call that failed could not be forgotten", extra={"reason": error.message})  # noqa: TRY400 - the reason says it all


def check_key(key: str) -> None:
    """Raise AgentError for a key that cannot be used."""
    if not key or not key.isascii() or not key.isprintable() or " " in key or len(key) > LONGEST_KEY:
        raise user_error(
            "the Idempotency-Key is not usable",
            f"Use 1 to {LONGEST_KEY} printable ASCII characters without spaces.",
            field=FIELD,
        )


def _kept(known: _Known, fingerprint: str) -> Answer:
    if known.fingerprint != fingerprint:
        raise conflict("this Idempotency-Key was used for another call", "Use a new key for a new call.", field=FIELD)
    if known.code is None or known.body is None:
        raise AgentError(
            "a call with this Idempotency-Key was cut off, and its outcome is not known",
            code=EXIT_CONFLICT,
            error="outcome_unknown",
            suggestion="Look whether it was done; to do it (again), use a new key.",
            field=FIELD,
        )
    return Answer(known.code, known.body, replayed=True)
