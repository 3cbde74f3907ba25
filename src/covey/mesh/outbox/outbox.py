"""The durable queue of what this member sends, in a SQLite file of its own.

accept -> pending -> (the publisher) -> done, at the broker -> in the recipient's inbox -> seen
                  \\-> dead -> requeued or dropped

What is accepted is on the disk and has its number. A file that was damaged is moved aside by the store; the new one has
a new `outbox_id`, so that its numbers cannot be taken for those of the former.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from covey.kernel.store.store import Store, StoreError
from covey.mesh.crypto.envelope import new_message_id
from covey.mesh.outbox.acceptance import KEPT_S, Acceptance, Outcome, accept_all, list_ids, reserve
from covey.mesh.outbox.dead_letters import AT_ONCE, GivenUp, bury, drop, find, json_array, requeue
from covey.mesh.outbox.item import (
    Accepted,
    Draft,
    Item,
    Limits,
    OutboxCounts,
    Receipt,
    Requeued,
)
from covey.mesh.outbox.queries import OutboxQueries
from covey.mesh.outbox.receipts import apply_receipt
from covey.mesh.outbox.schema import MIGRATIONS
from covey.mesh.storable_text import storable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Self

    from covey.kernel.clock import Clock
    from covey.kernel.store.database import Fsync

__all__ = ["Accepted", "Draft", "Item", "Limits", "Outbox", "OutboxCounts", "Receipt", "Requeued"]

LIMITS = Limits()
LONGEST_ERROR = 500


class Outbox(OutboxQueries):
    """Open with `await Outbox.open(path, clock=…)`; close with `aclose` or `async with`. All raise `StoreError`."""

    def __init__(self, store: Store, outbox_id: str, clock: Clock, ids: Callable[[], str]) -> None:
        super().__init__(store)
        self.outbox_id = outbox_id
        """Made with the file; the numbers of messages are unique together with it."""
        self.on_accepted: Callable[[Sequence[Item]], None] | None = None
        """Called in the event loop, in commit order, with every item that became pending: also requeued and skips."""
        self._clock = clock
        self._ids = ids
        self._loop = asyncio.get_running_loop()
        self._calls: list[Acceptance] = []
        self._accepting: set[asyncio.Task[None]] = set()
        self._applied: dict[str, tuple[int, tuple[int, ...], tuple[int, ...]]] = {}

    @classmethod
    async def open(
        cls, path: Path, *, clock: Clock, fsync: Fsync = "strict", ids: Callable[[], str] = new_message_id
    ) -> Outbox:
        """Return the outbox at `path`, made if there is none. Raises `StoreError` if it cannot be opened."""
        store = await Store.open(path, MIGRATIONS, fsync=fsync)
        try:
            outbox_id = await store.write(lambda db: _identify(db, ids(), clock.time()))
        except BaseException:
            await store.aclose()
            raise
        return cls(store, outbox_id, clock, ids)

    async def aclose(self) -> None:
        """Finish what was begun, then close. Calling it again is harmless."""
        self._accept_calls()
        while self._accepting:
            await asyncio.wait(self._accepting)
        await self.database.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def recovered_from(self) -> Path | None:
        """Where a file that was damaged at the opening was moved to; None if it was not damaged."""
        return self.database.recovered_from

    async def accept(
        self,
        drafts: Sequence[Draft],
        *,
        key: str | None = None,
        fingerprint: bytes = b"",
        answer: Callable[[Sequence[Item]], bytes] = list_ids,
        limits: Limits = LIMITS,
    ) -> Accepted:
        """Store all messages durably, or none, and return them with their numbers.

        A key that was used within 24 hours with the same fingerprint returns the answer of that time and stores
        nothing; with a different one `AgentError` (conflict) is raised. Raises `AgentError` (`queue_full`) if they do
        not fit. `answer` makes what is remembered; it runs in the writer's thread and must have no effects.
        """
        future: asyncio.Future[Accepted] = self._loop.create_future()
        acceptance = Acceptance(
            drafts,
            ids=self._ids,
            now=self._clock.time(),
            key=key,
            fingerprint=fingerprint,
            answer=answer,
            limits=limits,
            future=future,
        )
        self._calls.append(acceptance)
        if len(self._calls) == 1:  # those that were called in this turn of the event loop too are accepted with it
            self._loop.call_soon(self._accept_calls)
        return await future

    async def record_acks(self, ids: Sequence[str], at: float) -> None:
        """Record that the broker has these items on its disk. One that had been given up meanwhile is done too."""

        def work(db: sqlite3.Connection) -> None:
            update = "UPDATE outbox_item SET status = 'done', delivered_at = ?"
            rows = [(at, one) for one in ids if one.isascii()]
            done = db.executemany(f"{update} WHERE id = ? AND status = 'pending'", rows).rowcount
            if done > 0:
                reserve(db, pending=-done, positions=0)
            if done < len(ids):
                among = "id IN (SELECT value FROM json_each(?)) AND status = 'dead'"
                db.execute(f"{update} WHERE {among}", (at, json_array(ids)))

        if ids:
            await self.database.write(work, lazy=True)  # what a crash undoes is sent again, and not stored twice

    async def record_failure(self, id_: str, error: str, next_attempt_at: float) -> None:
        """Record an attempt that failed, why, and when the next one is due."""
        await self.database.write(
            lambda db: (
                db.execute(
                    "UPDATE outbox_item SET attempts = attempts + 1, last_error = ?, next_attempt_at = ?"
                    " WHERE id = ? AND status = 'pending'",
                    (storable(error)[:LONGEST_ERROR], next_attempt_at, storable(id_)),
                ).rowcount
            )
        )

    async def record_dead(self, id_: str, error: str) -> Item | None:
        """Give a pending message up, because it can never be delivered; None if it is not pending."""
        given_up = await self._bury([id_], storable(error)[:LONGEST_ERROR], self._clock.time())
        return given_up.items[0] if given_up.items else None

    async def expire(self, now: float, max_age_s: float) -> list[Item]:
        """Give up the messages that have been pending for longer, and return them."""
        condition, cutoff = "status = 'pending' AND enqueued_at < ?", now - max_age_s
        expired = list[Item]()
        while old := await self.database.read(lambda db: find(db, condition, (cutoff,))):
            expired += (await self._bury([item.id for item in old], None, now)).items
        return expired

    async def requeue(self, ids: Sequence[str] | None = None) -> list[Requeued]:
        """Make these dead messages pending again, or all of them (None), each under a new number."""

        def hand_over(requeued: Iterable[Requeued]) -> None:
            self._hand_over([one.item for one in requeued])

        requeued = list[Requeued]()
        for some in await self._dead_or(ids):
            requeued += await self.database.write(partial(requeue, ids=some, now=self._clock.time()), then=hand_over)
        return requeued

    async def drop(self, ids: Sequence[str] | None = None) -> list[Item]:
        """Delete these messages, pending or dead, or all dead ones (None), and return them."""
        dropped = list[Item]()
        for some in await self._dead_or(ids):
            work = partial(drop, ids=some, now=self._clock.time(), new_id=self._ids)
            dropped += (await self.database.write(work, then=self._hand_over_skips)).items
        return dropped

    async def record_receipt(
        self, target: str, upto: int, extra: Sequence[int], seen: Sequence[int], at: float
    ) -> Receipt:
        """Apply what a recipient says about the numbers of this outbox, and return the ids that it newly covers.

        All numbers to `upto` are in its inbox, and those of `extra`: runs, as a flat list `first, last, first, last`.
        """
        told = (upto, tuple(extra), tuple(seen))
        if self._applied.get(target) == told:
            return Receipt([], [])

        def applied(_: Receipt) -> None:
            self._applied[target] = told

        return await self.database.write(
            lambda db: apply_receipt(db, storable(target), upto=upto, extra=extra, seen=seen, at=at),
            then=applied,
            lazy=True,  # a receipt is asked for again
        )

    async def record_refusal(self, id_: str, target: str, sentence: str) -> bool:
        """Record what a recipient says about a message to its agent, unless it was seen. Returns whether it is ours."""
        values = (storable(sentence)[:LONGEST_ERROR], storable(id_), target)
        update = (
            "UPDATE outbox_item SET refused = ? WHERE id = ? AND kind = 'direct' AND target = ? AND seen_at IS NULL"
        )
        return await self.database.write(lambda db: db.execute(update, values).rowcount) > 0

    async def prune(self, older_than: float, *, dead_older_than: float | None = None) -> int:
        """Delete done items from before a time, dead ones likewise if asked, and idempotency keys older than 24 hours.

        Returns the number of items that were deleted.
        """
        forget = "DELETE FROM outbox_key WHERE at < ?"
        await self.database.write(lambda db: db.execute(forget, (self._clock.time() - KEPT_S,)).rowcount)
        deleted = await self._delete("status = 'done' AND coalesce(delivered_at, enqueued_at) < ?1", older_than)
        if dead_older_than is not None:
            deleted += await self._delete("status = 'dead' AND enqueued_at < ?1", dead_older_than)
        return deleted

    async def _delete(self, condition: str, cutoff: float) -> int:
        """Delete items in parts. They are looked for by a reader, so that nobody who writes waits for that."""
        some = f"SELECT ?1, position FROM outbox_item WHERE {condition} LIMIT {AT_ONCE}"  # noqa: S608 - constants
        delete = f"DELETE FROM outbox_item WHERE {condition} AND position = ?2"  # noqa: S608 - constants
        deleted = 0
        while rows := await self.database.read(lambda db: db.execute(some, (cutoff,)).fetchall()):
            deleted += await self.database.write(partial(_execute_many, statement=delete, rows=rows))
        return deleted

    async def _bury(self, ids: Sequence[str], error: str | None, now: float) -> GivenUp:
        work = partial(bury, ids=ids, error=error, now=now, new_id=self._ids)
        return await self.database.write(work, then=self._hand_over_skips)

    async def _dead_or(self, ids: Sequence[str] | None) -> Sequence[Sequence[str]]:
        """Return these ids, or those of all dead messages, in parts that fit a transaction."""
        query = "SELECT id FROM outbox_item WHERE status = 'dead' ORDER BY position"
        every = await self.database.read(lambda db: [row[0] for row in db.execute(query)]) if ids is None else ids
        return [every[start : start + AT_ONCE] for start in range(0, len(every), AT_ONCE)]

    def _accept_calls(self) -> None:
        if self._calls:
            task = self._loop.create_task(self._accept_all(self._calls))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)
            self._calls = []

    async def _accept_all(self, calls: Sequence[Acceptance]) -> None:
        try:
            await self.database.write(partial(accept_all, calls=calls), then=self._answer_calls)
        except Exception as error:  # noqa: BLE001 - it belongs to the callers
            for call in calls:
                if not call.future.done():
                    # One each: a shared exception would gather the tracebacks of all callers.
                    own = type(error)(error.message, error.suggestion) if isinstance(error, StoreError) else error
                    call.future.set_exception(own)

    def _answer_calls(self, outcomes: Sequence[Outcome]) -> None:
        """Hand over what was accepted, in order, also if its caller was cancelled meanwhile, and answer the callers."""
        for call, result in outcomes:
            if isinstance(result, Accepted):
                self._hand_over(result.items)
            if result is None or call.future.done():
                continue
            if isinstance(result, Accepted):
                call.future.set_result(result)
            else:
                call.future.set_exception(result)

    def _hand_over_skips(self, given_up: GivenUp) -> None:
        self._hand_over(given_up.skips)

    def _hand_over(self, items: Sequence[Item]) -> None:
        if items and self.on_accepted is not None:
            self.on_accepted(items)


def _identify(db: sqlite3.Connection, outbox_id: str, now: float) -> str:
    """Return the id of the file, made if it has none, and count the pending rows afresh."""
    db.execute(
        "INSERT OR IGNORE INTO outbox_state (one, outbox, made_at, position, pending)"
        " VALUES (1, ?, ?, coalesce((SELECT max(position) FROM outbox_item), 0), 0)",
        (outbox_id, now),
    )
    db.execute(
        "UPDATE outbox_state SET pending = counted FROM"
        " (SELECT count(*) AS counted FROM outbox_item WHERE status = 'pending') WHERE pending != counted"
    )
    return str(db.execute("SELECT outbox FROM outbox_state").fetchone()[0])


def _execute_many(db: sqlite3.Connection, *, statement: str, rows: Sequence[tuple[object, ...]]) -> int:
    return db.executemany(statement, rows).rowcount
