"""The transaction that applies what a recipient says it has: which numbers are in its inbox, and which were seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.mesh.outbox.acceptance import reserve
from covey.mesh.outbox.item import Receipt

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

MOST = 4096
"""Numbers of one receipt that are looked at, beyond `upto`: a recipient cannot keep us busy."""
_CONDITION = "kind = 'direct' AND target = :target AND n BETWEEN :first AND :last AND status IN ('pending', 'done')"
_PENDING = f"SELECT count(*) FROM outbox_item WHERE {_CONDITION} AND status = 'pending' AND inbox_at IS NULL"  # noqa: S608 - constants
_IN_INBOX = (
    "UPDATE outbox_item SET inbox_at = :at, status = 'done', delivered_at = coalesce(delivered_at, :at)"  # noqa: S608 - constants
    f" WHERE {_CONDITION} AND inbox_at IS NULL RETURNING id, skip"
)
_SEEN = f"UPDATE outbox_item SET seen_at = :at WHERE {_CONDITION} AND seen_at IS NULL AND skip = 0 RETURNING id"  # noqa: S608 - constants


def runs(extra: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the runs of a flat list `first, last, first, last, …`; without those that are malformed."""
    for first, last in zip(extra[0:MOST:2], extra[1:MOST:2], strict=False):
        if 0 < first <= last:
            yield first, last


def apply_receipt(
    db: sqlite3.Connection, target: str, *, upto: int, extra: Sequence[int], seen: Sequence[int], at: float
) -> Receipt:
    """Mark the messages that a receipt covers for the first time. A dead message stays dead: its number was skipped."""
    row = db.execute(
        "SELECT last, inbox_upto FROM outbox_target WHERE kind = 'direct' AND target = ?", (target,)
    ).fetchone()
    if row is None:
        return Receipt([], [])
    given, before = row
    upto = min(upto, given)
    wanted = [number for number in seen[:MOST] if 0 < number <= given]
    covered = [(first, min(last, given)) for first, last in runs(extra) if first <= given]
    covered += [(number, number) for number in wanted]  # what was seen is in the inbox
    if upto > before:
        covered.append((before + 1, upto))
        db.execute("UPDATE outbox_target SET inbox_upto = ? WHERE kind = 'direct' AND target = ?", (upto, target))
    in_inbox = list[str]()
    for first, last in sorted(covered):
        values = {"target": target, "first": first, "last": last, "at": at}
        pending: int = db.execute(_PENDING, values).fetchone()[0]
        in_inbox += [id_ for id_, skip in db.execute(_IN_INBOX, values).fetchall() if not skip]
        if pending:  # the receipt was faster than the broker's acknowledgement, or that was lost
            reserve(db, pending=-pending, positions=0)
    newly = list[str]()
    for number in wanted:
        values = {"target": target, "first": number, "last": number, "at": at}
        newly += [row[0] for row in db.execute(_SEEN, values).fetchall()]
    return Receipt(in_inbox, newly)
