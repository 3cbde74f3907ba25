"""Running agents are read with the patterns of their version, and a version that was never measured is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from covey.fleet.state.judge import Rules, judge
from covey.fleet.state.model import SEEN, SURE, Claim
from tests.covey.conftest import Covey
from tests.covey.fleet.living import AGENT, Fleet, living
from tests.covey.fleet.room import until

SCREEN = {"old": "\\033[2J\\033[HMay I run it (yes/no)", "new": "\\033[2J\\033[HRun it now, please (yes/no)"}
MINE = """
name = "gemini"
[[screens]]
name = "asks-old"
when = "<0.30"
state = "waiting_approval"
match = 'May I run it'
[[screens]]
name = "asks-new"
when = ">=0.30"
state = "waiting_approval"
match = 'Run it now'
"""


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        (covey.home / "adapters" / "gemini.toml").write_text(MINE)
        yield made


def installed(fleet: Fleet, version: str) -> str:
    """Install a program that passes for Gemini CLI of a version; returns its path."""
    folder = fleet.covey.folder / version / "node_modules" / "@google" / "gemini-cli"
    (folder / "bin").mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": "@google/gemini-cli", "version": version}))
    (folder / "bin" / "gemini").write_text(AGENT)
    (folder / "bin" / "gemini").chmod(0o755)
    return str((folder / "bin" / "gemini").relative_to(fleet.covey.folder))


def test_each_agent_is_read_with_the_patterns_of_its_version(fleet: Fleet) -> None:
    panes = {version: fleet.agent(installed(fleet, version)) for version in ("0.28.2", "0.61.0")}
    fleet.up()
    until(
        lambda: (
            {row["identity"]["pane_id"]: row["version"] for row in fleet.rows()}
            == {pane: version for version, pane in panes.items()}
        )
    )
    fleet.show(panes["0.28.2"], SCREEN["old"])
    fleet.show(panes["0.61.0"], SCREEN["new"])
    fleet.row(panes["0.28.2"], "waiting_approval")
    fleet.row(panes["0.61.0"], "waiting_approval")
    fleet.show(panes["0.28.2"], SCREEN["new"])
    fleet.show(panes["0.61.0"], SCREEN["old"])
    fleet.row(panes["0.28.2"], "unknown")
    fleet.row(panes["0.61.0"], "unknown")


@pytest.mark.once
def test_a_version_that_was_never_measured_is_said_and_believed_less(fleet: Fleet) -> None:
    pane = fleet.agent(installed(fleet, "9.0.0"))
    fleet.up()
    fleet.show(pane, SCREEN["new"])
    row = until(lambda: found if (found := fleet.row(pane, "waiting_approval"))["confidence"] == "low" else None)
    assert row["version"] == "9.0.0"
    assert "is newer than" in row["version_note"]
    why = fleet.covey.run("why", pane).result
    assert "Gemini CLI 9.0.0 is newer than" in why["caveat"]
    listed = next(item for item in fleet.covey.run("adapters", "list").result["items"] if item["agent"] == "gemini")
    assert [(one["version"], one["count"]) for one in listed["running"]] == [("9.0.0", 1)]
    assert listed["running"][0]["note"]
    assert "0.61.0" in listed["tested"]


@pytest.mark.once
def test_a_running_agent_is_explained_as_a_report(fleet: Fleet) -> None:
    pane = fleet.agent(installed(fleet, "9.0.0"))
    fleet.up()
    fleet.show(pane, "\\033[2J\\033[HA \\033[31mstrange\\033[0m token 12345")
    fleet.row(pane, "unknown")
    until(lambda: fleet.row(pane)["version"])
    found = fleet.covey.run("adapters", "explain", "--pane", pane).result
    assert (found["agent"], found["state"], found["rule"]) == ("gemini", "unknown", "")
    report = found["report"]
    for part in (
        "covey ",
        "Gemini CLI 9.0.0",
        "is newer than",
        "80x24",
        "none holds",
        "asks-new",
        "|A strange token 12345",
        "secrets",
    ):
        assert part in report
    hidden = fleet.covey.run("adapters", "explain", "--pane", pane, "--redact").result["report"]
    assert "|x xxxxxxx xxxxx 99999" in hidden
    assert "strange" not in hidden
    assert fleet.covey.run("adapters", "explain", "--pane", "%999").code == 5
    assert fleet.covey.run("adapters", "explain").code == 1


@pytest.mark.once
def test_a_version_whose_screens_cannot_be_read_is_asked_about_once_and_listed(fleet: Fleet) -> None:
    pane = fleet.agent(installed(fleet, "0.61.0"))
    fleet.up()
    for number in range(3):
        fleet.show(pane, SCREEN["new"])
        fleet.row(pane, "waiting_approval")
        fleet.show(pane, f"\\033[2J\\033[HA strange screen {number}")
        assert fleet.row(pane, "unknown")["reason"] == "unsupported_signal"

    def alarm() -> dict[str, Any] | None:
        items = fleet.covey.run("needs").result["items"]
        return next((item for item in items if item["key"] == "drift:gemini:0.61.0"), None)

    assert f"covey adapters explain --pane {pane}" in until(alarm)["detail"]
    listed = next(item for item in fleet.covey.run("adapters", "list").result["items"] if item["agent"] == "gemini")
    assert listed["drift"] == [{"version": "0.61.0", "counts": {"screen": 3}, "alarming": True}]
    assert (
        'covey_drift_total{agent="gemini",kind="screen",version="0.61.0"} 3'
        in fleet.covey.request("GET", "/v1/metrics")[2].decode()
    )
    findings = json.loads(fleet.covey.run("doctor").stdout)["result"]["findings"]
    assert next(one for one in findings if one["name"] == "gemini 0.61.0")["status"] == "warn"


@pytest.mark.parametrize(
    ("strength", "caveat", "confidence"),
    [(SURE, "", "high"), (SURE, "never measured", "medium"), (SEEN, "", "medium"), (SEEN, "never measured", "low")],
)
def test_a_caveat_lowers_the_confidence_by_one_step(strength: int, caveat: str, confidence: str) -> None:
    claim = Claim(source="screen", state="idle", at=0.0, level=True, strength=strength, caveat=caveat)
    assert judge([claim], 10.0, Rules()).confidence == confidence
