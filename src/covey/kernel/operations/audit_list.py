"""Who did what: the calls that the audit has recorded, one entry for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from covey.contract.kernel_events import AUDIT_BEGUN, AUDIT_CALL
from covey.kernel.clock import timestamp
from covey.kernel.events.event import Kinds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from covey.kernel.events.event import Event

KINDS = Kinds([AUDIT_BEGUN, AUDIT_CALL])

FAILED = frozenset({"timeout", "internal_error"})
"""Errors after which it is not known what was done."""


class Page(NamedTuple):
    """Entries, the newest last, and the cursor before which there are more; None if there are none."""

    entries: list[dict[str, Any]]
    earlier: int | None


def page(
    events: Iterable[Event], running: Collection[int], *, operations: Collection[str], before: int | None, limit: int
) -> Page:
    """Return the newest entries of events, which come newest first; only those before a cursor, if one is given."""
    entries: list[dict[str, Any]] = []
    for entry in _entries(events, running):
        if (before is not None and entry["cursor"] >= before) or (operations and entry["operation"] not in operations):
            continue
        if len(entries) == limit:
            return Page(entries[::-1], entries[-1]["cursor"])
        entries.append(entry)
    return Page(entries[::-1], None)


def _entries(events: Iterable[Event], running: Collection[int]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each call: at its end, or at its beginning if it has no end."""
    ended: set[int] = set()
    for event in events:
        if event.kind == AUDIT_CALL:
            ended.add(event.data.get("begun") or 0)
            yield _entry(event, _status(event.data["error"]))
        elif event.cursor in ended:
            ended.discard(event.cursor)
        else:
            yield _entry(event, "under_way" if event.cursor in running else "cut_off")


def _status(error: str | None) -> str:
    if error is None:
        return "done"
    return "failed" if error in FAILED else "refused"


def _entry(event: Event, status: str) -> dict[str, Any]:
    """Return an entry; events of earlier releases have fewer fields."""
    data = event.data
    return {
        "cursor": event.cursor,
        "at": timestamp(event.time),
        "who": {
            "uid": data["uid"],
            "pid": data["pid"],
            "program": data.get("program", ""),
            "transport": data["transport"],
            "subsystem": data["subsystem"],
            "surface": data.get("surface", ""),
        },
        "operation": event.subject,
        "about": data["about"],
        "snapshot": data.get("snapshot"),
        "status": status,
        "outcome": data.get("outcome", ""),
        "error": data.get("error"),
    }
