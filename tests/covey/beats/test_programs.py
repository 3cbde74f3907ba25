"""Where the agents' programs are looked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import programs
from covey.beats.preparation import prepare
from covey.beats.run_folder import RunFolder
from tests.covey.agents.headless.running import beat
from tests.covey.beats.pretended import Pretended


def test_the_daemons_own_folders_come_first_then_where_people_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere:/usr/bin")
    local = Pretended(tmp_path / ".local" / "bin")
    assert programs.find("claude") == str(local.folder / "claude")
    managed = Pretended(tmp_path / ".nvm" / "versions" / "node" / "v22" / "bin")
    assert programs.search_path().split(":")[:2] == ["/nowhere", "/usr/bin"]
    assert programs.search_path().split(":")[-1] == str(managed.folder)


def test_a_folder_that_depends_on_where_one_stands_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Pretended(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("PATH", f"bin::.{os.pathsep}/nowhere")
    assert programs.search_path().startswith("/nowhere:")
    assert programs.find("claude") is None, "it would be looked for in the workspace"


def test_the_agent_finds_what_lies_beside_it_and_knows_nothing_of_the_daemons_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Pretended(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{agent.folder}:/usr/bin")
    (tmp_path / "HEARTBEAT.md").write_text("Look.\n")
    folder = RunFolder(tmp_path / "run")
    assert prepare(beat("claude", tmp_path), folder, AGENTS["claude"], 0.0, "") is None
    assert folder.task
    environment = folder.task["environment"]
    assert environment["PATH"].startswith(f"{agent.folder}:{agent.folder}:/usr/bin")
    assert (environment["TMUX"], environment["TMUX_PANE"], environment["CLAUDECODE"]) == (None, None, None)
    assert folder.task["argv"][0] == str(agent.folder / "claude")
