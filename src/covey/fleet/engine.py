"""The state engine: signals in, verdicts out. It does no IO and knows no clock but the times it is given, so the same signals give the same states.

What is applied is decided in this order: duplicates are dropped, then what is older than the source's cursor, then what belongs to no living
runtime; only then the judge weighs the claims.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.fleet.judge import Rules, horizon, judge
from covey.fleet.model import Claim  # noqa: TC001 - a Struct reads its annotations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.fleet.model import Verdict

APPLIED, DUPLICATE, LATE, UNBOUND = "applied", "duplicate", "late", "dropped_unbound"
SET_BACK_S = 1.0
"""What was told so far ahead of now was told by a clock that has been set back since."""
REMEMBERED = 10_000
"""Dedupe keys kept per runtime."""


class Signal(Struct, frozen=True, kw_only=True):
    """One thing a source said about a runtime. Without a claim the source has nothing to say any more."""

    runtime_id: str
    source: str
    dedupe_key: str
    event_id: str
    event_time: float
    ingested_at: float
    source_seq: int | None = None
    claim: Claim | None = None


class _Book:
    """What is known of one runtime."""

    def __init__(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.cursors: dict[str, Signal] = {}
        self.seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self.verdict: Verdict | None = None
        self.version = 0

    def keep_time(self, now: float) -> None:
        """After the clock was set back nothing new may count as old: what was told before happened just before now, in its own order."""
        told = [claim.at for claim in self.claims.values()] + [cursor.event_time for cursor in self.cursors.values()]
        ahead = max(told, default=now) - now
        if ahead > SET_BACK_S:
            self.claims = {
                source: replace(claim, at=claim.at - ahead - SET_BACK_S) for source, claim in self.claims.items()
            }
            self.cursors.clear()


class Engine:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._books: dict[str, _Book] = {}

    def start(self, runtime_id: str) -> None:
        self._books.setdefault(runtime_id, _Book())

    def resume(
        self,
        runtime_id: str,
        claims: Iterable[Claim],
        cursors: Iterable[Signal] = (),
        *,
        verdict: Verdict | None = None,
        version: int = 0,
    ) -> None:
        """Go on with a runtime of which these claims stood, after the last signal of each source."""
        self._books[runtime_id] = book = _Book()
        book.claims = {claim.source: claim for claim in claims}
        book.cursors = {cursor.source: cursor for cursor in cursors}
        book.seen = OrderedDict(((cursor.source, cursor.dedupe_key), None) for cursor in book.cursors.values())
        book.verdict, book.version = verdict, version

    def claims(self, runtime_id: str) -> list[Claim]:
        """What stands about a runtime."""
        return list(self._books[runtime_id].claims.values())

    def cursors(self, runtime_id: str) -> list[Signal]:
        """The last signal that was applied from each source, without its claim."""
        return [replace(cursor, claim=None) for cursor in self._books[runtime_id].cursors.values()]

    def end(self, runtime_id: str) -> None:
        self._books.pop(runtime_id, None)

    def __contains__(self, runtime_id: str) -> bool:
        return runtime_id in self._books

    def take(self, signal: Signal) -> str:
        """Apply a signal; says what became of it."""
        book = self._books.get(signal.runtime_id)
        if book is None:
            return UNBOUND
        key = (signal.source, signal.dedupe_key)
        if key in book.seen:
            return DUPLICATE
        book.seen[key] = None
        if len(book.seen) > REMEMBERED:
            book.seen.popitem(last=False)
        book.keep_time(signal.ingested_at)
        cursor = book.cursors.get(signal.source)
        if cursor is not None and not newer(signal, cursor):
            return LATE
        book.cursors[signal.source] = signal
        if signal.claim is None:
            book.claims.pop(signal.source, None)
        else:
            book.claims[signal.source] = replace(signal.claim, at=min(signal.claim.at, signal.ingested_at))
        return APPLIED

    def forget(self, source: str | None = None, *, levels: bool = True) -> None:
        """Nothing can be seen for a while: what was a level is not known any more."""
        for book in self._books.values():
            for name, claim in list(book.claims.items()):
                if claim.level == levels and source in {None, name}:
                    del book.claims[name]

    def settle(self, runtime_id: str, now: float) -> tuple[Verdict, bool]:
        """The runtime's verdict at a time, and whether its state is another than before."""
        book = self._books[runtime_id]
        verdict = judge(book.claims.values(), now, self.rules)
        before, book.verdict = book.verdict, verdict
        changed = before is None or (before.state, before.reason, before.detail, before.confidence) != (
            verdict.state,
            verdict.reason,
            verdict.detail,
            verdict.confidence,
        )
        if before is not None and not changed and verdict.winner is None:  # nothing is known any longer than it was
            book.verdict = verdict = replace(verdict, since=before.since)
        book.version += changed
        return verdict, changed

    def version(self, runtime_id: str) -> int:
        """How often the runtime's state has changed: what an action snapshot is checked against."""
        return self._books[runtime_id].version

    def horizon(self, runtime_id: str, now: float) -> float | None:
        """When to look at the runtime again although nothing new was heard."""
        return horizon(self._books[runtime_id].claims.values(), now, self.rules)


def newer(signal: Signal, cursor: Signal) -> bool:
    """Whether a signal comes after the last one applied from the same source."""
    if signal.source_seq is not None and cursor.source_seq is not None and signal.source_seq != cursor.source_seq:
        return signal.source_seq > cursor.source_seq
    return (signal.event_time, signal.ingested_at, signal.event_id) > (
        cursor.event_time,
        cursor.ingested_at,
        cursor.event_id,
    )
