"""`covey integrate` and `covey doctor` about hooks and descriptions of agents."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.covey.cli.fleet_covey import FleetCovey
from tests.covey.conftest import Covey

TINY = """name = "tiny"
process = { names = ["tiny"] }
screens = [{ name = "asks", state = "waiting_input", match = '^Well\\?', detail = '^(?P<detail>.*)\\nWell' }]
titles = [{ name = "works", state = "running", match = '^tiny works$' }]
"""


def test_a_saved_screen_is_read_where_the_caller_stands_and_with_what_is_written_there_now(covey: Covey) -> None:
    (covey.home / "adapters").mkdir(parents=True, mode=0o700)
    covey.home.chmod(0o700)
    (covey.home / "adapters" / "tiny.toml").write_text(TINY)
    (covey.home / "adapters" / "broken.toml").write_text("name = ")
    (covey.folder / "screen.txt").write_bytes("from a file \x1b[1m\xe9\nWell?".encode())
    read = covey.run("adapters", "explain", "tiny", "--screen", "screen.txt")
    assert (read.result["state"], read.result["rule"]) == ("waiting_input", "asks")
    assert [tried["source"] for tried in read.result["tried"]] == ["screen"]
    assert "broken.toml" in read.stderr
    titled = covey.run(
        "adapters", "explain", "tiny", "--screen", "-", "--title", "tiny sleeps", stdin="from a pipe\nWell?"
    ).result
    assert titled["detail"] == "from a pipe"
    assert [tried["rule"] for tried in titled["tried"] if tried["source"] == "title"] == ["works"]


def test_the_doctor_finds_a_description_that_cannot_be_used(covey: Covey) -> None:
    (covey.home / "adapters").mkdir(parents=True, mode=0o700)
    covey.home.chmod(0o700)
    (covey.home / "adapters" / "tiny.toml").write_text(TINY)
    found = covey.run("doctor").result["findings"]
    assert [finding["detail"] for finding in found if finding["name"] == "adapters"] == ["1 of your own"]
    (covey.home / "adapters" / "broken.toml").write_text('name = "x\n')
    looked = covey.run("doctor")
    result = json.loads(looked.stdout)["result"]
    told = next(finding for finding in result["findings"] if finding["name"] == "adapters")
    assert (looked.code, told["status"], result["ok"]) == (3, "fail", False)
    assert "broken.toml, line 1" in told["detail"]
    assert "broken.toml" in told["fix"]


def claude_on_path(folder: Path, version: str) -> str:
    """A PATH on which Claude Code is of this version."""
    program = folder / f"claude-{version}" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.defpath}"


def test_a_dry_run_of_an_integration_is_a_plan(seen: FleetCovey) -> None:
    path = claude_on_path(seen.folder, "2.1.325")
    planned = json.loads(seen.run("integrate", "claude", "--dry-run", PATH=path).stdout)
    assert (planned["status"], planned["result"]["state"]) == ("plan", "absent")
    assert all(file["about"] and not file["diff"] for file in planned["result"]["files"])
    assert [one["version"] for one in planned["result"]["programs"]] == ["2.1.325"]
    assert all(
        file["diff"] for file in seen.run("integrate", "claude", "--dry-run", "--verbose", PATH=path).result["files"]
    )
    done = json.loads(seen.run("integrate", "claude", PATH=path).stdout)
    assert (done["status"], done["result"]["state"]) == ("ok", "installed")
    undone = json.loads(seen.run("integrate", "claude", "--remove").stdout)
    assert (undone["status"], undone["result"]["state"]) == ("ok", "absent")


def test_an_integration_that_the_installed_version_may_refuse_is_not_made_and_one_that_it_does_refuse_is_found(
    seen: FleetCovey,
) -> None:
    old = claude_on_path(seen.folder, "2.0.76")
    refused = seen.run("integrate", "claude", PATH=old)
    assert (refused.code, json.loads(refused.stderr or refused.stdout)["error"]) == (1, "not_accepted")
    assert not (seen.folder / ".claude" / "settings.json").exists()
    planned = seen.run("integrate", "claude", "--dry-run", PATH=old).result
    assert "would be refused without --any-version" in planned["notes"][0]
    assert (
        seen.run("integrate", "claude", "--any-version", PATH=claude_on_path(seen.folder, "2.1.325")).result["state"]
        == "installed"
    )
    looked = json.loads(seen.run("doctor", PATH=claude_on_path(seen.folder, "2.1.77")).stdout)["result"]
    told = next(finding for finding in looked["findings"] if finding["name"] == "claude hooks")
    assert (told["status"], told["fix"]) == ("fail", "covey integrate claude")
    assert "2.1.77 does not know PermissionDenied, StopFailure" in told["detail"]
    assert seen.run("integrate", "claude", PATH=claude_on_path(seen.folder, "2.1.77")).result["changed"]
    healed = json.loads(seen.run("doctor", PATH=claude_on_path(seen.folder, "2.1.77")).stdout)["result"]
    assert next(finding for finding in healed["findings"] if finding["name"] == "claude hooks")["status"] == "ok"
    assert seen.run("integrate", "claude", "--remove").result["state"] == "absent"
