"""Checks that events are as the contract declares them: those of this process, and those in a daemon's journal."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from covey.contract.event_kind import EventKind
from covey.contract.events import EVENTS
from covey.kernel.events.event import Event
from covey.kernel.events.events import Events

BY_NAME = {str(kind): kind for kind in EVENTS}


@contextlib.contextmanager
def checked_events(found: list[str]) -> Iterator[None]:
    """Collect what is wrong with the data of events that are appended meanwhile."""
    draft = Events._draft

    def checked(
        self: Events, kind: EventKind, subject: str, data: Mapping[str, Any] | None, source: str, time: float
    ) -> Event:
        event = draft(self, kind, subject, data, source, time)
        found.extend(wrong(kind, event.data))
        return event

    Events._draft = checked  # type: ignore[method-assign]  # all appends pass through it
    try:
        yield
    finally:
        Events._draft = draft  # type: ignore[method-assign]  # as it was


def undeclared_in(database: Path) -> list[str]:
    """Return what is wrong with the events in a database; nothing if it cannot be read, as some tests want it."""
    if not database.is_file():
        return []
    try:
        with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT kind, data FROM event").fetchall()
    except sqlite3.Error:
        return []
    return [
        problem
        for kind, data in rows
        for problem in (wrong(BY_NAME[kind], json.loads(data)) if kind in BY_NAME else [f"{kind} is not declared"])
    ]


def wrong(kind: EventKind, data: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the data of an event; text that UTF-8 cannot encode is fine."""
    encoded = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
    found = _validator(json.dumps(kind.data)).iter_errors(json.loads(encoded))
    return [f"{kind}: {error.message} at {error.instance_path}" for error in found]


@cache
def _validator(schema: str) -> Any:
    return jsonschema_rs.validator_for(json.loads(schema))
