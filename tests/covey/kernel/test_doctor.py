"""The doctor: finds what is wrong, names the command that mends it, never hangs and changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.config.settings import KERNEL, Setting, Settings
from covey.kernel.doctor.doctor import examine
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding
from covey.kernel.doctor.seat import SeatDoctor
from covey.kernel.home import Home
from covey.kernel.seat import LONGEST_SOCKET_PATH
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS
from tests.covey.kernel.patient import IMPATIENT, PATIENT, Patient, database

if TYPE_CHECKING:
    from collections.abc import Iterator

# --- all is well ---


def test_a_healthy_installation_has_nothing_to_mend(patient: Patient) -> None:
    patient.program("claude", 'echo "2.1.325 (Claude Code)"')
    patient.home.node.prepare()
    database(patient.home.node.database)
    found = examine(patient.home.node, SETTINGS, SUBSYSTEMS, environ=patient.environ)
    assert [one for one in found if one.status != OK or one.fix] == []
    assert [one.name for one in found] == [
        "python", "clock", "disk", "tmux", "ssh", "directory", "files", "config", "socket", "database",
        "claude", "codex", "copilot", "cursor-agent", "gemini", "opencode",
        "nats-server", "meshes",
    ]  # fmt: skip
    assert {one.section for one in found} == {"system", "tools", "home", "agents", "mesh"}
    json.dumps([one._asdict() for one in found])


def test_a_fresh_machine_is_fine_and_nothing_is_made(patient: Patient) -> None:
    patient.program("claude", "echo 1.0")
    found = patient.findings()
    assert {one.status for one in found.values()} == {OK}
    assert "covey up makes it" in found["directory"].detail
    assert not Path(patient.home.path).exists()


def test_a_home_that_cannot_be_made_is_reported() -> None:
    closed = Path(tempfile.mkdtemp(prefix="cv-"))
    closed.chmod(0o555)
    script = f"""
import os
from covey.kernel.clock import SystemClock; from covey.kernel.doctor.seat import SeatDoctor
from covey.kernel.home import Home; from covey.node.settings import SETTINGS
if not os.geteuid(): os.setgid(12345); os.setuid(12345)  # rights do not bind root
print(*SeatDoctor(Home({str(closed / "home")!r}).node, SETTINGS, SystemClock(), 1.0).directory(), sep="|")
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == (
        f"home|directory|{FAIL}|{closed}/home cannot be made: {closed} is not writable|"
        "export COVEY_HOME=/a/directory/of/yours\n"
    )
    closed.rmdir()


# --- the home ---


def test_an_open_home_is_reported_and_its_command_closes_it(patient: Patient) -> None:
    patient.home.node.prepare()
    Path(patient.home.path).chmod(0o777)
    assert patient.finding("directory").status == FAIL
    patient.mend("directory")
    assert patient.finding("directory").status == OK


def test_files_that_others_can_read_are_reported_and_their_command_closes_them(patient: Patient) -> None:
    patient.home.node.prepare()
    for path in (patient.home.node.token_file, patient.home.node.log_file, patient.home.node.port_file):
        Path(path).write_text("x")
        Path(path).chmod(0o666)
    finding = patient.finding("files")
    assert (finding.status, finding.detail) == (FAIL, "open to other users: http.port, http.token, daemon.log")
    patient.mend("files")
    assert patient.finding("files").status == OK
    assert stat.S_IMODE(Path(patient.home.node.port_file).stat().st_mode) == 0o644


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_pipe_in_the_place_of_the_log_or_the_spool_is_reported(patient: Patient) -> None:
    patient.home.node.prepare()
    os.mkfifo(patient.home.node.log_file, 0o600)
    os.mkfifo(Path(patient.home.node.directory) / "spool", 0o600)
    spool = Path(patient.home.node.directory) / "spool"
    found = patient.findings()
    assert (found["files"].status, found["files"].detail) == (FAIL, "not a regular file: daemon.log")
    assert (found["spool"].status, found["spool"].detail) == (FAIL, f"{spool} is not a directory")
    assert {found[name].fix.endswith("&& covey down && covey up") for name in ("files", "spool")} == {True}


def test_files_of_another_user_are_reported_and_their_command_takes_them_back(patient: Patient) -> None:
    patient.home.node.prepare()
    Path(patient.home.node.token_file).write_text("x")
    os.chown(patient.home.node.token_file, 12345, 12345)
    finding = patient.finding("files")
    assert finding.detail == "of another user: http.token"
    subprocess.run(["sh", "-c", finding.fix.removeprefix("sudo ")], check=True)
    assert patient.finding("files").status == FAIL  # ours again, and now seen to be open
    patient.mend("files")
    assert patient.finding("files").status == OK


def test_a_broken_configuration_is_reported_with_all_its_problems(patient: Patient) -> None:
    patient.home.node.prepare()
    Path(patient.home.node.config_file).write_text("[log]\nlevle = 'x'\nmax_mb = 0\n")
    finding = patient.finding("config")
    assert finding.status == FAIL
    assert "line 2: log.levle is not a setting" in finding.detail
    assert "line 3: log.max_mb has to be" in finding.detail
    assert finding.fix == f"${{EDITOR:-vi}} {patient.home.node.config_file}"
    Path(patient.home.node.config_file).write_text("[log]\nlevel = 'debug'\n")
    assert patient.finding("config").detail == f"1 of {len(list(SETTINGS))} set"


