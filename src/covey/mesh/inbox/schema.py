"""The tables of inbox.db. The full-text index is made by `full_text`, where SQLite has FTS5."""

from __future__ import annotations

from covey.kernel.store.migrations import Migration

_MESSAGE = """
    id          TEXT NOT NULL,
    sender      TEXT NOT NULL,
    outbox      TEXT NOT NULL,
    scope       TEXT NOT NULL,    -- '' for direct messages, else the token of the topic
    n           INTEGER NOT NULL,
    sent_at     REAL NOT NULL,
    received_at REAL NOT NULL,
    epoch       INTEGER NOT NULL,
    hops        INTEGER NOT NULL,
    priority    TEXT NOT NULL,
    sender_name TEXT NOT NULL,
    topic       TEXT NOT NULL,
    reply_to    TEXT NOT NULL,
    agent       TEXT NOT NULL,
    from_agent  TEXT NOT NULL,
    mentions    TEXT NOT NULL,    -- a JSON array
    meta        TEXT,             -- a JSON object
    text        TEXT NOT NULL"""

MIGRATIONS = (
    Migration(
        "inbox.tables",
        f"""
CREATE TABLE inbox_state (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL, -- the last one given
    indexed  INTEGER NOT NULL  -- the last one in the full-text index
) STRICT;
INSERT INTO inbox_state VALUES (1, 0, 0);
CREATE TABLE inbox_cursor (
    stream      TEXT PRIMARY KEY,
    incarnation TEXT NOT NULL, -- tells a stream from a later one of the same name
    sequence    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE inbox_series (
    sender  TEXT NOT NULL,
    scope   TEXT NOT NULL,
    outbox  TEXT NOT NULL,
    used_at REAL NOT NULL,
    tracker BLOB NOT NULL,
    PRIMARY KEY (sender, scope, outbox)
) STRICT, WITHOUT ROWID;
CREATE TABLE inbox_message (
    position    INTEGER PRIMARY KEY,
    late        INTEGER NOT NULL,
    seen_at     REAL,{_MESSAGE}
) STRICT;
CREATE UNIQUE INDEX inbox_message_id ON inbox_message (id, sender);
CREATE INDEX inbox_message_sender ON inbox_message (sender);
CREATE INDEX inbox_message_topic ON inbox_message (topic) WHERE topic != '';
CREATE INDEX inbox_message_received ON inbox_message (received_at);
CREATE INDEX inbox_message_seen ON inbox_message (seen_at) WHERE seen_at IS NOT NULL AND scope = '';
CREATE TABLE inbox_held ({_MESSAGE}
) STRICT;
CREATE UNIQUE INDEX inbox_held_number ON inbox_held (sender, outbox, n);
""",  # noqa: S608 - our own columns
    ),
)
