"""The service definitions, checked by the systems they are for where those are here."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from covey.kernel import service
from covey.kernel.home import Home
from murli import AgentError
from tests.covey.conftest import COMMAND, Covey


def unit(tmp_path: Path, home: str = "", executable: str = COMMAND, platform: str = "linux") -> service.Definition:
    user = str(tmp_path / "user")
    return service.definition(Home(home or f"{user}/.covey"), executable, platform, {"HOME": user})


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    if sys.platform != "linux":
        return
    assert shutil.which("systemd-analyze"), "the package systemd has it; ./run test installs it"
    odd = tmp_path / "odd % name"
    odd.mkdir()
    executable = odd / "covey"
    executable.symlink_to(COMMAND)
    for wanted in (unit(tmp_path), unit(tmp_path, home=str(odd / '$x "quoted" \\'), executable=str(executable))):
        assert service.install(wanted)
        ended = subprocess.run(
            ["systemd-analyze", "verify", "--user", wanted.path],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")


def test_the_unit_keeps_its_promises(tmp_path: Path) -> None:
    text = unit(tmp_path).text
    for line in (
        "Type=notify",
        "Restart=on-failure",
        "RestartSec=5s",
        "MemoryMax=512M",
        "StandardOutput=journal",
        "StandardError=journal",
        "WatchdogSec=60s",
    ):
        assert line in text.splitlines()
    assert "COVEY_HOME" not in text
    assert 'Environment="COVEY_HOME=/else/where"' in unit(tmp_path, home="/else/where").text


def test_installing_twice_changes_nothing_and_uninstalling_removes_only_ours(tmp_path: Path) -> None:
    wanted = unit(tmp_path)
    assert service.install(wanted)
    assert not service.install(wanted)
    assert service.installed(wanted)
    assert service.uninstall(wanted)
    assert not service.uninstall(wanted)
    Path(wanted.path).write_text("[Unit]\nDescription=mine\n")
    for touch in (service.install, service.uninstall):
        with pytest.raises(AgentError) as caught:
            touch(wanted)
        assert caught.value.error == "conflict"
    assert Path(wanted.path).read_text() == "[Unit]\nDescription=mine\n"


def test_the_property_list_says_what_the_unit_says(tmp_path: Path) -> None:
    wanted = unit(tmp_path, home="/a & b/<covey>", executable="/opt/covey", platform="darwin")
    document = plistlib.loads(wanted.text.encode())
    assert document["ProgramArguments"] == ["/opt/covey", "up", "--foreground"]
    assert document["EnvironmentVariables"] == {"COVEY_HOME": "/a & b/<covey>"}
    assert service.MARK in wanted.text


def test_the_windows_definition_is_xml(tmp_path: Path) -> None:
    wanted = unit(tmp_path, home='C:\\a "b" & c', executable="C:\\covey.exe", platform="win32")
    assert ET.fromstring(wanted.text).findtext("executable") == "C:\\covey.exe"


def test_the_verbs_plan_install_tell_and_remove(covey: Covey) -> None:
    plan = covey.run("service", "install", "--dry-run").result
    assert not Path(plan["path"]).exists()
    assert covey.run("service", "install").error["error"] == "confirmation_required"
    assert covey.run("service", "install", "--yes").result["changed"] is True
    assert Path(plan["path"]).read_text() == plan["text"]
    assert covey.run("service", "status").result["installed"] is True
    assert covey.run("service", "uninstall", "--yes").result["changed"] is True
    assert covey.run("service", "status").result["installed"] is False