def test_a_configuration_with_a_secret_has_to_be_private(patient: Patient) -> None:
    patient.home.node.prepare()
    settings = Settings(KERNEL, [Setting("notify.token", "x.", consent=False, default="", sensitive=True)])
    Path(patient.home.node.config_file).write_text("[notify]\ntoken = 'abcdef'\n")
    Path(patient.home.node.config_file).chmod(0o644)
    doctor = SeatDoctor(patient.home.node, settings, ManualClock(), PATIENT)
    assert doctor.config().status == WARN
    subprocess.run(["sh", "-c", doctor.config().fix], check=True)
    assert doctor.config().status == OK


# --- the socket ---


@pytest.fixture
def listening(patient: Patient) -> Iterator[socket.socket]:
    patient.home.node.prepare()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(patient.home.node.socket)
        Path(patient.home.node.socket).chmod(0o600)
        server.listen()
        yield server


@pytest.mark.parametrize(("answer", "status"), [(b"HTTP/1.1 200 OK\r\n\r\n", OK), (b"SSH-2.0\r\n", FAIL), (b"", FAIL)])
def test_a_daemon_that_answers_is_told_from_something_else(
    patient: Patient, listening: socket.socket, answer: bytes, status: str
) -> None:
    def serve() -> None:  # the check of the socket and the one of the daemon's status ask at the same time
        for _ in range(2):
            connection, _ = listening.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    assert patient.finding("socket").status == status
    server.join(PATIENT)
    assert not server.is_alive()


def test_a_daemon_that_accepts_but_does_not_answer_is_reported(patient: Patient, listening: socket.socket) -> None:
    assert listening.fileno() >= 0
    finding = patient.finding("socket", IMPATIENT)
    assert (finding.status, finding.detail) == (FAIL, f"the daemon does not answer within {IMPATIENT} s")
    assert finding.fix == "covey down && covey up"


def test_a_socket_left_behind_is_told_from_a_living_one(patient: Patient, listening: socket.socket) -> None:
    listening.close()
    finding = patient.finding("socket")
    assert (finding.status, finding.fix) == (WARN, "covey up")


def test_something_else_in_place_of_the_socket_is_reported_and_its_command_removes_it(patient: Patient) -> None:
    patient.home.node.prepare()
    Path(patient.home.node.socket).mkdir()
    assert patient.finding("socket").status == FAIL
    patient.mend("socket")
    assert patient.finding("socket").detail == "not running"


def test_a_socket_path_that_is_too_long_is_reported(tmp_path: Path) -> None:
    home = Home(str(tmp_path / ("x" * LONGEST_SOCKET_PATH)))
    finding = SeatDoctor(home.node, SETTINGS, ManualClock(), PATIENT).socket()
    assert (finding.status, finding.fix) == (FAIL, "export COVEY_HOME=$HOME/.covey")


# --- clock and disk ---


@pytest.mark.parametrize(("moment", "status"), [(0, FAIL), (1_767_225_600, OK), (5_000_000_000, FAIL)])
def test_a_clock_that_cannot_be_right_is_reported(patient: Patient, moment: float, status: str) -> None:
    assert SeatDoctor(patient.home.node, SETTINGS, ManualClock(moment), PATIENT).clock().status == status


def test_a_clock_behind_the_files_that_were_written_is_reported(patient: Patient) -> None:
    patient.home.node.prepare()
    Path(patient.home.node.log_file).write_text("")
    os.utime(patient.home.node.log_file, (1_767_240_000, 1_767_240_000))
    finding = SeatDoctor(patient.home.node, SETTINGS, ManualClock(1_767_225_600), PATIENT).clock()
    assert (finding.status, "4.0 hours later" in finding.detail) == (WARN, True)


@pytest.mark.parametrize(("size", "status"), [("8m", FAIL), ("500m", WARN), ("5g", OK)])
def test_a_disk_with_little_space_is_reported(tmp_path: Path, size: str, status: str) -> None:
    script = """
import sys
from covey.kernel.clock import SystemClock
from covey.kernel.doctor.seat import SeatDoctor
from covey.kernel.home import Home
from covey.node.settings import SETTINGS
print(SeatDoctor(Home(sys.argv[1] + "/not/yet/made").node, SETTINGS, SystemClock(), 3).disk().status)
"""
    alone = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    mount = f"mount -t tmpfs -o size={size} none {tmp_path}"
    if shutil.which("unshare") is None or subprocess.run([*alone, mount], capture_output=True, check=False).returncode:
        pytest.skip("needs Linux and the right to mount a file system in a namespace of its own")
    done = subprocess.run(
        [*alone, f"{mount} && exec {sys.executable} -c '{script}' {tmp_path}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == status


def test_a_look_that_breaks_or_hangs_is_itself_a_finding(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def hang(_: SeatDoctor) -> Finding:
        released.wait(PATIENT)
        return Finding("x", "x", OK, "")

    def fail(_: SeatDoctor) -> Finding:
        msg = "bug"
        raise RuntimeError(msg)

    monkeypatch.setattr(SeatDoctor, "disk", hang)
    monkeypatch.setattr(SeatDoctor, "files", fail)
    found = patient.findings(IMPATIENT)
    released.set()
    assert (found["disk"].status, found["disk"].detail) == (WARN, f"did not answer within {IMPATIENT} s")
    assert (found["files"].status, found["files"].detail) == (WARN, "could not be looked at: RuntimeError: bug")
