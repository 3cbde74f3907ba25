"""What a person reads about a mesh: honest about what is proven, and free of what others could smuggle in."""

from __future__ import annotations

from typing import Any

import pytest

from covey.cli import render_mesh, render_mesh_members, render_mesh_peers
from covey.cli.cells import width
from covey.cli.render import render
from covey.cli.text import Paint, clock_of
from covey.contract import OPERATIONS

AT = "2026-01-31T14:05:11Z"
MEMBER = "U" + "A" * 55
HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202e"
PLAIN = Paint(80, colour=False)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
HELD = {"member": MEMBER, "name": "carl", "messages": 2, "until": AT}
KNOWN = {"on": True, "off": False, "?": None}


def answer(rung: str, *peers: str, status: str = "in our outbox", replayed: bool = False) -> dict[str, Any]:
    recipients = [
        {"member": MEMBER, "name": f"bob{number or ''}", "id": f"m{number}", "online": KNOWN[one], "rung": rung}
        for number, one in enumerate(peers)
    ]
    return {
        "id": "m0",
        "ids": [one["id"] for one in recipients],
        "to": "bob",
        "recipients": recipients,
        "rung": rung,
        "status": status,
        "queued": True,
        "replayed": replayed,
    }


def message(**changed: Any) -> dict[str, Any]:
    return {
        "cursor": 1,
        "id": "abcdefghijklmnopqrstuvwxyz",
        "mesh": "team",
        "kind": "direct",
        "from": MEMBER,
        "from_name": "bob",
        "from_agent": "",
        "to_agent": "",
        "topic": None,
        "text": "hello",
        "priority": "next",
        "meta": {},
        "reply_to_id": None,
        "mentions": [],
        "mentioned": False,
        "hops": 0,
        "sent_at": AT,
        "received_at": AT,
        "late": False,
        **changed,
    }


def row(**changed: Any) -> dict[str, Any]:
    return {
        "slug": "team",
        "mesh": "x" * 52,
        "member": MEMBER,
        "name": "alice",
        "role": "authority",
        "servers": ["nats://127.0.0.1:4222"],
        "wanted": "up",
        "state": "running",
        "pid": 7,
        "restarts": 0,
        "connected": True,
        "queue_depth": 0,
        "problem": "",
        **changed,
    }


BROKER = {
    "state": "running",
    "pid": 8,
    "restarts": 0,
    "version": "2.15.1",
    "url": "tls://127.0.0.1:4222",
    "listen": ["0.0.0.0:4222"],
    "names": ["build.example.org"],
    "fingerprint": "a" * 64,
}
PEER = {
    "slug": "team",
    "mesh": "x" * 52,
    "member": MEMBER,
    "name": "alice",
    "role": "authority",
    "connected": True,
    "server": "127.0.0.1:4222",
    "servers": [],
    "lag_ms": 1.2,
    "reconnects": 0,
    "reason": "",
    "members": 2,
    "online": 1,
    "epoch": 1,
    "outbox": {"pending": 1, "dead": 2, "bytes": 3, "oldest_s": None},
    "inbox": {"messages": 5, "bytes": 6, "held": 2, "held_from": [HELD], "unreadable": 0},
    "hooks": {"enabled": True, "running": 0, "queued": 0, "fired": 3, "failed": 1},
    "services": {"documents": 3, "bytes": 900, "caught_up": False, "refused": 0},
    "problems": [f"disk {HOSTILE}"],
}
PROCESS = {
    "slug": "team",
    "running": True,
    "version": "0.1.0",
    "pid": 7,
    "uptime_s": 61.0,
    "rss_bytes": 50_000_000,
    "wanted": "up",
    "why": "",
    "peer": PEER,
}


@pytest.mark.parametrize(
    ("result", "first"),
    [
        (answer("stored", "off"), "○ queued: bob is offline"),
        (answer("at_broker", "off"), "● queued: bob is offline, and the broker has it"),
        (answer("stored", "off", "off", "on"), "○ queued: bob and 1 more are offline"),
        (answer("stored", "on"), "○ in our outbox"),
        (answer("stored", "?"), "○ in our outbox"),
        (answer("stored", "off", status="in our outbox, and stays there"), "○ in our outbox, and stays there"),
        (answer("at_broker", "?", status="at the broker"), "● at the broker"),
        (answer("in_inbox", "off", status="in the inbox of bob"), "✓ in the inbox of bob"),
        (answer("seen", "on", status="seen by bob"), "✓ seen by bob"),
    ],
)
def test_what_is_queued_is_not_called_sent(result: dict[str, Any], first: str) -> None:
    assert render_mesh.sent(result, PLAIN).splitlines()[0] == first
    assert "sent" not in first


