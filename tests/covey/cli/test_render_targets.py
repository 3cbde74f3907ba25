"""Targets for a person."""

from __future__ import annotations

from covey.cli import render_targets
from covey.cli.render_daemon import fleet as status_lines
from tests.covey.cli.answers import NARROW, answer
from tests.covey.fleet.fleets import sketch


def test_targets_are_listed_with_their_health() -> None:
    items = [
        {
            "target": "host",
            "kind": "local",
            "ssh_target": "",
            "health": "ok",
            "reason": "",
            "node": "",
            "last_seen_at": None,
        },
        {
            "target": "vm3",
            "kind": "ssh",
            "ssh_target": "vm3.lan",
            "health": "down",
            "reason": "ssh timed out",
            "node": "none",
            "last_seen_at": None,
        },
    ]
    assert render_targets.targets({"items": items}, NARROW).split("\n") == [
        "  HEALTH  TARGET  KIND   SSH      NODE  REASON",
        "● ok      host    local",
        "✗ down    vm3     ssh    vm3.lan  none  ssh timed out",
    ]
    assert render_targets.target(items[1], NARROW) == "✗ vm3 is down: ssh timed out"
    assert "covey target add" in render_targets.targets({"items": []}, NARROW)


def test_a_target_that_was_just_added_is_not_called_degraded() -> None:
    added = {"target": "vm1", "health": "degraded", "reason": "not looked at yet", "last_seen_at": None}
    assert (
        render_targets.added(added, NARROW)
        == "Added vm1; Covey connects to it now\n  covey target list  shows its health"
    )
    assert render_targets.added({**added, "health": "ok", "reason": ""}, NARROW) == "● vm1 is ok"


def test_status_has_two_lines_about_the_fleet() -> None:
    result = answer(sketch())
    fleet = {"targets": result["targets"], "summary": result["summary"], "approvals": 0, "presence": {"away": False}}
    assert status_lines(fleet, NARROW) == [
        "targets    host ok · vm1 ok · vm3 down (ssh timed out)",
        "agents     1 waiting_approval · 1 waiting_input · 2 running · 1 idle · 1 unknown",
    ]
