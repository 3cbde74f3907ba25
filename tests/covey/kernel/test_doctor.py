"""The doctor: finds what is wrong, names the command that mends it, never hangs and changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.config.settings import KERNEL, Setting, Settings
from covey.kernel.doctor.doctor import examine, readable
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding
from covey.kernel.doctor.seat import SeatDoctor
from covey.kernel.home import Home
from covey.kernel.seat import LONGEST_SOCKET_PATH
from covey.kernel.store.store import Store
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENT, IMPATIENT = 60.0, 0.5


class Patient:
    """A home and a PATH of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bin = path / "bin"
        self.bin.mkdir()
        self.user = path / "user"
        self.user.mkdir()
        self.home = Home(str(path / "home"))
        self.environ = {"PATH": str(self.bin), "HOME": str(self.user)}
        self.program("tmux", 'echo "tmux 3.3a"')
        self.program("ssh", "echo OpenSSH_9.2p1 Debian, OpenSSL 3 >&2")

    def program(self, name: str, script: str) -> Path:
        """Stands for a program that is not installed here."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
        path.chmod(0o755)
        return path

    def findings(self, deadline: float = PATIENT) -> dict[str, Finding]:
        return {
            one.name: one
            for one in examine(self.home.node, SETTINGS, SUBSYSTEMS, environ=self.environ, deadline=deadline)
        }

    def finding(self, name: str, deadline: float = PATIENT) -> Finding:
        return self.findings(deadline)[name]

    def mend(self, name: str) -> None:
        """Run the command that the doctor gave."""
        subprocess.run(["sh", "-c", self.finding(name).fix], check=True, capture_output=True)


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


def database(path: str, rows: int = 10) -> None:
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA journal_mode = wal")
        made.execute("CREATE TABLE t (x TEXT)")
        made.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * rows)
    made.close()
    Path(path).chmod(0o600)


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
    ]  # fmt: skip
    assert {one.section for one in found} == {"system", "tools", "home", "agents"}
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


# --- programs ---


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("tmux 3.3a", OK),
        ("tmux 3.2", OK),
        ("tmux 4.0", OK),
        ("tmux next-3.6", OK),
        ("tmux master", OK),
        ("tmux 3.1c", WARN),
        ("tmux 2.9", WARN),
        ("", FAIL),
    ],
)
def test_tmux_has_to_be_new_enough_for_control_mode(patient: Patient, said: str, status: str) -> None:
    patient.program("tmux", f'[ "$1" = -V ] && echo "{said}"')
    finding = patient.finding("tmux")
    assert finding.status == status
    assert bool(finding.fix) == (status != OK)


def test_missing_programs_come_with_the_command_of_the_package_manager_that_is_here(patient: Patient) -> None:
    (patient.bin / "tmux").unlink()
    (patient.bin / "ssh").unlink()
    assert patient.finding("tmux").fix == "install tmux with your package manager"
    patient.program("dnf", "")
    assert (patient.finding("tmux").status, patient.finding("tmux").fix) == (FAIL, "sudo dnf install tmux")
    assert (patient.finding("ssh").status, patient.finding("ssh").fix) == (WARN, "sudo dnf install openssh-clients")


def test_the_real_tmux_and_ssh_are_recognised(patient: Patient) -> None:
    if shutil.which("tmux") is None or shutil.which("ssh") is None:
        pytest.fail("tmux or ssh is missing: install the packages `tmux` and `openssh-client`")
    patient.environ["PATH"] = os.environ["PATH"]
    found = patient.findings()
    assert found["tmux"].detail[0].isdigit()
    assert "SSH" in found["ssh"].detail


def test_the_command_that_tells_a_person_has_to_be_there(patient: Patient) -> None:
    assert "notify" not in patient.findings()
    patient.home.node.prepare()
    Path(patient.home.node.config_file).write_text('[attention]\nnotify = ["tell", "me"]\n')
    finding = patient.finding("notify")
    assert (finding.status, finding.fix) == (WARN, "covey config unset attention.notify")
    assert "names tell, which is not there" in finding.detail
    there = patient.program("tell", "")
    assert (patient.finding("notify").status, patient.finding("notify").detail) == (OK, str(there))
    there.chmod(0o600)
    assert patient.finding("notify").status == WARN
    Path(patient.home.node.config_file).write_text("[attention\n")
    assert "notify" not in patient.findings(), "what is wrong with the configuration is said elsewhere"


def test_agents_are_found_with_their_versions(patient: Patient) -> None:
    patient.program("claude", 'echo "2.1.325 (Claude Code)"')
    patient.program("codex", 'echo "WARNING: proceeding, even so" >&2; echo codex-cli 0.166.0')
    patient.program("copilot", 'printf "GitHub Copilot CLI 1.0.102.\\nRun copilot update\\n"')
    patient.program("opencode", r"printf '\033[1m1.18.33-beta.2\033[0m\n'")
    found = patient.findings()
    assert {name: found[name].detail for name in ("claude", "codex", "copilot", "opencode", "gemini")} == {
        "claude": "2.1.325", "codex": "0.166.0", "copilot": "1.0.102", "opencode": "1.18.33-beta.2",
        "gemini": "not installed",
    }  # fmt: skip
    assert "agents" not in found


def test_an_agent_installed_by_npm_is_not_run_at_all(patient: Patient) -> None:
    package = patient.path / "lib" / "node_modules" / "@github" / "copilot"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@github/copilot", "version": "1.0.102"}')
    program = patient.program("real", f"touch {patient.path}/was-run; echo 9.9")
    program.rename(package / "bin" / "copilot.js")
    (patient.bin / "copilot").symlink_to(package / "bin" / "copilot.js")
    assert patient.finding("copilot").detail == "1.0.102"
    assert not (patient.path / "was-run").exists()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"name": "something-else", "version": "9"}', '{"name": "@openai/codex"}', "[" * 10_000]
)
def test_a_strange_package_file_is_passed_over(patient: Patient, text: str) -> None:
    (patient.path / "package.json").write_text(text)
    patient.program("codex", "echo 1.2.3")
    assert patient.finding("codex").detail.startswith("1.2.3 (Codex 1.2.3 is newer than ")


def test_an_agent_sees_a_home_that_is_thrown_away_and_leaves_nothing_behind(patient: Patient) -> None:
    patient.environ |= {
        "XDG_CONFIG_HOME": str(patient.user),
        "CODEX_HOME": str(patient.user),
        "CLAUDE_CONFIG_DIR": str(patient.user),
    }
    report = patient.path / "report"
    patient.program(
        "claude",
        'mkdir -p "$HOME/.claude" "${XDG_CONFIG_HOME:-$HOME}/x" "${CODEX_HOME:-$HOME}/y"; '
        f'echo "$HOME|$*|$(cat)|${{CLAUDE_CONFIG_DIR-unset}}" >{report}; echo 1.0',
    )
    assert patient.finding("claude").status == OK
    home, arguments, read, config = report.read_text().strip().split("|")
    assert (arguments, read, config) == ("--version", "", "unset")
    assert not Path(home).exists()
    assert list(patient.user.iterdir()) == []


def test_a_shim_of_a_version_manager_is_found_but_not_asked(patient: Patient) -> None:
    shims = patient.path / "shims"
    shims.mkdir()
    patient.program("gemini", f"touch {patient.path}/was-run").rename(shims / "gemini")
    (patient.bin / "gemini").symlink_to(shims / "gemini")
    assert patient.finding("gemini").status == OK
    assert not (patient.path / "was-run").exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "ended with code 3"),
        ("echo 'Error: node is too old' >&2; exit 1", "ended with code 1: 'Error: node is too old'"),
        ("kill -9 $$", "ended with code -9"),
        ("echo hello", "tells no version: 'hello'"),
        (":", "tells no version: ''"),
        (r"head -c 3000 /dev/urandom | tr -d '0-9'", "tells no version"),
        ("exec yes", "would not stop talking"),
    ],
)
def test_an_agent_that_does_not_work_is_reported_with_the_command_that_installs_it_anew(
    patient: Patient, script: str, said: str
) -> None:
    patient.program("codex", script)
    finding = patient.finding("codex")
    assert (finding.status, finding.fix) == (WARN, "npm install -g @openai/codex")
    assert said in finding.detail
    assert finding.detail.isprintable()
    assert len(finding.detail) < 250


def test_hanging_programs_are_reported_together_and_not_one_after_the_other(patient: Patient) -> None:
    hanging = ["tmux", "ssh", "claude", "codex", "gemini", "copilot", "cursor-agent", "opencode"]
    for name in hanging:
        patient.program(name, "trap '' TERM; sleep 1000 & sleep 1000")
    begun = time.monotonic()
    found = patient.findings(IMPATIENT)
    took = time.monotonic() - begun
    assert [name for name in hanging if f"did not answer within {IMPATIENT} s" in found[name].detail] == hanging
    assert took < len(hanging) * IMPATIENT  # one after the other would take at least this


def test_without_any_agent_one_is_suggested(patient: Patient) -> None:
    assert (patient.finding("agents").status, patient.finding("agents").fix) == (
        WARN,
        "npm install -g @anthropic-ai/claude-code",
    )


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
    settings = Settings(KERNEL, [Setting("notify.token", "x.", default="", sensitive=True)])
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


# --- the database ---


@pytest.mark.parametrize("name", ["home", "it's 50% #1? home"])
def test_a_whole_database_is_told_so_wherever_it_is(patient: Patient, name: str) -> None:
    patient.home = Home(str(patient.path / name))
    patient.home.node.prepare()
    database(patient.home.node.database)
    assert patient.finding("database").detail.startswith("whole, ")


@pytest.mark.parametrize("damage", ["text", "page", "cut"])
def test_a_damaged_database_is_reported_and_its_command_moves_it_aside(patient: Patient, damage: str) -> None:
    patient.home.node.prepare()
    path = Path(patient.home.node.database)
    database(str(path), 2000)
    whole = bytearray(path.read_bytes())
    if damage == "text":
        path.write_text("this is not a database " * 100)
    elif damage == "page":
        whole[4096 * 5 : 4096 * 9] = os.urandom(4096 * 4)
        path.write_bytes(whole)
    else:
        path.write_bytes(whole[: len(whole) // 2])
    finding = patient.finding("database")
    assert finding.status == FAIL
    assert "is damaged" in finding.detail
    subprocess.run(["sh", "-c", f"covey() {{ :; }}; {finding.fix}"], check=True)
    assert path.with_name("node.db.damaged").exists()
    assert patient.finding("database").detail == "none yet"


async def test_a_database_that_was_moved_aside_is_reported_until_it_is_removed(patient: Patient) -> None:
    patient.home.node.prepare()
    path = Path(patient.home.node.database)
    path.write_text("garbage")
    async with await Store.open(path, ()) as store:
        moved = store.recovered_from
    assert moved is not None
    finding = patient.finding("database")
    assert finding.status == WARN
    assert str(moved) in finding.detail
    assert finding.fix == f"sqlite3 {moved} .recover"
    moved.unlink()
    assert patient.finding("database").status == OK


def test_a_directory_in_place_of_the_database_is_reported(patient: Patient) -> None:
    patient.home.node.prepare()
    Path(patient.home.node.database).mkdir()
    assert patient.finding("database").status == FAIL


def test_a_database_in_use_is_looked_at_without_disturbing_it(patient: Patient) -> None:
    patient.home.node.prepare()
    database(patient.home.node.database)
    writer = sqlite3.connect(patient.home.node.database, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO t VALUES ('y')")
    assert patient.finding("database").status == OK
    writer.execute("COMMIT")
    assert writer.execute("SELECT count(*) FROM t").fetchone() == (11,)
    writer.close()


def test_a_database_whose_daemon_was_killed_is_looked_at_with_its_log(patient: Patient) -> None:
    patient.home.node.prepare()
    script = """
