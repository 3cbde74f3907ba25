"""The transaction that accepts messages: it numbers them, stores them, and remembers the answer under its key.

Calls that come together are accepted together: most of the cost of a call is that of its statements.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from covey.mesh.outbox.item import INSERT_ITEM, Accepted, Draft, Item, Kind, Limits, row_of
from murli import EXIT_RATE_LIMITED, AgentError, conflict, user_error

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

KEPT_S = 24 * 3600.0
LONGEST_KEY = 200
FIELD = "Idempotency-Key"
_RESERVE = "UPDATE outbox_state SET pending = pending + ?1, position = position + ?2 RETURNING position"
_LAST = "SELECT last FROM outbox_target WHERE kind = ? AND target = ?"
_NUMBER = (
    "INSERT INTO outbox_target (kind, target, last) VALUES (?, ?, ?)"
    " ON CONFLICT (kind, target) DO UPDATE SET last = excluded.last"
)
_KEEP = "INSERT OR REPLACE INTO outbox_key (key, fingerprint, answer, at) VALUES (?, ?, ?, ?)"


def list_ids(items: Sequence[Item]) -> bytes:
    """Return the ids of the items as a JSON array: the answer to a caller that asked for no other."""
    return msgspec.json.encode([item.id for item in items])


class Acceptance:
    """One call of `accept`: what is wanted, checked, with ids for it, and the future that its caller awaits."""

    def __init__(
        self,
        drafts: Sequence[Draft],
        *,
        ids: Callable[[], str],
        now: float,
        key: str | None,
        fingerprint: bytes,
        answer: Callable[[Sequence[Item]], bytes],
        limits: Limits,
        future: asyncio.Future[Accepted],
    ) -> None:
        """Raise `AgentError` if the key or a draft cannot be stored."""
        if key is not None:
            check_key(key)
        for draft in drafts:
            _check(draft, limits)
        self.drafts = drafts
        self.ids = [ids() for _ in drafts]
        self.now = now
        self.key = key
        self.fingerprint = fingerprint
        self.answer = answer
        self.limits = limits
        self.future = future


class Outcome(NamedTuple):
    """What became of one acceptance: it was accepted, or its caller gets an error. None: the caller was cancelled."""

    acceptance: Acceptance
    result: Accepted | Exception | None


class Numbers:
    """The last number of each target, as it will be: read when it is first needed, written at the end."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._last: dict[tuple[Kind, str], int] = {}

    def next(self, kind: Kind, target: str) -> int:
        """Return the next number for a target."""
        to = (kind, target)
        last = self._last.get(to)
        if last is None:
            row = self._db.execute(_LAST, to).fetchone()
            last = row[0] if row else 0
        self._last[to] = last + 1
        return last + 1

    def take_back(self, items: Sequence[Item]) -> None:
        """Take back the numbers that were given last."""
        for item in reversed(items):
            self._last[item.kind, item.target] = item.n - 1

    def write(self) -> None:
        """Store which numbers were given."""
        self._db.executemany(_NUMBER, [(*to, last) for to, last in self._last.items()])


