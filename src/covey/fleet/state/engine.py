"""The state engine: signals in, verdicts out.

It does no IO and knows no clock but the times it is given, so the same signals give the same states. Whether a signal
is applied is decided in this order: one of a runtime that does not live is dropped, then one that is only claimed, then
a duplicate, then one that is older than the source's cursor. Only then does the judge weigh the claims.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from covey.fleet.state.judge import Rules, horizon, judge
from covey.fleet.state.model import Claim  # noqa: TC001 - a Struct reads its annotations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.fleet.state.model import Verdict

APPLIED, DUPLICATE, LATE, UNBOUND = "applied", "duplicate", "late", "dropped_unbound"
CLAIMED = "only_claimed"
SET_BACK_S = 1.0
"""A claim or cursor that is further ahead of now was stamped by a clock that has been set back since."""
REMEMBERED = 10_000
"""Dedupe keys kept per runtime."""


class Signal(Struct, frozen=True, kw_only=True):
    """What one source says about a runtime at one time. Without a claim, the source withdraws its last one."""

    runtime_id: str
    source: str
    dedupe_key: str
    event_id: str
    event_time: float
    ingested_at: float
    source_seq: int | None = None
    claim: Claim | None = None
    only_claimed: bool | UnsetType = UNSET
    """Whether it is not known who says it, while the runtime asks for something: then it changes no state."""


class _RuntimeRecord:
    """The claims, cursors and last verdict of one runtime."""

    def __init__(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.cursors: dict[str, Signal] = {}
        self.seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self.verdict: Verdict | None = None
        self.version = 0

    def follow_clock(self, now: float) -> None:
        """Move all claims to just before now, in their own order, if the clock was set back.

        Otherwise new signals would count as old.
        """
        times = [claim.at for claim in self.claims.values()] + [cursor.event_time for cursor in self.cursors.values()]
        ahead = max(times, default=now) - now
        if ahead > SET_BACK_S:
            self.claims = {
                source: replace(claim, at=claim.at - ahead - SET_BACK_S) for source, claim in self.claims.items()
            }
            self.cursors.clear()


class Engine:
    """The claims about every runtime that was started, and the verdicts that follow from them."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._records: dict[str, _RuntimeRecord] = {}

    def start(self, runtime_id: str) -> None:
        self._records.setdefault(runtime_id, _RuntimeRecord())

    def resume(
        self,
        runtime_id: str,
        claims: Iterable[Claim],
        cursors: Iterable[Signal] = (),
        *,
        verdict: Verdict | None = None,
        version: int = 0,
    ) -> None:
        """Continue with a runtime: its claims in force, and the last signal of each source."""
        self._records[runtime_id] = record = _RuntimeRecord()
        record.claims = {claim.source: claim for claim in claims}
        record.cursors = {cursor.source: cursor for cursor in cursors}
        record.seen = OrderedDict(((cursor.source, cursor.dedupe_key), None) for cursor in record.cursors.values())
        record.verdict, record.version = verdict, version

    def claims(self, runtime_id: str) -> list[Claim]:
        """Return the claims in force about a runtime. KeyError if it was not started."""
        return list(self._records[runtime_id].claims.values())

    def cursors(self, runtime_id: str) -> list[Signal]:
        """Return the last signal that was applied from each source, without its claim."""
        return [replace(cursor, claim=None) for cursor in self._records[runtime_id].cursors.values()]

    def end(self, runtime_id: str) -> None:
        self._records.pop(runtime_id, None)

    def __contains__(self, runtime_id: str) -> bool:
        return runtime_id in self._records

    def apply(self, signal: Signal) -> str:
        """Apply a signal. Returns APPLIED, or why it was not: UNBOUND, CLAIMED, DUPLICATE or LATE."""
        record = self._records.get(signal.runtime_id)
        if record is None:
            return UNBOUND
        if signal.only_claimed:
            return CLAIMED
        key = (signal.source, signal.dedupe_key)
        if key in record.seen:
            return DUPLICATE
        record.seen[key] = None
        if len(record.seen) > REMEMBERED:
            record.seen.popitem(last=False)
        record.follow_clock(signal.ingested_at)
        cursor = record.cursors.get(signal.source)
        if cursor is not None and not newer(signal, cursor):
            return LATE
        record.cursors[signal.source] = signal
        if signal.claim is None:
            record.claims.pop(signal.source, None)
        else:
            record.claims[signal.source] = replace(signal.claim, at=min(signal.claim.at, signal.ingested_at))
        return APPLIED

    def drop_claims(self, source: str | None = None, *, levels: bool = True) -> None:
        """Drop all level claims (or all edges), e.g. after losing a connection; of one `source` if it is given."""
        for record in self._records.values():
            for name, claim in list(record.claims.items()):
                if claim.level == levels and source in {None, name}:
                    del record.claims[name]

    def evaluate(self, runtime_id: str, now: float) -> tuple[Verdict, bool]:
        """Return the runtime's verdict at a time, and whether its state has changed since the last evaluation."""
        record = self._records[runtime_id]
        verdict = judge(record.claims.values(), now, self.rules)
        before = record.verdict
        record.verdict = verdict
        changed = before is None or (before.state, before.reason, before.detail, before.confidence) != (
            verdict.state,
            verdict.reason,
            verdict.detail,
            verdict.confidence,
        )
        if before is not None and not changed and verdict.winner is None:  # it is unknown for as long as before
            record.verdict = verdict = replace(verdict, since=before.since)
        if changed:
            record.version += 1
        return verdict, changed

    def version(self, runtime_id: str) -> int:
        """Return how often the runtime's state has changed: what an action snapshot is checked against."""
        return self._records[runtime_id].version

    def horizon(self, runtime_id: str, now: float) -> float | None:
        """Return when to evaluate the runtime again although no signal comes; None if time alone changes nothing."""
        return horizon(self._records[runtime_id].claims.values(), now, self.rules)


def newer(signal: Signal, cursor: Signal) -> bool:
    """Return whether a signal comes after the last one applied from the same source."""
    if signal.source_seq is not None and cursor.source_seq is not None and signal.source_seq != cursor.source_seq:
        return signal.source_seq > cursor.source_seq
    return (signal.event_time, signal.ingested_at, signal.event_id) > (
        cursor.event_time,
        cursor.ingested_at,
        cursor.event_id,
    )
