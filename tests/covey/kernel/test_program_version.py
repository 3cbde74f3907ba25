"""Versions of programs, from real files and real programs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from covey.kernel.processes.program_version import Program, ProgramVersions, version_in_path, version_of_package


def program(path: Path, text: str = "exit 1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def package(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": version}))
    return folder


def versions(path: str = "") -> ProgramVersions:
    return ProgramVersions({"PATH": path or os.environ["PATH"]}, deadline=60)


def test_a_package_has_the_version_and_nothing_is_run(tmp_path: Path) -> None:
    folder = package(tmp_path / "lib/node_modules/@openai/codex", "@openai/codex", "0.166.0")
    script = program(folder / "bin/codex.js", "echo 9.9.9")
    link = tmp_path / "bin/codex"
    link.parent.mkdir()
    link.symlink_to(script)
    assert versions().of(str(link), ["@openai/codex"]) == Program(str(link), "0.166.0")


def test_the_package_of_one_platform_has_the_version_too(tmp_path: Path) -> None:
    folder = package(tmp_path / "node_modules/@openai/codex-linux-x64", "@openai/codex", "0.166.0-linux-x64")
    assert (
        version_of_package(str(program(folder / "vendor/x86_64-unknown-linux-musl/bin/codex")), ["@openai/codex"])
        == "0.166.0"
    )
    folder = package(tmp_path / "node_modules/@github/copilot-linux-x64", "@github/copilot-linux-x64", "1.0.102")
    assert version_of_package(str(program(folder / "copilot")), ["@github/copilot"]) == "1.0.102"


def test_the_package_of_another_program_is_ignored(tmp_path: Path) -> None:
    folder = package(tmp_path / "app", "my-claude-wrapper", "1.0.0")
    assert not version_of_package(str(program(folder / "bin/claude")), ["@anthropic-ai/claude-code"])


def test_a_pipe_in_the_place_of_a_package_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "package.json")
    assert not version_of_package(str(program(tmp_path / "claude")), ["@anthropic-ai/claude-code"])


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/home/me/.local/share/claude/versions/2.1.325", "2.1.325"),
        ("/home/me/.local/share/cursor-agent/versions/2026.10.01-ab12/cursor-agent", "2026.10.01-ab12"),
        ("/home/me/.pyenv/versions/system/bin/x", ""),
        ("/usr/bin/claude", ""),
    ],
)
def test_a_path_may_name_the_version(path: str, version: str) -> None:
    assert version_in_path(path) == version


def test_a_program_is_asked_once_for_its_version_and_again_when_it_has_changed(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    path = program(tmp_path / "tool", f'echo "$1 $HOME" >> {asked}; echo "tool 1.2.3 (build 4)"')
    known = versions()
    assert [known.of(str(path)).version for _ in range(3)] == ["1.2.3"] * 3
    assert len(asked.read_text().splitlines()) == 1
    assert str(Path.home()) not in asked.read_text(), "it gets a home of its own"
    program(path, "echo tool 1.2.30")
    assert known.of(str(path)).version == "1.2.30"


@pytest.mark.parametrize(
    ("text", "problem"),
    [("exit 3", "ended with code 3"), ("echo hello", "tells no version: 'hello'"), ("echo oops >&2; exit 1", "oops")],
)
def test_a_program_without_a_version_is_reported_with_the_reason(text: str, problem: str, tmp_path: Path) -> None:
    found = versions().of(str(program(tmp_path / "tool", text)))
    assert not found.version
    assert problem in found.problem


def test_a_program_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    known = ProgramVersions(dict(os.environ), deadline=0.2)
    assert "did not answer within" in known.of(str(program(tmp_path / "tool", "exec sleep 600"))).problem


def test_all_programs_of_a_name_on_path_are_found_each_once(tmp_path: Path) -> None:
    first, second = program(tmp_path / "a/tool", "echo 1.0.1"), program(tmp_path / "b/tool", "echo 2.0.1")
    (tmp_path / "c").mkdir()
    (tmp_path / "c/tool").symlink_to(first)
    (tmp_path / "d").mkdir()
    (tmp_path / "d/tool").write_text("not a program")
    path = (
        os.pathsep.join(str(tmp_path / name) for name in ("a", "b", "c", "d", "nowhere"))
        + os.pathsep
        + os.environ["PATH"]
    )
    assert versions(path).on_path("tool") == [Program(str(first), "1.0.1"), Program(str(second), "2.0.1")]


def test_without_leave_to_ask_nothing_is_run(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    path = program(tmp_path / "tool", f"echo 1.2.3; touch {asked}")
    assert not versions().of(str(path), ask=False).version
    assert not asked.exists()