import os, sqlite3, sys
made = sqlite3.connect(sys.argv[1], isolation_level=None)
made.execute("PRAGMA journal_mode = wal")
made.execute("CREATE TABLE t (x TEXT)")
made.execute("INSERT INTO t VALUES ('kept')")
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script, patient.home.node.database], check=False)
    assert Path(f"{patient.home.node.database}-wal").stat().st_size
    assert patient.finding("database").status == OK
    with sqlite3.connect(patient.home.node.database) as again:
        assert again.execute("SELECT x FROM t").fetchone() == ("kept",)
    again.close()


def test_a_database_too_large_to_check_in_time_is_not_called_damaged(patient: Patient) -> None:
    patient.home.node.prepare()
    database(patient.home.node.database, 20_000)
    finding = SeatDoctor(patient.home.node, SETTINGS, ManualClock(), 1e-9).database()
    assert finding.status == OK
    assert "too large to check in time" in finding.detail


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


# --- for people ---

WELL = [
    Finding("system", "python", OK, "3.13.0"),
    Finding("tools", "tmux", OK, "3.5a"),
    Finding("agents", "claude", OK, "2.1"),
    Finding("agents", "codex", OK, "not installed"),
]


def test_the_first_line_answers_and_the_rest_is_compact() -> None:
    assert (
        readable(WELL)
        == "All good\n\n  system  python 3.13.0\n  tools   tmux 3.5a\n  agents  claude 2.1 · not installed: codex"
    )


