"""The installed `covey` command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import covey as package

if TYPE_CHECKING:
    from tests.covey.conftest import Covey

COMMAND = str(Path(sys.executable).parent / "covey")


def test_the_command_tells_its_version() -> None:
    ended = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout)["result"] == f"covey {package.__version__}"


def test_the_bare_command_names_its_commands() -> None:
    ended = subprocess.run([COMMAND], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert {"up", "status", "config", "describe"} <= set(json.loads(ended.stderr)["valid_values"])


def test_murlis_self_check_is_a_section_of_the_doctor_and_no_second_command(covey: Covey) -> None:
    plain = json.loads(covey.run("doctor").stdout)["result"]["findings"]
    assert not any(finding["section"] == "murli" for finding in plain)
    ran = covey.run("doctor", MURLI_DEV="1")
    findings = [finding for finding in json.loads(ran.stdout)["result"]["findings"] if finding["section"] == "murli"]
    assert {finding["name"] for finding in findings} >= {"schema_version", "command_metadata"}
    assert covey.run("describe", MURLI_DEV="1").stdout.count('"name": "doctor"') == 1


def test_a_script_or_an_exposition_can_be_redirected_into_a_file(daemon: Covey) -> None:
    assert daemon.run("completion", "bash").stdout.startswith("# bash completion")
    assert daemon.run("metrics").stdout.startswith("# HELP")
    assert daemon.run("metrics", "--json").result.startswith("# HELP")
    assert daemon.run("completion", "cmd.exe").error["code"] == 1


def test_a_file_is_meant_from_the_callers_folder(daemon: Covey) -> None:
    assert daemon.run("backup", "copy.db").result["path"] == str(daemon.folder / "copy.db")
    assert (daemon.folder / "copy.db").exists()
