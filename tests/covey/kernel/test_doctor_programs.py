"""The doctor and the programs that are installed: tmux, ssh and agents."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from covey.kernel.doctor.finding import FAIL, OK, WARN
from tests.covey.kernel.patient import IMPATIENT, Patient


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
