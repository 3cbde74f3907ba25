"""The lines of the verbs `watch`: what has changed first, one line each, and nothing that others could smuggle in."""

from __future__ import annotations

from typing import Any

import pytest

from covey.cli.cells import width
from covey.cli.render_mesh_changes import CHANGES, change_line
from covey.cli.text import Paint
from covey.cli.verbs.mesh_services import WATCHED

HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202e " + "long " * 40
AT = "2026-01-31T14:05:11Z"


def holder(label: str) -> dict[str, Any]:
    return {"member": "U1", "name": "bob", "agent": "claude", "label": label, "yours": False}


def data_of(kind: str, text: str) -> dict[str, Any]:
    shared = {"author": "U1", "author_name": text, "revision": 7}
    task = {"id": "xi2j42km", "title": text, "by": holder(text), "revision": 7}
    summary = {"priority": "now", "tags": [text], "assignee": f"@{text}"}
    written = {"excerpt": text, "deleted": False, **shared}
    every: dict[str, dict[str, Any]] = {
        "lease_acquired": {"name": text, "holder": holder(text), "note": text, "until": AT},
        "lease_released": {"name": text, "holder": holder(text), "note": text},
        "memory_changed": {"id": "m1", "tags": [text], **written},
        "state_changed": {"key": text, "scope": "mesh", "value": {"a": text}, "deleted": False, **shared},
        "task_assigned": {**task, **summary, "yours": True, "description": text},
        "task_claimed": {**task, "until": AT},
        "task_completed": {**task, "result": {"a": [text]}},
        "task_created": {**task, **summary},
        "task_failed": {**task, "reason": text},
        "task_released": task,
        "vector_changed": {"id": "v1", "collection": text, **written},
    }
    return every[kind]


def line(kind: str, columns: int = 80, **changed: Any) -> str:
    text = changed.pop("text", "bob")
    event = {"cursor": 434, "time": 1.8e9, "kind": kind, "subject": "x", "data": {**data_of(kind, text), **changed}}
    return change_line(event, Paint(columns, colour=False))


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_one_line_that_fits_and_is_clean(kind: str, columns: int) -> None:
    shown = line(kind, columns, text=HOSTILE)
    assert width(shown) <= columns
    assert not any(sign in shown for sign in ("\x1b", "\x07", "\u202e", "\n", "{'"))


def test_every_kind_that_is_watched_has_a_line() -> None:
    assert {kind for kinds in WATCHED.values() for kind in kinds} == set(CHANGES)


@pytest.mark.parametrize(
    ("kind", "changed", "start"),
    [
        ("state_changed", {"key": "build/web", "value": "red"}, "● build/web  set by bob  "),
        ("state_changed", {"key": "build/web", "value": None, "deleted": True}, "✗ build/web  deleted by bob  "),
        ("task_created", {"title": "sweep", "assignee": None}, "○ xi2j42km  sweep  created by bob  "),
        ("task_assigned", {"title": "sweep", "assignee": "@ann"}, "○ xi2j42km  sweep  for @ann, by bob  "),
        ("task_claimed", {"title": "sweep"}, "● xi2j42km  sweep  claimed by bob  "),
        ("task_completed", {"title": "sweep"}, "✓ xi2j42km  sweep  completed by bob  "),
        ("task_failed", {"title": "sweep"}, "✗ xi2j42km  sweep  failed by bob  "),
        ("task_released", {"title": "sweep"}, "○ xi2j42km  sweep  released by bob  "),
        ("memory_changed", {}, "● m1  remembered by bob  "),
        ("memory_changed", {"deleted": True}, "✗ m1  forgotten by bob  "),
        ("vector_changed", {"collection": "docs"}, "● docs v1  stored by bob  "),
        ("lease_acquired", {"name": "deploy"}, "● deploy  acquired by bob  "),
        ("lease_released", {"name": "deploy"}, "○ deploy  released by bob  "),
    ],
)
def test_what_has_changed_comes_first_then_what_happened_and_who_did_it(
    kind: str, changed: dict[str, Any], start: str
) -> None:
    assert line(kind, **changed).startswith(start)


def test_of_a_long_key_both_ends_are_shown_and_who_has_set_it() -> None:
    shown = line("state_changed", key="deploy/" + "web/" * 40 + "version", value="red")
    assert shown.startswith("● deploy/")
    assert "/version  set by bob  " in shown


def test_the_rest_of_a_change_is_what_a_person_wants_to_know_next() -> None:
    assert line("state_changed", key="k", value={"a": 1}, scope="member").endswith('  (private)  {"a": 1}')
    assert line("task_completed", title="t", result={"passed": 12}).endswith('  {"passed": 12}')
    assert line("task_created", title="t", assignee="@ann", tags=["ci"]).endswith("  for @ann  now  ci")
    assert line("memory_changed", tags=["db"], excerpt="staging is read only").endswith("  db  staging is read only")
