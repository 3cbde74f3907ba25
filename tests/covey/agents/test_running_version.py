"""The version of an agent that runs, from real files."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from msgspec import structs

from covey.agents.running_version import running_version
from covey.agents.screens.adapter import ProcessShape
from covey.kernel.processes.program_version import ProgramVersions
from tests.covey.agents.screens.adapters_seen import REGISTRY, Seen

PROGRAMS = ProgramVersions(dict(os.environ), deadline=60)


def program(path: Path, text: str = "exit 1") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def package(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": version}))
    return folder


def version(agent: str, process: Seen, *, age: float = 0.0) -> str:
    return running_version(process, time.time() - age, REGISTRY.adapters[agent], PROGRAMS)


def test_a_script_that_a_launcher_runs_belongs_to_a_package(tmp_path: Path) -> None:
    folder = package(tmp_path / "node_modules/@google/gemini-cli", "@google/gemini-cli", "0.61.0")
    (tmp_path / "gemini").symlink_to(program(folder / "bundle/gemini.js"))
    assert (
        version("gemini", Seen("node", ("node", "--no-warnings", str(tmp_path / "gemini"), "--yolo"), "/usr/bin/node"))
        == "0.61.0"
    )


def test_a_program_is_named_after_its_version(tmp_path: Path) -> None:
    path = tmp_path / "claude/versions/2.1.300"
    gone = Seen("claude", ("claude",), str(path))
    assert version("claude", gone) == "2.1.300", "also when an update has removed it"


def test_the_version_of_a_launcher_is_not_the_agents() -> None:
    shape = ProcessShape(names=("toy.py",), launchers=("python*",))
    adapter = structs.replace(REGISTRY.adapters["claude"], process=shape)
    python = Seen("python3", ("/opt/python/3.11.7/bin/python3", "toy.py"), "/opt/python/versions/3.11.7/bin/python3.11")
    assert running_version(python, time.time(), adapter, PROGRAMS) == ""


def test_a_program_whose_file_has_the_agents_name_is_asked(tmp_path: Path) -> None:
    path = program(tmp_path / "codex", "echo codex-cli 0.150.0")
    assert version("codex", Seen("codex", ("codex",), path)) == "0.150.0"


def test_a_script_of_the_same_name_is_not_run(tmp_path: Path) -> None:
    path = program(tmp_path / "claude", f"touch {tmp_path / 'ran'}; echo 1.2.3")
    assert version("claude", Seen("claude", ("/bin/sh", path), "/bin/sh")) == ""
    assert version("claude", Seen("claude", ("claude",), "/nowhere/claude")) == ""
    assert not (tmp_path / "ran").exists()


def test_an_agent_of_ones_own_is_not_asked(tmp_path: Path) -> None:
    path = program(tmp_path / "toy", f"touch {tmp_path / 'ran'}; echo 1.2.3")
    assert version("claude", Seen("toy", ("toy",), path)) == ""
    assert not (tmp_path / "ran").exists()


def test_a_program_that_was_updated_after_its_start_tells_nothing(tmp_path: Path) -> None:
    folder = package(tmp_path / "node_modules/@openai/codex", "@openai/codex", "0.166.0")
    script = program(folder / "bin/codex.js")
    assert version("codex", Seen("node", ("node", script), "/usr/bin/node"), age=3600) == ""
    assert version("codex", Seen("node", ("node", script), "/usr/bin/node")) == "0.166.0"