def test_what_needs_a_person_comes_first_with_its_command() -> None:
    warn = Finding("tools", "ssh", WARN, "not found", "brew install openssh")
    fail = Finding("home", "config", FAIL, "config.toml has 2 problems:\n  line 2: x", "vi config.toml")
    assert readable([warn, *WELL]).splitlines()[0] == "1 thing needs you"
    assert readable([warn, *WELL, fail]).split("\n\n")[:3] == [
        "2 things need you",
        "✗ config: config.toml has 2 problems:\n      line 2: x\n    vi config.toml",
        "▲ ssh: not found\n    brew install openssh",
    ]


def test_colour_is_used_only_on_request_and_only_for_what_matters() -> None:
    trouble = [Finding("home", "config", FAIL, "broken", "fix it"), *WELL]
    assert "\x1b" not in readable(trouble)
    assert readable(trouble, colour=True).count("\x1b[31m") == 1
    assert readable(WELL, colour=True) == readable(WELL)


def test_no_line_of_what_is_well_is_wider_than_a_terminal() -> None:
    many = [Finding("agents", f"agent{number}", OK, f"{number}.0.{number}") for number in range(40)]
    assert max(map(len, readable(many).splitlines())) <= 80


def test_a_long_finding_breaks_between_words() -> None:
    lines = readable([Finding("home", "adapters", FAIL, f"{'word ' * 40}end\nAnd more.", "vi x")]).split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert [line.strip() for line in lines[-2:]] == ["And more.", "vi x"]
