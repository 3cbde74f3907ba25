"""Who is behind a command: a person at a terminal, or a program. Real terminals, a real tmux, no daemon."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.at_terminal import typed
from lab.sshd import Sshd
from tests.covey.conftest import COMMAND, Covey
from tests.covey.fleet.room import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the processes of Linux are made here")

DECIDES = [COMMAND, "config", "set", "keeper.approve_from", "telegram", "--yes", "--output", "json"]
"""Without a daemon the command itself judges who is behind it, with the same code."""
DETACH = [
    sys.executable,
    "-c",
    "import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\nos.execvp(sys.argv[1], sys.argv[1:])",
]


class Deciding:
    """A home, and a folder for what commands say that nobody waits for."""

    def __init__(self, covey: Covey) -> None:
        self.covey = covey
        self._jobs = 0

    def job(self) -> tuple[str, Path]:
        """Return a command line for a shell, and the file that has what it said as soon as it has ended."""
        self._jobs += 1
        said = self.covey.folder / f"said{self._jobs}"
        line = f"{shlex.join(DECIDES)} >{said}.part 2>&1; mv {said}.part {said}"
        return line, said

    def tmux(self, *words: str) -> str:
        ended = subprocess.run(
            ["tmux", "-f", "/dev/null", *words],
            env=self.covey.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()


def outcome(said: Path) -> str:
    """Return the code of the error that a command said, or `decided`."""
    until(said.exists)
    answer: dict[str, Any] = json.loads(said.read_text()[said.read_text().index("{") :])
    return str(answer.get("error", "decided"))


@pytest.fixture
def deciding(covey: Covey) -> Iterator[Deciding]:
    found = Deciding(covey)
    yield found
    subprocess.run(["tmux", "kill-server"], env=covey.environment(), capture_output=True, check=False)


def run(deciding: Deciding, *around: str, **extra: str) -> str:
    """Return how the decision ended with this command around it."""
    line, said = deciding.job()
    words = [*around, "sh", "-c", line]
    # The terminal of who runs the tests is left.
    subprocess.run(words, env=deciding.covey.environment(**extra), check=False, start_new_session=True)
    return outcome(said)


def test_at_a_terminal_of_a_person_the_decision_counts(deciding: Deciding) -> None:
    assert run(deciding, *typed([])) == "decided"
    line, said = deciding.job()
    inside = typed(["script", "-qec", line, "/dev/null"])
    subprocess.run(
        inside, env=deciding.covey.environment(), check=False, stdout=subprocess.DEVNULL, start_new_session=True
    )
    assert outcome(said) == "decided", "a terminal within that of a person"


@pytest.mark.parametrize(
    "around",
    [
        [],
        ["setsid", "-f"],
        ["nohup"],
        ["env", "-u", "TMUX", "-u", "TMUX_PANE", "setsid", "-f"],
        ["env", "-i", "setsid", "-f"],
        DETACH,
        [*DETACH, *DETACH],
    ],
    ids=["pipe", "setsid", "nohup", "env -u", "env -i", "fork", "double fork"],
)
def test_without_a_terminal_it_is_refused(deciding: Deciding, around: list[str]) -> None:
    environment = [f"{name}={value}" for name, value in deciding.covey.environment().items()]
    words = [*around[:2], *environment, *around[2:]] if around[:2] == ["env", "-i"] else around
    assert run(deciding, *words) == "person_needed"
    assert not (deciding.covey.node / "config.toml").exists()


def test_a_terminal_of_a_program_is_not_a_persons_unless_the_user_says_so(deciding: Deciding) -> None:
    line, said = deciding.job()
    script = ["setsid", "-f", "script", "-qc", line, "/dev/null"]
    subprocess.run(
        script, env=deciding.covey.environment(), check=False, stdout=subprocess.DEVNULL, start_new_session=True
    )
    assert outcome(said) == "person_needed"
    assert 'consent.terminals = [\\"script\\"]' in said.read_text()
    deciding.covey.node.mkdir(parents=True, exist_ok=True)
    (deciding.covey.node.parent / "config.toml").write_text('[consent]\nterminals = ["script"]\n')
    line, said = deciding.job()
    script = ["setsid", "-f", "script", "-qc", line, "/dev/null"]
    subprocess.run(
        script, env=deciding.covey.environment(), check=False, stdout=subprocess.DEVNULL, start_new_session=True
    )
    assert outcome(said) == "decided"


def test_programs_may_do_what_the_user_leaves_to_them_and_agents_may_not(deciding: Deciding) -> None:
    deciding.covey.node.parent.mkdir(parents=True, exist_ok=True)
    (deciding.covey.node.parent / "config.toml").write_text('[consent]\nfrom_programs = ["config.set"]\n')
    assert run(deciding, "env", "CLAUDECODE=1") == "agents_cannot_approve"
    assert run(deciding) == "decided"


def test_below_an_agent_a_terminal_is_not_a_persons(deciding: Deciding) -> None:
    assert run(deciding, *typed(["env", "CLAUDECODE=1"])) == "agents_cannot_approve"
    agent = deciding.covey.folder / "claude"
    agent.write_text('#!/bin/sh\n"$@"\nexit 0\n')
    agent.chmod(0o700)
    assert run(deciding, *typed([str(agent)])) == "agents_cannot_approve"
    line, said = deciding.job()
    inside = typed([str(agent), "script", "-qec", line, "/dev/null"])
    subprocess.run(
        inside, env=deciding.covey.environment(), check=False, stdout=subprocess.DEVNULL, start_new_session=True
    )
    assert outcome(said) == "agents_cannot_approve"


class Person:
    """Somebody at a terminal emulator with tmux in it."""

    def __init__(self, deciding: Deciding) -> None:
        self.ours, theirs = pty.openpty()
        environment = deciding.covey.environment(TERM="xterm")
        # `script` copies between the pipe, which is the keyboard, and the terminal in which tmux runs.
        words = typed(["script", "-qfc", "tmux -f /dev/null attach", "/dev/null"])
        self.process = subprocess.Popen(words, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self._reading = threading.Thread(target=self._read)
        self._reading.start()
        until(lambda: deciding.tmux("list-clients"))

    def _read(self) -> None:
        try:
            while os.read(self.ours, 65536):
                pass
        except OSError:
            pass

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def close(self) -> None:
        self.process.wait(10)
        self._reading.join()
        os.close(self.ours)


@pytest.fixture
def person(deciding: Deciding) -> Iterator[Person]:
    deciding.tmux("new-session", "-d", "-s", "work", "-x", "80", "-y", "24", "sh")
    found = Person(deciding)
    yield found
    subprocess.run(["tmux", "kill-server"], env=deciding.covey.environment(), capture_output=True, check=False)
    found.close()


def test_in_tmux_what_is_typed_counts_and_what_programs_start_does_not(deciding: Deciding, person: Person) -> None:
    until(lambda: _at_prompt(deciding))
    until(lambda: _typed(deciding, person) == "decided")
    refused = {
        "new-window -d": ["new-window", "-d"],
        "new-window": ["new-window"],
        "split-window": ["split-window"],
        "run-shell": ["run-shell", "-b"],
        "if-shell": ["if-shell", "-b"],
        "popup": ["display-popup", "-E"],
        "hook": ["set-hook", "-g", "window-renamed"],
        "respawn": ["respawn-pane", "-k", "-t", "work:0.0"],  # at the end: the session ends with its last pane
    }
    for name, words in refused.items():
        line, said = deciding.job()
        file = deciding.covey.folder / f"job-{name.replace(' ', '')}"
        file.write_text(line)
        told = [*words, f"sh {file}"]
        if name == "if-shell":
            told.append("display-message x")
        if name == "hook":
            told = [*words, f"run-shell -b 'sh {file}'"]
        if name == "popup":
            subprocess.run(["tmux", *told], env=deciding.covey.environment(), capture_output=True, check=False)
        else:
            deciding.tmux(*told)
        if name == "hook":
            deciding.tmux("rename-window", "x")
        assert outcome(said) == "person_needed", name


def test_keys_that_a_program_sends_to_a_pane_that_nobody_sees_do_not_count(deciding: Deciding, person: Person) -> None:
    pane = deciding.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "sh")
    line, said = deciding.job()
    until(lambda: _at_prompt(deciding, pane))
    person.type(" ")
    deciding.tmux("send-keys", "-t", pane, line, "Enter")
    assert outcome(said) == "person_needed"


def _typed(deciding: Deciding, person: Person) -> str:
    """Return how a decision ended that was typed. In the first second of a pane, and if the command has taken long to
    start, tmux does not tell that, and it is typed again.
    """
    line, said = deciding.job()
    person.type(f"{line}\n")
    return outcome(said)


def _at_prompt(deciding: Deciding, pane: str = "work:0.0") -> bool:
    return deciding.tmux("capture-pane", "-p", "-t", pane).strip().endswith(("$", "#"))


def test_over_ssh_a_terminal_counts_and_without_one_only_the_other_covey(covey: Covey) -> None:
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    sshd = Sshd(covey.folder, "far", HOME=str(covey.folder), COVEY_HOME=str(covey.home), **kept)
    try:
        for words, before, wanted in (
            (["-tt"], "", "decided"),
            ([], "", "person_needed"),
            ([], "COVEY_JUDGED_BY=far ", "decided"),
        ):
            ended = subprocess.run(
                ["ssh", "-F", str(sshd.folder / "ssh_config"), *words, "far", before + shlex.join(DECIDES)],
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
            )
            answer = json.loads(
                (ended.stdout + ended.stderr)[(ended.stdout + ended.stderr).index("{") :].split("\r\nConn")[0]
            )
            assert answer.get("error", "decided") == wanted, words
    finally:
        sshd.close()
    assert run(Deciding(covey), "env", "COVEY_JUDGED_BY=far") == "person_needed", "anybody can set that"