def test_a_repeated_key_says_that_nothing_was_sent_again() -> None:
    assert "nothing was sent again" in " ".join(render_mesh.sent(answer("stored", "on", replayed=True), PLAIN).split())


def test_a_message_shows_who_where_and_every_line_and_nothing_that_acts_on_the_terminal() -> None:
    hostile = message(
        kind="topic", topic="alerts", text=f"one\n{HOSTILE} two", from_name=HOSTILE, priority="now", mentioned=True
    )
    text = render_mesh.inbox({"items": [hostile, message(kind="broadcast")], "held_from": []}, PLAIN)
    lines = text.splitlines()
    assert lines[0].startswith("▲ ")
    assert "#alerts  now  mentions you" in lines[0]
    assert lines[1:4] == [f"  {hostile['id']}", "    one", "    red two"]
    assert "to all" in lines[4]
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert render_mesh.inbox({"items": [], "held_from": []}, PLAIN) == "No messages"


def test_what_is_held_back_is_told_below_the_messages_and_in_the_status() -> None:
    lines = render_mesh.inbox({"items": [message()], "held_from": [HELD]}, Paint(120, colour=False)).splitlines()
    told = f"▲ 2 messages from carl held back until earlier ones come, until {clock_of(AT)} at most"
    assert lines[-1] == told
    assert f"  {told}" in render_mesh_peers.status({"items": [PROCESS]}, Paint(120, colour=False)).splitlines()
    hostile = render_mesh.inbox({"items": [], "held_from": [{**HELD, "name": HOSTILE}]}, PLAIN)
    assert not {"\x1b", "\x07", "\u202e"} & set(hostile)


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_the_id_of_a_message_can_be_copied(columns: int) -> None:
    paint, one = Paint(columns, colour=False), message(topic="a-long-topic" * 9, kind="topic", reply_to_id="x")
    assert one["id"] in render_mesh.inbox({"items": [one], "held_from": []}, paint)
    sent = {"id": one["id"], "to": "bob" * 9, "state": "pending", "rung": "stored", "attempts": 0, "accepted_at": AT}
    assert one["id"] in render_mesh.outbox({"items": [{**sent, "error": ""}], "pending": 1, "dead": 0}, paint)


def test_a_receipt_that_was_given_up_says_why_and_what_to_do() -> None:
    receipt = {
        "id": "m1",
        "to": "bob",
        "member": MEMBER,
        "online": False,
        "rung": "stored",
        "state": "dead",
        "status": "given up after 7 days",
        "accepted_at": AT,
        "delivered_at": None,
        "received_at": None,
        "seen_at": None,
        "attempts": 9,
        "error": "no broker",
    }
    lines = render_mesh.receipt(receipt, PLAIN).splitlines()
    assert lines[0] == "✗ given up after 7 days"
    assert "9 attempts; the last: no broker" in lines[-2]
    assert "covey mesh outbox requeue m1" in lines[-1]


def test_the_list_of_meshes_tells_down_from_broken_and_empty_teaches() -> None:
    items = [
        row(),
        row(slug="resting", wanted="down", pid=None, connected=None, queue_depth=None, state="not running"),
        row(slug="cut", connected=False, queue_depth=3),
        row(slug="torn", problem="membership.json is damaged", connected=None),
    ]
    lines = render_mesh_peers.meshes({"items": items, "broker": BROKER}, PLAIN).splitlines()
    assert [line[0] for line in lines[1:5]] == ["●", "○", "▲", "✗"]
    assert [line.split()[2] for line in lines[1:3]] == ["connected", "down"]
    assert lines[-1] == "● broker running (nats-server 2.15.1), open at 0.0.0.0:4222"
    assert "covey mesh create team" in render_mesh_peers.meshes({"items": [], "broker": None}, PLAIN)


def test_the_status_of_a_peer_begins_with_its_connection() -> None:
    gone = {**PROCESS, "running": False, "why": "it does not run", "peer": None}
    text = render_mesh_peers.status({"items": [PROCESS, gone]}, PLAIN)
    assert text.startswith("● team: connected to 127.0.0.1:4222, 1 ms away")
    assert "1 waiting, 2 given up" in text
    assert "✗ team: it does not run" in text
    assert "\x1b" not in text