class Acceptances:
    """Calls that are accepted in one transaction. Nothing is written before it is known what each of them gets."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._numbers = Numbers(db)
        self._keys: dict[str, tuple[bytes, bytes, float]] = {}
        self._items: list[Item] = []
        self._pending, self._position = db.execute("SELECT pending, position FROM outbox_state").fetchone()

    def accept(self, acceptance: Acceptance) -> Outcome:
        """Decide about one call: its messages are numbered, or it has the answer that its key has, or it fails."""
        if acceptance.future.cancelled():
            return Outcome(acceptance, None)
        try:
            return Outcome(acceptance, self._replay(acceptance) or self._accept(acceptance))
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001 - it belongs to this caller, and the others go on
            return Outcome(acceptance, error)

    def write(self) -> None:
        """Store everything that was decided."""
        if self._items:
            self._numbers.write()
            reserve(self._db, pending=len(self._items), positions=len(self._items))
            self._db.executemany(INSERT_ITEM, [row_of(item) for item in self._items])
        if self._keys:
            self._db.executemany(_KEEP, [(key, *values) for key, values in self._keys.items()])

    def _replay(self, acceptance: Acceptance) -> Accepted | None:
        key = acceptance.key
        if key is None:
            return None
        known = self._keys.get(key)
        if known is None:
            query = "SELECT fingerprint, answer, at FROM outbox_key WHERE key = ? AND at > ?"
            known = self._db.execute(query, (key, acceptance.now - KEPT_S)).fetchone()
        if known is None:
            return None
        if known[0] != acceptance.fingerprint:
            raise conflict(
                "this Idempotency-Key was used for another message", "Use a new key for a new message.", field=FIELD
            )
        return Accepted(items=(), replayed=True, answer=known[1])

    def _accept(self, acceptance: Acceptance) -> Accepted:
        amount, most = len(acceptance.drafts), acceptance.limits.max_queue_size
        if amount and self._pending + len(self._items) + amount > most:
            raise _full(most)
        now, start = acceptance.now, self._position + len(self._items)
        items = tuple(
            [
                Item(
                    position=position,
                    id=id_,
                    kind=draft.kind,
                    target=draft.target,
                    n=self._numbers.next(draft.kind, draft.target),
                    request=draft.request,
                    enqueued_at=now,
                    next_attempt_at=now,
                    body=draft.body,
                )
                for position, (draft, id_) in enumerate(zip(acceptance.drafts, acceptance.ids, strict=True), start + 1)
            ]
        )
        try:
            answer = acceptance.answer(items)
        except BaseException:
            self._numbers.take_back(items)
            raise
        self._items += items
        if acceptance.key is not None:
            self._keys[acceptance.key] = (acceptance.fingerprint, answer, now)
        return Accepted(items=items, replayed=False, answer=answer)


def accept_all(db: sqlite3.Connection, *, calls: Sequence[Acceptance]) -> list[Outcome]:
    """Accept calls in one transaction, in order, and return what became of each."""
    acceptances = Acceptances(db)
    outcomes = [acceptances.accept(call) for call in calls]
    acceptances.write()
    return outcomes


def give_numbers(db: sqlite3.Connection, wanted: Sequence[tuple[Kind, str]]) -> list[int]:
    """Take the next number for each of these targets, in order."""
    numbers = Numbers(db)
    given = [numbers.next(kind, target) for kind, target in wanted]
    numbers.write()
    return given


def reserve(db: sqlite3.Connection, *, pending: int, positions: int) -> int:
    """Change the number of pending rows, take positions without regard to limits, and return the last one before."""
    last: int = db.execute(_RESERVE, (pending, positions)).fetchall()[0][0]
    return last - positions


def check_key(key: str) -> None:
    """Raise `AgentError` if an idempotency key is not usable."""
    if not key or not key.isascii() or not key.isprintable() or " " in key or len(key) > LONGEST_KEY:
        raise user_error(
            "the Idempotency-Key is not usable",
            f"Use 1 to {LONGEST_KEY} printable ASCII characters without spaces.",
            field=FIELD,
        )


def _check(draft: Draft, limits: Limits) -> None:
    if len(draft.body) > limits.max_body_bytes:
        raise user_error(
            f"the message has {len(draft.body)} bytes; at most {limits.max_body_bytes} can be sent",
            "Send it in parts, or send a file.",
            error="message_too_large",
            field="message",
        )
    try:
        (draft.target + draft.request).encode()
    except UnicodeEncodeError:
        raise user_error(
            f"the recipient {draft.target[:60]!a} is not valid Unicode text", "Write the name again.", field="to"
        ) from None


def _full(most: int) -> AgentError:
    return AgentError(
        f"the outbox is full: no more than {most} messages may wait for the broker; nothing of this call was stored",
        code=EXIT_RATE_LIMITED,
        error="queue_full",
        suggestion="Wait until the broker is reached again (`covey mesh status`), or raise outbox.max_queue_size.",
        recoverable=True,
        retry_after_ms=1000,
    )
