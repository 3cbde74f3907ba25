"""Kept sessions as a person reads them."""

from __future__ import annotations

from typing import Any

import pytest

from covey.cli.cells import width
from covey.cli.render_keeper import PHASES, channels, forgotten, logs, path, sent, session, sessions, status
from covey.cli.text import Paint
from covey.contract.keeper import PHASE

PAINT = Paint(80, colour=False)


def item(**changes: Any) -> dict[str, Any]:
    return {
        "name": "api",
        "agent": "codex",
        "phase": "running",
        "why": "",
        "state": "idle",
        "ref": "pane:host/api/@0/%0",
        "runtime_id": "cf0a2e563eb496b2",
        "cwd": "/w/api",
        "args": [],
        "variables": [],
        "model": "",
        "permission_mode": "",
        "worktree": "",
        "branch": "",
        "keep": False,
        "conversation": "42135027",
        "transcript": "/t/42135027.jsonl",
        "socket": "/tmp/tmux-0/default",
        "pane_id": "%3",
        "path": "/run/covey/api",
        "restarts": 0,
        "waiting": 0,
        "created_at": "2026-11-17T01:35:27.092Z",
        "started_at": "2026-11-17T01:35:29.593Z",
        "starts_at": None,
        "notes": [],
        **changes,
    }


def test_every_phase_has_a_sign() -> None:
    assert set(PHASES) == set(PHASE["enum"])


def test_without_sessions_the_way_to_one_is_shown() -> None:
    text = sessions({"items": []}, PAINT)
    assert text.splitlines() == ["No kept sessions", "  covey keep start api --agent codex  keeps one"]


def test_sessions_are_a_table() -> None:
    stopped = item(name="web", agent="claude", phase="stopped", state=None, restarts=4)
    starting = item(name="x", state=None, waiting=3)
    assert [
        " ".join(line.split()) for line in sessions({"items": [item(), stopped, starting]}, PAINT).splitlines()
    ] == [
        "NAME AGENT STATE WAITING RESTARTS FOLDER",
        "● api codex idle /w/api",
        "○ web claude stopped 4 /w/api",
        "● x codex starting 3 /w/api",
    ]


def test_a_session_that_runs_is_shown_with_the_way_to_it() -> None:
    lines = session(item(notes=["The model is left out."]), PAINT).splitlines()
    assert lines[:2] == ["● api: codex is idle in /w/api", "  The model is left out."]
    assert lines[2].startswith("  covey keep attach api")
    assert "$(covey keep path api)/in" in lines[3]


def test_a_session_that_does_not_run_says_why() -> None:
    stopped = item(phase="stopped", state=None, why="it was stopped")
    assert session(stopped, PAINT) == "○ api: codex does not run: it was stopped"
    assert session({**stopped, "why": ""}, PAINT) == "○ api: codex does not run"
    waits = item(phase="waits", why="it ended with exit code 3", starts_at="2026-11-17T01:36:00.000Z")
    first = session(waits, PAINT).splitlines()[0]
    assert first.startswith("▲ api: codex has crashed (it ended with exit code 3); it is started again at ")


def test_the_status_has_what_a_person_looks_for() -> None:
    shown = item(worktree="/h/worktrees/api", branch="keep/api", args=["--verbose"], variables=["TOKEN"], keep=True)
    message = {"id": 1, "channel": "telegram", "text": "a\nb", "at": "2026-11-17T01:36:00.000Z", "again": True}
    channel = {"name": "telegram", "incoming": True, "outgoing": False, "taken": 12, "refused": 1}
    failing = {
        "name": "adapter-api-mail",
        "session": "api",
        "restarts": 3,
        "last_line": "no route",
        "log": "/h/adapter-api-mail.log",
    }
    result = {
        "session": {**shown, "waiting": 1},
        "channels": [channel],
        "messages": [message],
        "failing_adapters": [failing],
        "not_served": 3,
    }
    text = status(result, PAINT)
    facts = {line.strip().partition("  ")[0]: line.strip().partition("  ")[2].strip() for line in text.splitlines()}
    assert (facts["conversation"], facts["restarts"], facts["arguments"]) == ("42135027", "0", "--verbose")
    assert (facts["variables"], facts["after a reboot"]) == ("TOKEN", "comes back")
    assert facts["worktree"] == "/h/worktrees/api on keep/api"
    assert facts["tmux"] == "api %3 in /tmp/tmux-0/default"
    assert "▲ adapter-api-mail ends again and again: no route; its log is" in text
    assert "▲ 3 FIFOs more are not read" in text
    assert "1 message waiting" in text
    assert "telegram (sent again): " in text.splitlines()[-1]
    assert all(width(line) <= 80 for line in text.splitlines())


