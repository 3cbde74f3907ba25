"""`lab play`: a live agent with a scripted model, which ends with everything it started."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pytest

from lab import agents, live, processes
from lab.agents.claude import Claude
from lab.install import lab_folder, program_of
from murli import EXIT_CANCELLED

ROOT = Path(__file__).parents[2]
LIMIT_S = 120.0


@pytest.mark.parametrize("name", agents.NAMES)
def test_the_model_knows_prompts_for_every_agent(name: str) -> None:
    known = live.prompts(agents.find(name))
    assert {"answer", "approve", "error"} <= set(known)
    assert ("ask" in known) is ("question" in agents.find(name).tools)


def test_a_live_agent_answers_prompts_until_it_is_ended(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": "/tmp", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "lab", "play", "cursor", "--size", "80x24"]
    process = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr
        told = json.loads(process.stderr.readline())["message"]
        found = re.search(r"tmux -S (\S+) attach -t =cursor", told)
        assert found, told
        socket = found[1]
        assert "approve" in told
        assert (
            tmux(socket, "display-message", "-p", "-t", "=cursor:", "#{window_width}x#{window_height}").strip()
            == "80x24"
        )
        tmux(socket, "send-keys", "-t", "=cursor:", "approve")
        wait_for(socket, "approve")
        tmux(socket, "send-keys", "-t", "=cursor:", "Enter")
        wait_for(socket, "touch marker")
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, out + err
    assert not Path(socket).parent.exists(), "its folder is removed"
    assert [one for one in processes.table().values() if str(Path(socket).parent) in one.command] == []


@pytest.mark.skipif(not program_of(Claude).exists(), reason="Claude Code is not installed in the lab")
def test_a_live_agent_with_hooks_reports_to_the_covey_of_the_person(tmp_path: Path) -> None:
    home = tmp_path / "covey"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": "/tmp", "PYTHONPATH": str(ROOT)}
    environment |= {"COVEY_HOME": str(home), "COVEY_LAB_DIR": str(lab_folder())}
    command = [sys.executable, "-m", "lab", "play", "claude", "--integrated"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr
        assert "attach -t =claude" in json.loads(process.stderr.readline())["message"]
        until = time.monotonic() + LIMIT_S
        while not [file for file in home.glob("node/spool/*") if b"SessionStart" in file.read_bytes()]:
            assert time.monotonic() < until, "its hooks wait for a daemon"
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, out + err
    assert not (tmp_path / ".claude").exists(), "the person's own settings are not touched"


def test_on_a_terminal_the_instructions_are_lines_to_read(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": "/tmp", "PYTHONPATH": str(ROOT)}
    ours, theirs = pty.openpty()
    columns = 80
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "lab", "play", "cursor"]
    process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while b"Ctrl-C" not in seen:
            assert select.select([ours], [], [], LIMIT_S)[0], seen
            seen += os.read(ours, 65536)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
        os.close(ours)
    lines = seen.decode().replace("\r\x1b[K", "").splitlines()
    attach = next(line for line in lines if "attach -t" in line)
    socket = attach.split()[2]
    assert attach == f"  tmux -S {socket} attach -t =cursor"
    watched = lines.index(f"  covey config set fleet.sockets '[\"{socket}\"]'")
    assert lines[watched + 1 : watched + 3] == ["  covey down", "  covey up"]
    for name, steps in live.prompts(agents.find("cursor")).items():
        assert any(re.match(rf"  {name} +{re.escape(steps[0][:20])}", line) for line in lines), name
    assert [line for line in lines if len(line) > columns] == []


@pytest.mark.parametrize("ignored", [False, True], ids=["", "under nohup"])
def test_a_truth_run_that_is_ended_leaves_nothing_behind(tmp_path: Path, *, ignored: bool) -> None:
    scratch = Path(tempfile.mkdtemp(prefix="cv-"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(scratch), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "lab", "truth", "--agents", "cursor", "--jobs", "2"]
    ignore = (lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ignore,  # noqa: PLW1509 - one thread
    )
    try:
        assert process.stderr
        process.stderr.readline()  # one has been played, others are
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == EXIT_CANCELLED, out + err
        assert list(scratch.iterdir()) == []
        assert [one for one in processes.table().values() if str(scratch) in one.command] == []
    finally:
        process.kill()
        shutil.rmtree(scratch, ignore_errors=True)


def tmux(socket: str, *arguments: str) -> str:
    return subprocess.run(["tmux", "-S", socket, *arguments], capture_output=True, text=True, check=True).stdout


def wait_for(socket: str, text: str) -> None:
    end = time.monotonic() + LIMIT_S
    while text not in tmux(socket, "capture-pane", "-p", "-t", "=cursor:"):
        assert time.monotonic() < end, tmux(socket, "capture-pane", "-p", "-t", "=cursor:")
        time.sleep(0.1)
