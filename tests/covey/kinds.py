"""Kinds of events that only tests append."""

from __future__ import annotations

from covey.contract.event_kind import EventKind


def kind(name: str) -> EventKind:
    """Return a kind of that name whose events may carry anything."""
    return EventKind(name, "For a test.")
