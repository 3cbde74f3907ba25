"""Answers to calls that carry an Idempotency-Key: a repeated call is answered again, not done again."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from murli import AgentError, conflict, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable

    from covey.kernel.clock import Clock
    from covey.kernel.store import Store

MIGRATION = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    created REAL NOT NULL
);
CREATE INDEX replies_created ON replies(created);
"""

log = logging.getLogger("covey.api")

KEPT_S = 24 * 3600.0
LONGEST_KEY = 200
MOST = 10_000
"""Answers that are kept, about 6 MB; the oldest go first."""


class Replies:
    """Keeps the answer to each key for a day. The same key with other content is a conflict, never a silent replay."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._running: dict[str, asyncio.Future[None]] = {}

    async def once(
        self, key: str, operation: str, params: dict[str, Any], call: Callable[[], Awaitable[tuple[int, bytes]]]
    ) -> tuple[int, bytes, bool]:
        """The stored answer and True, or the fresh one and False."""
        if not key or not key.isascii() or not key.isprintable() or " " in key or len(key) > LONGEST_KEY:
            raise user_error(
                "the Idempotency-Key is not usable", f"Use 1 to {LONGEST_KEY} printable ASCII characters without spaces.", field="Idempotency-Key"
            )
        fingerprint = hashlib.sha256(msgspec.json.encode([operation, params], order="sorted")).hexdigest()
        while key in self._running:  # the first caller is still at it: its answer will be ours
            await asyncio.shield(self._running[key])
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._running[key] = done
        try:
            known = await self._store.read(lambda db: self._find(db, key))
            if known is not None:
                if known[0] != fingerprint:
                    raise conflict("this Idempotency-Key was used for another call", "Use a new key for a new call.", field="Idempotency-Key")
                return known[1], known[2], True
            status, body = await call()
            if status < 500:  # noqa: PLR2004 - a failure of ours may be tried again with the same key
                try:
                    await self._store.write(lambda db: self._keep(db, key, fingerprint, status, body))
                except AgentError as error:  # it is done: saying otherwise would have it done again
                    log.error("an answer could not be kept", extra={"operation": operation, "reason": error.message})  # noqa: TRY400
            return status, body, False
        finally:
            del self._running[key]
            done.set_result(None)

    def _find(self, db: sqlite3.Connection, key: str) -> tuple[str, int, bytes] | None:
        row: tuple[str, int, bytes] | None = db.execute(
            "SELECT fingerprint, status, body FROM replies WHERE key = ? AND created >= ?", (key, self._clock.time() - KEPT_S)
        ).fetchone()
        return row

    def _keep(self, db: sqlite3.Connection, key: str, fingerprint: str, status: int, body: bytes) -> None:
        now = self._clock.time()
        db.execute("DELETE FROM replies WHERE created < ?", (now - KEPT_S,))
        db.execute("DELETE FROM replies WHERE created <= (SELECT created FROM replies ORDER BY created DESC LIMIT 1 OFFSET ?)", (MOST - 1,))
        db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)", (key, fingerprint, status, body, now))
