"""The tables of outbox.db."""

from __future__ import annotations

from covey.kernel.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "outbox.tables",
        """
CREATE TABLE outbox_state (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    outbox   TEXT NOT NULL,    -- the random id of this file: numbers are unique together with it
    made_at  REAL NOT NULL,
    position INTEGER NOT NULL, -- the last one given
    pending  INTEGER NOT NULL  -- rows with that status, so that acceptance need not count
) STRICT;
CREATE TABLE outbox_target (
    kind       TEXT NOT NULL CHECK (kind IN ('direct', 'topic')),
    target     TEXT NOT NULL,
    last       INTEGER NOT NULL,           -- the last number given
    inbox_upto INTEGER NOT NULL DEFAULT 0, -- all numbers up to this one are in the recipient's inbox
    PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox_item (
    position        INTEGER PRIMARY KEY,
    id              TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('direct', 'topic')),
    target          TEXT NOT NULL,
    n               INTEGER NOT NULL,
    request         TEXT NOT NULL,
    enqueued_at     REAL NOT NULL,
    attempts        INTEGER NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'done', 'dead')),
    next_attempt_at REAL NOT NULL,
    last_error      TEXT NOT NULL,
    delivered_at    REAL,
    inbox_at        REAL,
    seen_at         REAL,
    skip            INTEGER NOT NULL,
    body            BLOB NOT NULL -- last, for it may be long
) STRICT;
CREATE UNIQUE INDEX outbox_item_id ON outbox_item (id);
CREATE INDEX outbox_item_number ON outbox_item (target, n) WHERE kind = 'direct';
CREATE INDEX outbox_item_pending ON outbox_item (position) WHERE status = 'pending';
CREATE INDEX outbox_item_dead ON outbox_item (position) WHERE status = 'dead';
CREATE TABLE outbox_key (
    key         TEXT PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    answer      BLOB NOT NULL,
    at          REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_key_at ON outbox_key (at);
""",
    ),
    Migration("outbox.refusals", "ALTER TABLE outbox_item ADD COLUMN refused TEXT NOT NULL DEFAULT '';"),
)