def test_an_invite_stands_alone_on_its_line() -> None:
    made = {"id": "i1", "token": "covey1" + "a" * 300, "role": "member", "uses": 1, "left": 1, "made_at": AT}
    made |= {"expires_at": AT, "revoked": False, "joined": []}
    lines = render_mesh_members.invite(made, PLAIN).splitlines()
    assert "once until" in lines[0]
    assert lines[2] == f"  covey mesh join covey1{'a' * 300}"


def test_an_invite_that_has_expired_is_not_shown_as_one_that_is_open() -> None:
    open_one = {"id": "i1", "role": "member", "uses": 2, "left": 1, "made_at": AT, "joined": [], "revoked": False}
    invites = [
        {**open_one, "expires_at": "2999-01-01T00:00:00.000Z"},
        {**open_one, "expires_at": "2000-01-01T00:00:00Z"},
    ]
    lines = render_mesh_members.invites({"items": invites}, PLAIN).splitlines()
    assert (lines[1][0], lines[2][0]) == ("●", "○")
    assert ("1 of 2" in lines[1], "expired" in lines[2]) == (True, True)


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_what_is_copied_or_compared_is_never_cut_and_problems_are_shown_whole(columns: int) -> None:
    paint = Paint(columns, colour=False)
    member = {"member": MEMBER, "name": "bob", "role": "member", "you": False, "joined_at": AT, "revoked_at": None}
    shown = render_mesh_members.members({"items": [{**member, "key": "x" * 13}], "epoch": 1}, paint)
    assert f"  {MEMBER}" in shown.splitlines()
    assert f"  {'a' * 64}" in render_mesh_peers.broker(BROKER, paint).splitlines()
    problem = "the broker refuses this member: it was removed from the mesh, or its credentials are old"
    cut_off = {**PEER, "connected": False, "lag_ms": None, "reason": "it was not reached " * 6, "problems": [problem]}
    told = " ".join(render_mesh_peers.status({"items": [{**PROCESS, "peer": cut_off}]}, paint).split())
    assert ("it was not reached " * 6).strip() in told
    assert problem in told
    assert "not connected" in render_mesh_peers.meshes({"items": [row(connected=False)], "broker": BROKER}, paint)


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("mesh.peers", {"items": [], "online": 0}),
        ("mesh.topic.list", {"items": []}),
        ("mesh.invites", {"items": []}),
        ("mesh.outbox", {"items": [], "pending": 0, "dead": 0, "oldest_at": None}),
        ("mesh.status", {"items": [PROCESS]}),
        ("mesh.list", {"items": [row(servers=["tls://a-long-name.example.org:4222"] * 3)], "broker": BROKER}),
        ("mesh.create", row()),
        ("mesh.expose", BROKER),
        ("mesh.send", answer("stored", *["off"] * 3)),
        ("mesh.search", {"items": [message(text="word " * 60)], "indexed": False}),
        ("mesh.revoke", {"member": MEMBER, "name": "bob", "invite": "", "epoch": 2}),
        ("mesh.leave", {"slug": "team", "told": False, "path": "/home/somebody/with/a/long/path" * 3}),
    ],
)
def test_nothing_is_wider_than_80_columns(name: str, result: dict[str, Any]) -> None:
    for line in render(BY_NAME[name], result).splitlines():
        assert width(line) <= 80, line


def test_removing_a_member_is_a_success_and_looks_like_one() -> None:
    removed = {"member": MEMBER, "name": "carl", "invite": "", "epoch": 2}
    assert render_mesh_members.revoked(removed, PLAIN).splitlines()[0] == "✓ carl is removed and disconnected"
    present = {"member": MEMBER, "name": "bob", "you": True, "role": "member", "joined_at": AT, "revoked_at": None}
    former = {**present, "name": "carl", "you": False, "revoked_at": AT}
    listed = {"items": [{**present, "key": "k"}, {**former, "key": ""}], "epoch": 2}
    assert "✗" not in render_mesh_members.members(listed, PLAIN)


def test_a_message_of_which_some_have_it_is_not_called_queued() -> None:
    told = answer("at_broker", "on", "off", status="in the inbox of 1 of 2 members, not yet of bob1 (offline)")
    told["recipients"][0]["rung"] = "in_inbox"
    assert render_mesh.sent(told, PLAIN).splitlines()[0] == f"● {told['status']}"
    queued = answer("stored", "off", "off", status="in our outbox, for 2 members")
    assert render_mesh.sent(queued, PLAIN).splitlines()[0] == "○ queued: bob and 1 more are offline"
