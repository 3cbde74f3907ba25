"""What a person reads of the graph of a mesh."""

from __future__ import annotations

from typing import Any

from covey.cli.render_mesh_graph import answered, status
from covey.cli.render_mesh_state import listed, services
from covey.cli.text import Paint

PLAIN = Paint(80, colour=False)
CONNECTED = {"connected": True, "since": None, "reason": None}
AWAY = {
    "connected": False,
    "since": "2026-01-31T14:05:11Z",
    "reason": "the broker at nats://x was not reached: \x1b[31m",
}
NODE = {"id": 1, "labels": ["Task"], "properties": {"title": "login\x1b[31m"}}
RELATION = {"id": 2, "type": "WORKS_ON", "start": 1, "end": 2, "properties": {}}


def result(*rows: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "rows": list(rows),
        "truncated": False,
        "wrote": False,
        "applied": True,
        "counters": None,
        "sequence": 3,
        "caught_up": True,
        "connection": CONNECTED,
        **changed,
    }


def test_rows_are_a_table_also_with_one_column_and_nodes_look_as_in_cypher() -> None:
    one = answered(result({"t": NODE}), PLAIN).splitlines()
    assert one[0].strip() == "t"
    assert '(:Task {"title": "login' in one[1]
    assert "\x1b" not in one[1]
    two = answered(result({"t": NODE, "r": RELATION}, {"t": None, "r": 2.5}), PLAIN).splitlines()
    assert "[:WORKS_ON]" in two[1]
    assert two[2].split() == ["●", "null", "2.5"]


def test_what_was_changed_and_what_is_missing_is_said() -> None:
    counters = {"nodes_created": 2, "properties_set": 1}
    assert answered(result(wrote=True, counters=counters), PLAIN) == "2 nodes created, 1 properties set"
    assert answered(result(), PLAIN) == "No rows"
    assert "not applied here yet" in answered(result(wrote=True, applied=False), PLAIN)
    assert "not certain" in answered(result(caught_up=False), PLAIN)
    assert "see --limit" in answered(result({"t": 1}, truncated=True), PLAIN)


def test_without_a_connection_that_is_said_and_nothing_of_what_is_not_known() -> None:
    shown = answered(result({"t": 1}, caught_up=False, connection=AWAY), PLAIN)
    assert "▲ no connection to the broker since " in shown
    assert "what others have written since then is not here" in shown
    assert "not certain" not in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_the_services_say_whether_the_replica_is_complete_or_since_when_there_is_no_connection() -> None:
    found = {"items": [], "documents": 0, "bytes": 0, "caught_up": True, "refused": 0, "digest": "abc"}
    assert "this replica is complete; its digest is abc" in services({**found, "connection": CONNECTED}, PLAIN)
    reading = services({**found, "caught_up": False, "connection": CONNECTED}, PLAIN)
    assert "this replica is being brought up to date" in reading
    shown = services({**found, "connection": AWAY}, PLAIN)
    assert "no connection to the broker since " in shown
    assert "this replica is as it was then" in shown
    assert "complete" not in shown


def test_the_mark_of_a_private_value_is_there_beside_a_long_key_and_a_long_name() -> None:
    item = {"key": "deploy/" + "web/" * 40 + "version", "value": "long " * 40, "scope": "member", "revision": 3}
    item |= {"author": "U1", "author_name": "anna-" * 12, "at": "2026-01-31T14:05:11Z"}
    other = {**item, "key": "k", "scope": "mesh", "author_name": "bob"}
    lines = listed({"items": [item, other], "next": None}, PLAIN).splitlines()
    assert "… (private)  2026-01-31 " in lines[1]
    assert lines[1].startswith("● deploy/")
    assert "private" not in lines[2]
    assert max(map(len, lines)) <= 80


def test_the_status_shows_a_problem_and_what_was_put_aside() -> None:
    found = {
        "engine": "graphqlite",
        "sequence": 7,
        "caught_up": True,
        "connection": CONNECTED,
        "problem": "another engine",
        "nodes": 0,
        "relationships": 0,
        "entries": 0,
        "failed": 0,
        "not_applied": [{"sequence": 5, "author": "U", "outcome": "crashed", "reason": "SIGSEGV"}],
        "crashes": 2,
        "digest": "abc",
    }
    lines = status(found, PLAIN).splitlines()
    assert "problem: another engine" in lines
    assert "not applied: 5, crashed: SIGSEGV" in lines
