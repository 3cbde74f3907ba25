"""The service: a file that the real systemd accepts, written once, removed exactly."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from covey.kernel.home import Home
from covey.kernel.processes.service import MARK, Service, executable
from covey.kernel.processes.service_units import launchd_agent, systemd_unit
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable

ODD_NAMES = [
    "plain",
    "with space",
    "50%h",
    "dollar$HOME",
    'quo"te',
    "apo'strophe",
    "back\\slash",
    "semi;colon",
    "grün 🐦",
    "tab-less#hash",
    "$$",
]


class Place:
    """A user with a directory, a covey, and a PATH of their own."""

    def __init__(self, path: Path) -> None:
        self.user = path / "user"
        self.user.mkdir()
        self.bin = path / "bin"
        self.bin.mkdir()
        self.environ = {"HOME": str(self.user), "PATH": f"{self.bin}:/usr/bin:/bin"}
        self.covey = str(self.program("covey", "exit 0"))
        self.home = Home.locate(self.environ)

    def program(self, name: str, script: str) -> Path:
        path = self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def manager(self, script: str = "exit 0") -> Callable[[], list[str]]:
        """A systemctl and a loginctl that note what they are asked: no service manager runs where tests run."""
        notes = self.bin / "notes"
        self.program("systemctl", f'echo "systemctl $*" >>{notes}\n{script}')
        self.program("loginctl", "echo yes")
        return lambda: notes.read_text().splitlines()

    def service(self, platform: str = "linux", home: Home | None = None) -> Service:
        return Service(home or self.home, platform=platform, environ=self.environ)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def verified(path: Path) -> str:
    """What systemd's own checker has to say; nothing if all is well."""
    if shutil.which("systemd-analyze") is None:
        pytest.fail("systemd-analyze is missing: install the package `systemd` (apt-get install systemd)")
    with tempfile.TemporaryDirectory() as runtime:
        environ = {**os.environ, "XDG_RUNTIME_DIR": runtime, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["systemd-analyze", "verify", "--user", "--man=no", str(path)],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
    # systemd-analyze also checks the units that ours needs.
    complaints = [line for line in done.stderr.splitlines() if path.name in line]
    return "\n".join(complaints) or (done.stderr if done.returncode else "")


# --- the texts ---


@pytest.mark.parametrize("name", ODD_NAMES)
def test_systemd_accepts_the_unit_wherever_covey_and_its_home_are(place: Place, name: str) -> None:
    covey = place.program(f"{name}/covey", "exit 0")
    home = Home(str(place.user / name / "home"))
    service = place.service(home=home)
    service.install([str(covey)])
    assert verified(Path(service.path)) == ""


def test_the_checker_would_have_noticed_a_wrong_path(place: Place) -> None:
    unit = place.user / "covey.service"
    unit.write_text(systemd_unit([str(place.bin / "no 100% such" / "covey")], "", "x"))
    assert "no 100% such/covey is not executable" in verified(unit)


def shown(unit: str, field: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{field}=")]


def test_the_unit_says_what_the_design_asks_for() -> None:
    unit = systemd_unit(["/usr/bin/covey"], "", "x")
    wanted = {
        "Type": "notify", "ExecStart": "/usr/bin/covey up --foreground", "Restart": "on-failure", "RestartSec": "5s",
        "StandardOutput": "journal", "StandardError": "journal", "WatchdogSec": "30s", "KillMode": "process",
        "WantedBy": "default.target",
    }  # fmt: skip
    assert {field: shown(unit, field) for field in wanted} == {field: [value] for field, value in wanted.items()}
    assert shown(unit, "Environment") == []
    assert shown(unit, "MemoryMax") == [], "the agents that beats start are in the daemon's control group"


def test_the_unit_names_the_home_only_when_it_is_not_the_default(place: Place) -> None:
    assert shown(place.service().plan([place.covey]).text, "Environment") == []
    elsewhere = place.service(home=Home('/srv/my "50%" home'))
    assert shown(elsewhere.plan([place.covey]).text, "Environment") == ['"COVEY_HOME=/srv/my \\"50%%\\" home"']


def test_two_homes_have_two_services(place: Place) -> None:
    names = {place.service(home=home).name for home in (place.home, Home("/srv/a"), Home("/srv/b"))}
    assert len(names) == 3
    assert "covey" in names


def test_variables_in_arguments_stand_for_themselves() -> None:
    assert shown(systemd_unit(["/opt/$x/python", "-m", "a$b c"], "", "x"), "ExecStart") == [
        '/opt/$x/python -m "a$$b c" up --foreground'
    ]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_launchd_agent_is_a_property_list(name: str) -> None:
    agent = plistlib.loads(
        launchd_agent([f"/opt/{name}/covey"], f"/Users/ann/{name}", MARK, "dev.covey.covey", "/tmp/err").encode()
    )
    assert agent["ProgramArguments"] == [f"/opt/{name}/covey", "up", "--foreground"]
    assert agent["EnvironmentVariables"]["COVEY_HOME"] == f"/Users/ann/{name}"
    assert (agent["KeepAlive"], agent["RunAtLoad"], agent["AbandonProcessGroup"]) == (
        {"SuccessfulExit": False},
        True,
        True,
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda word: systemd_unit([word], "", "x"),
        lambda word: launchd_agent([word], "", "x", "l", "e"),
    ],
)
def test_a_path_that_no_service_file_can_hold_is_refused(make: Callable[[str], str]) -> None:
    for evil in ("/a\nExecStartPre=/bin/evil", "/a\x1b", "/a\0"):
        with pytest.raises(AgentError, match="control character"):
            make(evil)


# --- installing ---


def test_a_plan_writes_nothing(place: Place) -> None:
    plan = place.service().plan([place.covey])
    assert plan.path == str(place.user / ".config" / "systemd" / "user" / "covey.service")
    assert (plan.change, MARK in plan.text) == ("created", True)
    assert plan.commands == [
        ["systemctl", "--user", "daemon-reload"],
        ["systemctl", "--user", "enable", "--now", "covey.service"],
    ]
    assert list(place.user.iterdir()) == []


def test_the_configuration_directory_of_the_user_is_honoured(place: Place) -> None:
    place.environ["XDG_CONFIG_HOME"] = str(place.user / "conf")
    assert place.service().path == str(place.user / "conf" / "systemd" / "user" / "covey.service")
    place.environ["XDG_CONFIG_HOME"] = "relative"
    assert place.service().path == str(place.user / ".config" / "systemd" / "user" / "covey.service")


def test_installing_writes_what_was_planned_and_starts_it_once(place: Place) -> None:
    asked = place.manager()
    service = place.service()
    plan = service.plan([place.covey])
    outcome = service.install([place.covey])
    assert Path(service.path).read_text() == plan.text
    assert (outcome.change, outcome.changed, outcome.todo, outcome.notes) == ("created", True, [], [])
    assert asked() == [
        "systemctl --user show-environment",
        "systemctl --user daemon-reload",
        "systemctl --user enable --now covey.service",
    ]
    before = Path(service.path).stat()
    again = service.install([place.covey])
    assert (again.change, again.changed) == ("unchanged", False)
    assert Path(service.path).stat().st_mtime_ns == before.st_mtime_ns
    assert again.ran == ["systemctl --user enable --now covey.service"]


def test_installing_again_from_elsewhere_replaces_the_file_and_restarts(place: Place) -> None:
    place.manager()
    service = place.service()
    service.install([place.covey])
    moved = str(place.program("new/covey", "exit 0"))
    outcome = service.install([moved])
    assert outcome.change == "replaced"
    assert outcome.ran[-1] == "systemctl --user try-restart covey.service"
    assert moved in Path(service.path).read_text()


@pytest.mark.parametrize("script", ["echo 'Failed to connect to bus' >&2; exit 1", "kill -9 $$"])
def test_where_the_manager_cannot_be_reached_the_commands_are_left_to_be_run(place: Place, script: str) -> None:
    place.manager(script)
    outcome = place.service().install([place.covey])
    assert outcome.change == "created"
    assert outcome.todo == ["systemctl --user daemon-reload", "systemctl --user enable --now covey.service"]


def test_a_command_of_the_manager_that_fails_is_left_to_be_run(place: Place) -> None:
    place.manager('case "$*" in *enable*) exit 1; esac')
    outcome = place.service().install([place.covey])
    assert (outcome.ran, outcome.todo) == (
        ["systemctl --user daemon-reload"],
        ["systemctl --user enable --now covey.service"],
    )


def test_without_a_manager_the_file_is_written_all_the_same(place: Place) -> None:
    place.environ["PATH"] = str(place.bin)
    outcome = place.service().install([place.covey])
    assert outcome.todo[-1] == "systemctl --user enable --now covey.service"
    assert outcome.notes == ["It stops when you log out. To keep it running: loginctl enable-linger"]


def test_a_file_of_somebody_else_is_neither_replaced_nor_removed(place: Place) -> None:
    service = place.service()
    path = Path(service.path)
    path.parent.mkdir(parents=True)
    path.write_text("[Unit]\nDescription=mine\n")
    with pytest.raises(AgentError, match="was not written by covey"):
        service.uninstall()
    with pytest.raises(AgentError, match="was not written by covey") as caught:
        service.install([place.covey])
    assert caught.value.error == "conflict"
    assert path.read_text() == "[Unit]\nDescription=mine\n"
    subprocess.run(["sh", "-c", caught.value.suggestion.rpartition(": ")[2]], check=True)
    assert service.install([place.covey]).change == "created"


def test_a_file_that_was_changed_by_hand_is_neither_replaced_nor_removed_unless_forced(place: Place) -> None:
    place.manager()
    service = place.service()
    service.install([place.covey])
    path = Path(service.path)
    path.write_text(path.read_text().replace("RestartSec=5s", "RestartSec=9s"))
    with pytest.raises(AgentError, match="changed by hand"):
        service.uninstall()
    with pytest.raises(AgentError, match="changed by hand") as caught:
        service.install([place.covey])
    assert "systemctl --user edit covey" in caught.value.suggestion
    assert "RestartSec=9s" in path.read_text()
    assert service.install([place.covey], force=True).change == "replaced"
    assert service.uninstall().change == "removed"


def test_uninstalling_removes_what_installing_and_enabling_made_and_nothing_else(place: Place) -> None:
    asked = place.manager()
    service = place.service()
    service.install([place.covey])
    directory = Path(service.path).parent
    (directory / "other.service").write_text("mine")
    (directory / "default.target.wants").mkdir()
    (directory / "default.target.wants" / "covey.service").symlink_to(service.path)
    (directory / "default.target.wants" / "other.service").symlink_to(directory / "other.service")
    outcome = service.uninstall()
    assert (outcome.change, outcome.todo) == ("removed", [])
    assert asked()[-3:] == [
        "systemctl --user stop covey.service",
        "systemctl --user show-environment",
        "systemctl --user daemon-reload",
    ]
    assert sorted(str(path.relative_to(directory)) for path in directory.rglob("*")) == [
        "default.target.wants",
        "default.target.wants/other.service",
        "other.service",
    ]
    assert service.uninstall() == (service.path, "absent", [], [], [])


def test_uninstalling_without_a_manager_says_what_is_left_to_do(place: Place) -> None:
    place.manager("exit 1")
    service = place.service()
    service.install([place.covey])
    assert service.uninstall().todo == ["systemctl --user stop covey.service", "systemctl --user daemon-reload"]
    assert not Path(service.path).exists()


def test_a_place_that_cannot_be_written_is_explained(place: Place) -> None:
    (place.user / ".config").write_text("in the way")
    with pytest.raises(AgentError, match=r"covey\.service could not be read: Not a directory") as caught:
        place.service().install([place.covey])
    assert "ls -ld" in caught.value.suggestion


def test_macos_gets_a_launchd_agent_and_uninstalling_recognises_it(place: Place) -> None:
    place.program("launchctl", f'echo "$*" >>{place.bin}/notes; exit 0')
    service = place.service("darwin")
    outcome = service.install([place.covey])
    assert outcome.change == "created"
    assert Path(service.path).suffix == ".plist"
    assert service.install([place.covey]).change == "unchanged"
    assert outcome.ran == [f"launchctl bootstrap gui/{os.getuid()} {service.path}"]
    assert service.uninstall().change == "removed"
    assert not Path(service.path).exists()


# --- asking ---


@pytest.mark.parametrize(
    ("script", "active"),
    [
        ("echo active", "active"),
        ("echo inactive; exit 3", "inactive"),
        ("echo failed; exit 3", "failed"),
        ("echo 'no bus' >&2; exit 1", "unknown"),
    ],
)
def test_the_status_is_the_word_of_the_manager(place: Place, script: str, active: str) -> None:
    place.manager(f'case "$*" in *is-active*) {script};; esac')
    service = place.service()
    assert service.status() == (False, service.path, active, [])
    service.install([place.covey])
    status = service.status()
    assert (status.installed, status.active) == (True, active)
    assert [note for note in status.notes if "no bus" in note] == status.notes


def test_the_executable_is_the_one_beside_this_python_or_else_the_one_on_the_path(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(place.bin / "python"))
    assert executable() == [place.covey]
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    monkeypatch.setenv("PATH", str(place.bin))
    assert executable() == [place.covey]
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(AgentError, match="not installed"):
        executable()
