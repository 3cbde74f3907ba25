"""`./run demo`, as a newcomer runs it: it shows what it promises, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.agents.claude import Claude
from lab.agents.codex import Codex
from lab.install import lab_folder, program_of

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [str(ROOT / "run"), "demo"]
LIMIT_S = 240
CHANGED = "import demo; {change}; raise SystemExit(demo.main())"
"""The demo with something changed in it first."""
STARTING = r"""
printf '\033]2;⠋ project\007\033[2J\033[H\n  >_ OpenAI Codex (v0.166.0)\n     /tmp/project\n\n'
printf '\342\200\272 Ask Codex to do anything\n\n  GPT-6.1-Sol default · /tmp/project\n  ? for shortcuts\033[5;3H'
sleep 4
printf '\033]2;project\007'
while :; do sleep 1; done
"""
"""Codex as it starts: its title says that it works, although it was given nothing to do."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the demo makes its own folder. The path is short: sockets lie below it."""
    found = Path(tempfile.mkdtemp(prefix="cv-"))
    yield found
    shutil.rmtree(found, ignore_errors=True)


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in {"PATH", "HOME", "LANG", "XDG_CACHE_HOME", "COVEY_LAB_DIR"}
    }
    return {**kept, "TMPDIR": str(folder), **more}


def left_behind(folder: Path) -> list[str]:
    """Files, and processes that were started with the folder in their environment."""
    listed = subprocess.run(["ps", "axeww", "-o", "command"], capture_output=True, text=True, check=True).stdout
    return [*map(str, folder.iterdir()), *(line for line in listed.splitlines() if f"TMPDIR={folder}" in line)]


def test_a_newcomer_without_any_agent_sees_the_main_job(folder: Path) -> None:
    nothing_installed = str(folder / "none")
    ended = subprocess.run(
        COMMAND,
        env=environment(folder, COVEY_LAB_DIR=nothing_installed),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    scenes = dict(re.findall(r"^\$ covey (\w+).*\n((?:(?!\$ covey ).*\n)*)", ended.stdout, re.MULTILINE))
    listed = re.findall(r"^  \S (\w+) +demo-age\S+ +(\w+):0\.0 ", scenes["ps"], re.MULTILINE)
    assert listed == [("waiting_approval", "api"), ("running", "web"), ("idle", "docs")]
    assert "1 needs you" in scenes["ps"]
    assert 'screen permission "Allow?"  Shell: rm -rf build/' in scenes["why"]
    watched = scenes["watch"] + scenes["dialog"]  # answered while the table is open on another terminal
    assert "Yes was chosen in" in scenes["dialog"]
    assert re.findall(r"^  \S (\w+) +demo-age\S+ +api", watched, re.MULTILINE) == [
        "waiting_approval",
        "running",
        "completed",
    ]
    refused, sent = re.findall(r"^\$ covey send .*\n((?:  .*\n)*)", ended.stdout, re.MULTILINE)
    assert "asks something" in refused
    assert "(exit code 7)" in refused
    assert sent.startswith("  submitted ")
    assert re.search(r" submitted +demo-age", scenes["receipts"]), scenes["receipts"]
    assert "./run up" in ended.stdout
    assert "Three pretended agents work" in ended.stdout
    assert "from the lab" not in ended.stdout
    assert left_behind(folder) == []


@pytest.mark.once
@pytest.mark.skipif(
    not program_of(Claude).exists(), reason="the lab has not installed Claude Code: ./run lab install claude"
)
def test_real_agents_join_where_the_lab_has_them(folder: Path) -> None:
    ended = subprocess.run(
        COMMAND, env=environment(folder), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"^  ○ idle +claude +claude:0\.0 ", ended.stdout, re.MULTILINE)
    assert re.search(
        r"Beside them Claude Code (and Codex start|starts), from the lab\.", " ".join(ended.stdout.split())
    )
    assert re.search(r"\(claude (and codex are|is) real, from the lab; the other three are pretended\)", ended.stdout)
    assert left_behind(folder) == []


@pytest.mark.once
def test_a_wide_terminal_shows_agents_and_folders_whole(folder: Path) -> None:
    ended = subprocess.run(
        COMMAND, env=environment(folder, COLUMNS="120"), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = re.findall(r"^  [▲●○] (?:waiting|running|completed|idle).*", ended.stdout, re.MULTILINE)
    assert len(rows) >= 4 * 3, "four tables of at least three agents"
    assert [row for row in rows if "…" in row] == []


def pretended_codex(folder: Path, program: str) -> Path:
    """Return a lab folder in which Codex is a script."""
    lab = folder / "lab"
    codex = lab / program_of(Codex).relative_to(lab_folder())
    codex.parent.mkdir(parents=True)
    codex.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    codex.chmod(0o755)
    return lab


@pytest.mark.once
def test_a_real_agent_that_seemed_to_work_while_it_started_joins(folder: Path) -> None:
    lab = pretended_codex(folder, STARTING)
    ended = subprocess.run(
        [sys.executable, "-c", CHANGED.format(change="demo.REAL_PATIENCE = 20.0")],
        env=environment(folder, COVEY_LAB_DIR=str(lab), PYTHONPATH=f"{ROOT}:{ROOT / 'examples'}"),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"^  ○ idle +codex +codex:0\.0 ", ended.stdout, re.MULTILINE), ended.stdout
    assert "(codex is real, from the lab; the other three are pretended)" in ended.stdout


@pytest.mark.once
@pytest.mark.parametrize(
    "program",
    ["exec sleep 600", "while :; do sleep 1; done", "exit 1"],
    ids=["it is not seen", "it is seen, but not at its prompt", "it ends at once"],
)
def test_a_real_agent_that_is_not_ready_is_left_out(folder: Path, program: str) -> None:
    lab = pretended_codex(folder, program)
    ended = subprocess.run(
        [sys.executable, "-c", CHANGED.format(change="demo.REAL_PATIENCE = 3.0")],
        env=environment(folder, COVEY_LAB_DIR=str(lab), PYTHONPATH=f"{ROOT}:{ROOT / 'examples'}"),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("  (Codex is left out: it was not ready within 3 s)\n") == 1
    assert "3 agents · 1 needs you" in ended.stdout
    assert "codex:0" not in ended.stdout
    assert "are pretended)" not in ended.stdout
    shutil.rmtree(lab)
    assert left_behind(folder) == []


@pytest.mark.once
def test_a_pretended_agent_that_is_not_seen_fails_the_demo(folder: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", CHANGED.format(change="demo.PATIENCE = 5.0; demo.AGENTS['api'] = []")],
        env=environment(folder, COVEY_LAB_DIR=str(folder / "none"), PYTHONPATH=f"{ROOT}:{ROOT / 'examples'}"),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "The demo did not work: the agent in api:0 was not seen to be waiting_approval within 5 s" in ended.stdout
    assert left_behind(folder) == []


@pytest.mark.once
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_leaves_nothing_behind_either(folder: Path, number: signal.Signals, code: int) -> None:
    with subprocess.Popen(COMMAND, env=environment(folder), stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        said: list[str] = []
        for line in demo.stdout:
            said.append(line)
            if line.startswith("$ covey watch"):
                break
        else:
            pytest.fail("the demo ended before the table: " + "".join(said))
        demo.send_signal(number)
        demo.stdout.read()
        assert demo.wait(LIMIT_S) == code
    assert left_behind(folder) == []