def test_channels_logs_and_the_rest() -> None:
    channel = {"name": "telegram", "incoming": True, "outgoing": True, "taken": 12, "refused": 1}
    assert "· telegram in out 12 1" in " ".join(channels({"items": [channel], "not_served": 0}, PAINT).split())
    assert channels({"items": [], "not_served": 0}, PAINT) == "No channels"
    assert logs({"items": []}, PAINT) == "Nothing has happened yet"
    record = {"at": "2026-11-17T01:36:00.000Z", "kind": "keeper.started", "text": "started, pid 4"}
    assert logs({"items": [record]}, PAINT).endswith("  started, pid 4")
    assert path({"name": "api", "path": "/run/covey/api"}, PAINT) == "/run/covey/api"
    assert sent({"channel": "telegram", "bytes": 5}, PAINT) == "sent  5 bytes on telegram"


def test_in_a_narrow_terminal_what_a_person_copies_is_wrapped_and_not_cut() -> None:
    narrow = Paint(50, colour=True)
    conversation, transcript = "3f54f080-0c70-4ee1-9f3a-1f2b7c9f1c9e", f"/t/{'folder/' * 9}x.jsonl"
    shown = item(conversation=conversation, transcript=transcript)
    result = {"session": shown, "channels": [], "messages": [], "failing_adapters": [], "not_served": 0}
    text = "started, pid 3713, with a new conversation: it was asked for by a person who waits"
    record = {"at": "2026-11-17T01:36:00.000Z", "kind": "keeper.started", "text": text}
    for drawn in (status(result, narrow), logs({"items": [record]}, narrow)):
        lines = drawn.replace("\x1b[2m", "").replace("\x1b[0m", "").splitlines()
        assert "…" not in drawn
        assert all(width(line) <= 50 for line in lines[1 if "conversation  " in drawn else 0 :])
    together = "".join(status(result, Paint(50, colour=False)).split())
    assert conversation in together
    assert transcript in together


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ({"messages": 0, "worktree": "", "removed": False, "why": "it holds x (changed)"}, ["api is forgotten"]),
        (
            {"messages": 2, "worktree": "/w", "removed": True, "why": ""},
            [
                "api is forgotten",
                "  with 2 messages that waited",
                "  the worktree /w was removed: nothing in it was changed",
            ],
        ),
        (
            {"messages": 0, "worktree": "/w", "removed": False, "why": "it holds x (changed)"},
            ["api is forgotten", "  the worktree /w stays: it holds x (changed)"],
        ),
    ],
)
def test_what_became_of_a_worktree_is_said(result: dict[str, Any], lines: list[str]) -> None:
    assert forgotten({"name": "api", **result}, PAINT).splitlines() == lines


def test_control_characters_of_others_do_not_reach_the_terminal() -> None:
    hostile = "x\x1b]0;owned\x07\n\x1b[2J"
    every = item(
        why=hostile, cwd=f"/{hostile}", args=[hostile], conversation=hostile, transcript=f"/{hostile}",
        notes=[hostile], branch=hostile, worktree=hostile, socket=hostile,
    )  # fmt: skip
    message = {"id": 1, "channel": hostile, "text": hostile, "at": "2026-11-17T01:36:00.000Z", "again": False}
    channel = {"name": hostile, "incoming": True, "outgoing": False, "taken": 0, "refused": 0}
    failing = {"name": hostile, "session": "api", "restarts": 1, "last_line": hostile, "log": hostile}
    texts = [
        status(
            {
                "session": every,
                "channels": [channel],
                "messages": [message],
                "failing_adapters": [failing],
                "not_served": 0,
            },
            PAINT,
        ),
        session({**every, "phase": "stopped"}, PAINT),
        sessions({"items": [every]}, PAINT),
        logs({"items": [{"at": "2026-11-17T01:36:00.000Z", "kind": "x", "text": hostile}]}, PAINT),
        forgotten({"name": "api", "messages": 0, "worktree": hostile, "removed": False, "why": hostile}, PAINT),
        sent({"channel": hostile, "bytes": 1}, PAINT),
    ]
    assert not [text for text in texts if "\x1b" in text or "\x07" in text]
