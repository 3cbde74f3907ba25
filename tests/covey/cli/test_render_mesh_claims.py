"""What a person reads about tasks, leases and reminders: in 80 columns, and without what others could smuggle in."""

from __future__ import annotations

from typing import Any

from covey.cli import render_mesh_leases, render_mesh_reminders, render_mesh_tasks
from covey.cli.cells import width
from covey.cli.text import Paint

AT = "2026-01-31T14:05:11Z"
HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202e " + "long " * 40
PLAIN = Paint(80, colour=False)
BOB = {"member": "U1", "name": "bob", "agent": "claude", "label": f"bob/{HOSTILE}", "yours": False}


def task(**changed: Any) -> dict[str, Any]:
    return {
        "id": "xi2j42km",
        "title": HOSTILE,
        "description": f"{HOSTILE}\nsecond line",
        "status": "claimed",
        "priority": "now",
        "tags": [HOSTILE],
        "assignee": f"@{HOSTILE}",
        "depends_on": [],
        "blocked_by": [],
        "created_by": BOB,
        "created_at": AT,
        "claimed_by": BOB,
        "until": AT,
        "claims": 1,
        "result": {"text": HOSTILE},
        "reason": "",
        "ended_by": None,
        "ended_at": None,
        "revision": 7,
        **changed,
    }


def check(text: str, *words: str) -> None:
    """Fail if a text does not fit, could act on the terminal, or lacks one of the words."""
    lines = text.split("\n")
    assert max(map(width, lines)) <= 80
    assert not any(sign in text for sign in ("\x1b", "\x07", "\u202e"))
    assert [word for word in words if word not in text] == []


def test_tasks_fit_and_are_clean() -> None:
    ended = {"ended_by": BOB, "ended_at": AT, "claimed_by": None, "until": None}
    check(render_mesh_tasks.task(task(), PLAIN), "claimed by bob/red", "second line")
    check(render_mesh_tasks.task(task(status="failed", reason=HOSTILE, **ended), PLAIN), "failed by bob")
    check(render_mesh_tasks.created(task(assignee="@bob", blocked_by=["aaaaaaaa"]), PLAIN), "for @bob", "aaaaaaaa")
    waits = task(status="open", claimed_by=None, until=None, blocked_by=["aaaaaaaa"])
    listed = {"items": [task(), waits, task(status="completed", **ended)], "next": "xi2j42km"}
    check(render_mesh_tasks.listed(listed, PLAIN), "waits", "completed", "--after xi2j42km")
    assert "covey mesh task create" in render_mesh_tasks.listed({"items": [], "next": None}, PLAIN)


def test_who_takes_a_task_is_told_how_to_end_it_or_why_there_is_none() -> None:
    counts = {"open": 2, "blocked": 0, "claimed": 1}
    check(render_mesh_tasks.taken({"task": task(), **counts}, PLAIN), "covey mesh task complete xi2j42km")
    nothing = render_mesh_tasks.taken({"task": None, **counts}, PLAIN)
    check(nothing, "No task for you now; there are others: 2 open for others, 1 claimed", "--wait 10m")
    assert render_mesh_tasks.taken({"task": None, "open": 0, "blocked": 0, "claimed": 0}, PLAIN).startswith(
        "No task for you now\n"
    )


def test_leases_and_reminders_fit_and_are_clean() -> None:
    lease = {"name": HOSTILE, "holder": BOB, "note": HOSTILE, "acquired_at": AT, "until": AT, "revision": 1}
    check(render_mesh_leases.listed({"items": [lease], "next": "x"}, PLAIN), "--after x")
    assert "covey mesh lease acquire" in render_mesh_leases.listed({"items": [], "next": None}, PLAIN)
    reminder = {
        "id": "erpkss5m",
        "message": HOSTILE,
        "to": f"@{HOSTILE}",
        "cron": "0 9 * * 1-5",
        "tz": "UTC",
        "next_at": AT,
        "created_by": BOB,
        "private": False,
    }
    check(render_mesh_reminders.listed({"items": [reminder], "more": False}, PLAIN), "0 9 * * 1-5")
    assert "covey mesh remind" in render_mesh_reminders.listed({"items": [], "more": False}, PLAIN)
    assert "reminds everybody" in render_mesh_reminders.made({**reminder, "to": "*"}, PLAIN)
