"""Complete turns are read from a database as opencode writes it."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from covey.agents.opencode.turn_store import OpencodeTurns
from covey.agents.signals.signals import Owner
from covey.agents.transcript_turns import follow_turns
from tests.covey.agents.test_blocks import entries, kinds, turns

SCHEMA = """
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""
"""The part of the schema of 1.18.33 that is read."""
MESSAGES = entries("opencode", "turns/transcript")
SESSION = MESSAGES[0]["info"]["sessionID"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "opencode.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.executescript(SCHEMA)
        yield connection


def write(database: sqlite3.Connection, message: dict[str, Any]) -> None:
    own, session = message["info"]["id"], message["info"]["sessionID"]
    database.execute(
        "INSERT OR REPLACE INTO message VALUES (?, ?, 0, 0, ?)", (own, session, json.dumps(message["info"]))
    )
    for part in message["parts"]:
        values = (part["id"], own, session, json.dumps(part))
        database.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, 0, 0, ?)", values)


def unfinished(message: dict[str, Any]) -> dict[str, Any]:
    info = {key: value for key, value in message["info"].items() if key not in ("finish", "error")}
    return {"info": {**info, "time": {"created": info["time"]["created"]}}, "parts": message["parts"][:2]}


def source(tmp_path: Path) -> OpencodeTurns:
    found = follow_turns("opencode", str(tmp_path / "opencode.db"), SESSION)
    assert isinstance(found, OpencodeTurns)
    return found


def test_turns_are_delivered_once_as_they_end(database: sqlite3.Connection, tmp_path: Path) -> None:
    following, found = source(tmp_path), []
    for message in MESSAGES:
        if message["info"]["role"] == "assistant":
            write(database, unfinished(message))
            found += following.read()
            assert following.open
        write(database, message)
        found += following.read()
        following = OpencodeTurns("opencode", following.path, SESSION, following.position)
    assert found == turns("opencode", MESSAGES)
    assert len(found) == 4
    assert following.read() == []


def test_a_turn_that_a_killed_process_left_is_delivered_when_it_is_ended_or_asked_again(
    database: sqlite3.Connection, tmp_path: Path
) -> None:
    write(database, MESSAGES[0])
    write(database, unfinished(MESSAGES[1]))
    following, other = source(tmp_path), source(tmp_path)
    assert following.read() == other.read() == []
    (ended,) = following.end(math.inf)
    assert (ended.prompt, ended.interrupted, kinds(ended)) == ("Look around", True, ["thinking"])
    for message in MESSAGES[3:5]:
        write(database, message)
    assert [turn.prompt for turn in following.read()] == ["Count to a million"]
    assert [(turn.prompt, turn.interrupted) for turn in other.read()] == [
        ("Look around", True),
        ("Count to a million", True),
    ]


def test_a_conversation_of_a_helper_is_not_part_of_the_one_that_sent_it(
    database: sqlite3.Connection, tmp_path: Path
) -> None:
    helped = entries("opencode", "turns/helper")
    for message in helped:
        write(database, message)
    following = OpencodeTurns("opencode", str(tmp_path / "opencode.db"), helped[0]["info"]["sessionID"])
    assert [turn.prompt for turn in following.read()] == ["Send a helper"]


def test_reading_leaves_nothing_behind_in_a_database_that_nobody_uses(
    database: sqlite3.Connection, tmp_path: Path
) -> None:
    for message in MESSAGES:
        write(database, message)
    database.close()
    assert [file.name for file in tmp_path.iterdir()] == ["opencode.db"]
    content = (tmp_path / "opencode.db").read_bytes()
    assert len(source(tmp_path).read()) == 4
    assert [file.name for file in tmp_path.iterdir()] == ["opencode.db"]
    assert (tmp_path / "opencode.db").read_bytes() == content


def test_a_database_that_is_missing_locked_or_broken_has_no_turns_yet(
    database: sqlite3.Connection, tmp_path: Path
) -> None:
    assert OpencodeTurns("opencode", str(tmp_path / "nothing.db"), SESSION).read() == []
    assert not (tmp_path / "nothing.db").exists()
    (tmp_path / "broken.db").write_text("no database " * 500)
    assert OpencodeTurns("opencode", str(tmp_path / "broken.db"), SESSION).read() == []
    following = source(tmp_path)
    database.execute("PRAGMA locking_mode = exclusive")
    for message in MESSAGES:
        write(database, message)
    assert following.read() == []
    database.execute("PRAGMA locking_mode = normal")
    database.execute("SELECT count(*) FROM message").fetchall()
    assert len(following.read()) == 4


def test_the_database_is_where_the_environment_of_the_agent_says() -> None:
    assert OpencodeTurns.file_of(Owner(pid=1, ticks=1, began=0.0, environ={"HOME": "/h"})) == (
        "/h/.local/share/opencode/opencode.db"
    )
    moved = Owner(pid=1, ticks=1, began=0.0, environ={"HOME": "/h", "XDG_DATA_HOME": "/d"})
    assert OpencodeTurns.file_of(moved) == "/d/opencode/opencode.db"
