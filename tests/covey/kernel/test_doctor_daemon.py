"""What the doctor makes of a running daemon's status."""

from __future__ import annotations

from typing import Any

from covey.kernel.doctor.doctor import findings_of
from covey.kernel.doctor.finding import FAIL, OK, WARN
from covey.node.subsystems import SUBSYSTEMS

WELL: dict[str, Any] = {
    "problems": [],
    "config": {"generation": 1, "problems": [], "needs_restart": []},
    "fleet": {
        "targets": [{"target": "host", "health": "ok", "reason": ""}],
        "summary": {"by_state": {"idle": 2, "running": 1}},
    },
    "beats": {"total": 2, "by_state": {"scheduled": 2}, "reasons": [], "next": None},
    "attention": {"open": 0, "titles": [], "notify_problem": ""},
}


def test_a_daemon_that_is_well_has_nothing_to_mend() -> None:
    assert {finding.status for finding in findings_of(WELL, SUBSYSTEMS)} == {OK}
    bare = {"problems": [], "config": {"generation": 1, "problems": [], "needs_restart": []}}
    assert list(findings_of(bare, SUBSYSTEMS)) == []


def test_each_part_that_is_broken_is_a_finding_with_what_to_do() -> None:
    ill = {
        "problems": ["node.db was removed"],
        "config": {"generation": 1, "problems": ["line 3: no"], "needs_restart": ["http.port", "fleet.sockets"]},
        "fleet": {"targets": [{"target": "vm1", "health": "down", "reason": "no route"}], "summary": {"by_state": {}}},
        "beats": {
            "total": 9,
            "by_state": {"broken": 5, "parked": 3, "scheduled": 1},
            "reasons": ["crash: x", "crash: y"],
            "next": None,
        },
        "attention": {"open": 12, "titles": [], "notify_problem": "it failed"},
    }
    found = {(finding.name, finding.status): finding for finding in findings_of(ill, SUBSYSTEMS)}
    assert "http.port, fleet.sockets have been changed" in found["config", WARN].detail
    assert "line 3" in found["config", FAIL].detail
    assert found["vm1", WARN].fix == "covey target connect vm1"
    assert found["beats", FAIL].detail.startswith("5 cannot run")
    assert found["beats", WARN].detail == "3 stopped by itself (crash)"
    assert "12 matters need a person" in found["attention", WARN].detail
    assert found["notify", WARN].detail == "it failed"
    assert found["files", FAIL].detail == "node.db was removed"
