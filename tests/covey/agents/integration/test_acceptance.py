"""Hooks are written only for versions that are known to accept them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from covey.agents import integration as integrate
from covey.agents.integration import NotAccepted
from covey.agents.registry import INTEGRATIONS
from covey.agents.versions import version
from covey.kernel.processes.program_version import Program

SETTINGS = ".claude/settings.json"
OLD = {"PermissionDenied", "StopFailure", "PostCompact", "Elicitation", "ElicitationResult"}
"""Events that came after Claude Code 2.1.48."""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def install(home: Path, *versions: str, agent: str = "claude") -> set[str]:
    integrate.apply(integrate.plan(agent, home, {}, versions=versions))
    return set(json.loads((home / SETTINGS).read_text())["hooks"])


@pytest.mark.parametrize(
    ("number", "unknown"),
    [
        ("2.1.48", OLD),
        ("2.1.62", OLD),
        ("2.1.63", OLD - {"Elicitation", "ElicitationResult"}),
        ("2.1.77", {"PermissionDenied", "StopFailure"}),
        ("2.1.78", {"PermissionDenied"}),
        ("2.1.88", set()),
        ("2.1.325", set()),
    ],
)
def test_only_events_that_the_version_knows_are_written(number: str, unknown: set[str], tmp_path: Path) -> None:
    events = set(INTEGRATIONS["claude"].events)
    assert install(tmp_path, number) == events - unknown
    assert integrate.status("claude", tmp_path, {}).state == "installed", "each version has its own complete set"
    integrate.apply(integrate.plan("claude", tmp_path, {}, remove=True))
    assert not (tmp_path / SETTINGS).exists()


def test_of_several_installed_versions_the_oldest_decides(tmp_path: Path) -> None:
    assert not install(tmp_path, "2.1.325", "2.1.48") & OLD


def test_integrating_again_follows_an_upgrade_and_a_downgrade(tmp_path: Path) -> None:
    file = tmp_path / SETTINGS
    file.parent.mkdir()
    mine = json.dumps(
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}, "model": "opus"}, indent=2
    )
    file.write_text(mine)
    assert not install(tmp_path, "2.1.48") & OLD
    assert install(tmp_path, "2.1.325") >= OLD
    assert not install(tmp_path, "2.1.48") & OLD
    integrate.apply(integrate.plan("claude", tmp_path, {}, remove=True))
    assert file.read_text() == mine


def test_what_a_downgraded_program_does_not_know_is_found(tmp_path: Path) -> None:
    install(tmp_path, "2.1.325")
    found = [Program("/new/claude", "2.1.325"), Program("/old/claude", "2.1.77")]
    assert integrate.unknown_events("claude", tmp_path, {}, found) == {
        "/old/claude 2.1.77": ["PermissionDenied", "StopFailure"]
    }
    install(tmp_path, "2.1.77")
    assert integrate.unknown_events("claude", tmp_path, {}, found) == {}
    assert integrate.unknown_events("claude", tmp_path / "nobody", {}, found) == {}


@pytest.mark.parametrize(
    ("agent", "found", "says"),
    [
        ("claude", [], "no claude was found on PATH"),
        (
            "claude",
            [Program("/x/claude", "", "did not answer within 5 s")],
            "the version of /x/claude is not known: it did not answer",
        ),
        ("claude", [Program("/x/claude", "2.1.325"), Program("/y/claude", "2.0.76")], "older than 2.1.48"),
        ("claude", [Program("/nowhere/claude", "9.0.0")], "newer than 2.1.325 and does not know SessionStart"),
        ("codex", [Program("/x/codex", "0.101.0")], "older than 0.148.0"),
        ("cursor", [Program("/x/cursor-agent", "2026.10.01")], "never tried with Cursor CLI"),
    ],
)
def test_a_version_of_which_it_is_not_known_is_refused_with_the_reason(
    agent: str, found: list[Program], says: str
) -> None:
    with pytest.raises(NotAccepted) as caught:
        integrate.acceptance(agent, found)
    assert says in caught.value.message
    assert f"covey integrate {agent} --any-version" in caught.value.suggestion
    assert all(number in caught.value.message for number in INTEGRATIONS[agent].tried)
    assert integrate.acceptance(agent, found, any_version=True).versions == [
        one.version for one in found if one.version
    ]


def test_a_newer_version_is_accepted_if_its_own_files_name_every_event(tmp_path: Path) -> None:
    names = " ".join(f'"{event}"' for event in INTEGRATIONS["claude"].events)
    path = program(tmp_path / "claude", f"# {names}\necho 9.0.0")
    accepted = integrate.acceptance("claude", [Program(str(path), "9.0.0")])
    assert accepted.versions == ["9.0.0"]
    assert "newer than 2.1.325, the newest version with which the hooks were tried" in accepted.notes[-1]
    path.write_text(path.read_text().replace('"PostCompact"', ""))
    with pytest.raises(NotAccepted, match="does not know PostCompact"):
        integrate.acceptance("claude", [Program(str(path), "9.0.0")])
    install(tmp_path, "2.1.325")
    assert integrate.unknown_events("claude", tmp_path, {}, [Program(str(path), "9.0.0")]) == {
        f"{path} 9.0.0": ["PostCompact"]
    }


def test_a_newer_version_of_an_agent_that_ignores_what_it_does_not_know_is_accepted() -> None:
    accepted = integrate.acceptance("gemini", [Program("/x/gemini", "9.0.0")])
    assert "newer than" in accepted.notes[-1]


@pytest.mark.parametrize("agent", INTEGRATIONS)
def test_the_tables_are_well_formed(agent: str) -> None:
    integration = INTEGRATIONS[agent]
    assert list(integration.tried) == sorted(integration.tried, key=version)
    assert set(integration.since) <= set(integration.events)
    assert all(version(first) for first in integration.since.values())


def test_programs_are_looked_for_on_path(tmp_path: Path) -> None:
    program(tmp_path / "bin/claude", "echo '2.1.70 (Claude Code)'")
    found = integrate.programs("claude", {"PATH": f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"})
    assert found == [Program(str(tmp_path / "bin/claude"), "2.1.70")]
