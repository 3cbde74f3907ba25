"""The program that refuses tools, as the hooks of agents run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.headless import guard, guarding
from covey.agents.headless.guard import Guard
from covey.agents.registry import HEADLESS
from covey.beats.permissions import DEFAULT_DENY
from tests.covey.agents.headless.running import beat

SHELLS = {"claude": "Bash", "codex": "Bash", "copilot": "Bash", "gemini": "run_shell_command", "opencode": "bash"}
OWN = ("Bash(curl *)", "Bash(git push:*)")


def rules(agent: str = "claude", deny: tuple[str, ...] = (*DEFAULT_DENY, *OWN)) -> dict[str, Any]:
    command = HEADLESS[agent].command(beat(agent, deny=deny), "Look.", "/run/1", root=False)
    found: dict[str, Any] = json.loads(command.files[guarding.RULES])
    return found


def refused(command: object, tool: str = "Bash", agent: str = "claude", **more: object) -> str:
    asked_for = {"tool_name": tool, "tool_input": {"command": command}, **more}
    found = Guard(rules(agent), "/home/me").refusal(asked_for)
    return f"{found.what}: {found.why}" if found else ""


def asked(given: bytes, file: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    words = [*guarding.command(str(file)), *options]
    return subprocess.run(words, input=given, capture_output=True, check=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "run" / "deny.json"
    file.parent.mkdir()
    file.write_text(json.dumps(rules() | {"workspace": str(tmp_path)}))
    return file


def call(command: object, tool: str = "Bash") -> bytes:
    return json.dumps({"tool_name": tool, "tool_input": {"command": command}}).encode()


@pytest.mark.parametrize(("agent", "tool"), SHELLS.items())
def test_it_knows_the_shell_of_every_agent(agent: str, tool: str) -> None:
    assert "another user" in refused("taskset 1 sudo ls", tool, agent)
    assert refused("git status", tool, agent) == ""


@pytest.mark.parametrize(
    "command", ["curl x", "/usr/bin/curl x", "ls && curl x", "bash -c 'curl x'", "git push --force"]
)
def test_patterns_of_the_user_hold_wherever_the_command_is_named(command: str) -> None:
    assert "the deny list forbids" in refused(command)


@pytest.mark.parametrize("given", ["ls", None, 5, ["sudo", "ls"], {}])
def test_a_shell_whose_input_is_not_understood_is_refused(given: object) -> None:
    assert bool(refused(given)) is (given != "ls")
    assert "not understood" in refused("ls", tool_input={"command": "ls", "as_root": True})
    assert "widens" in refused("ls", tool_input={"command": "ls", "dangerouslyDisableSandbox": True})


def test_relative_paths_are_those_of_the_folder_in_which_it_runs() -> None:
    assert refused("rm -rf build", cwd="/src/api/web") == ""
    assert "not below the workspace" in refused("rm -rf build", cwd="/src/other")
    inner = {"tool_input": {"command": "rm -rf build", "workdir": "../other"}}
    assert "not below the workspace" in refused("", "bash", "opencode", **inner)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"command": "sudo ls"}, "another user"),
        ({"input": "rm -rf ~"}, "home folder"),
        ({"todos": []}, ""),
        ({"command": "ls"}, ""),
    ],
)
def test_of_a_tool_that_is_not_known_each_text_that_may_be_a_command_is_judged(
    given: dict[str, object], why: str
) -> None:
    said = refused("", "write_bash", "copilot", tool_input=given)
    assert why in said
    assert bool(said) is bool(why)
    assert refused("", "mcp__mail__send", tool_input={"command": "sudo make me a sandwich"}) == ""


def test_a_rule_is_for_its_tool_only() -> None:
    found = Guard(rules("codex", ("Edit", "mcp__mail")), "/home/me")
    assert found.refusal({"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch"}})
    assert found.refusal({"tool_name": "mcp__mail__send", "tool_input": {}})
    assert found.refusal({"tool_name": "mcp__mailing__send", "tool_input": {}}) is None
    assert found.refusal({"tool_name": "Bash", "tool_input": {"command": "ls"}}) is None


def test_it_answers_as_a_hook_does(file: Path) -> None:
    passed, stopped = asked(call("ls"), file), asked(call("sudo\nls"), file)
    assert (passed.returncode, passed.stdout, passed.stderr) == (0, b"", b"")
    why = b"Refused by Covey: Bash(sudo ls)\nsudo asks for the rights of another user"
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (2, b"", why)


def test_it_answers_copilot_in_the_words_that_copilot_reads(file: Path) -> None:
    assert asked(call("ls"), file, guarding.COPILOT).stdout == b""
    assert json.loads(asked(call("ls"), file, guarding.COPILOT_GRANTS).stdout) == {"permissionDecision": "allow"}
    for option in (guarding.COPILOT, guarding.COPILOT_GRANTS):
        for asked_for in (call("sudo ls"), b"nonsense"):
            assert json.loads(asked(asked_for, file, option).stdout)["permissionDecision"] == "deny"


@pytest.mark.parametrize("given", [b"", b"\xff", b"[]", b"null", b'{"tool_name": "Bash", "tool_input": ', b"{}"])
def test_what_it_cannot_judge_does_not_pass(given: bytes, file: Path) -> None:
    assert asked(given, file).returncode == 2
    assert asked(call("ls"), file.with_name("none.json")).returncode == 2


def test_a_hook_refuses_where_the_guard_cannot_be_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for python in ("/covey/no/such/python", "/bin/false", "/bin/cat"):
        monkeypatch.setattr(sys, "executable", python)
        ended = subprocess.run(["/bin/sh", "-c", guarding.closed_hook(str(file))], capture_output=True, check=False)
        assert ended.returncode == 2
        assert b"the guard does not run" in ended.stderr


def test_before_bash_it_runs_what_may_run_and_nothing_else(tmp_path: Path, file: Path) -> None:
    (file.parent / "bin").mkdir()
    program = file.parent / "bin" / "bash"
    program.write_text(guarding.shell_program(str(file)))
    program.chmod(0o700)
    environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}

    def run(*words: str) -> tuple[int, str]:
        ended = subprocess.run(
            [str(program), *words], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
        )
        return ended.returncode, ended.stdout + ended.stderr

    assert run("-c", "echo $0 $PATH; exit 3") == (3, "bash /usr/bin:/bin\n")
    whole = "_bgpids_file=/tmp/x\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n{}\n)\n__code=$?\nexit $__code"
    assert run("-c", whole.format("echo a*b").replace("/tmp/x", str(tmp_path / "pids"))) == (0, "a*b\n")
    for command in ("sudo ls", whole.format("sudo ls"), whole.format("ls\n)\nsudo ls\n(")):
        code, said = run("-c", command)
        assert code == guard.CANNOT_RUN
        assert said.startswith("Refused by Covey: Bash(")


@given(st.dictionaries(st.text(), st.text() | st.none() | st.integers()), st.sampled_from(["Bash", "x", "mcp__x__y"]))
def test_any_input_is_judged_without_an_error(given: dict[str, object], tool: str) -> None:
    Guard(rules(), "/home/me").refusal({"tool_name": tool, "tool_input": given})
