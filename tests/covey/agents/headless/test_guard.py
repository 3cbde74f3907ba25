"""The hook that refuses tools for Codex."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.codex.headless import CodexHeadless
from covey.agents.headless import guard
from covey.beats.permissions import DEFAULT_DENY
from tests.covey.agents.headless.commands import ALLOWED, CHAINED, REFUSED
from tests.covey.agents.headless.running import beat

RULES = json.loads(CodexHeadless().command(beat("codex"), "Look.", "/run/1", root=False).files["deny.json"])


def call(command: object, tool: str = "Bash") -> dict[str, object]:
    return {"tool_name": tool, "tool_input": {"command": command}}


def asked(given: bytes, rules: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", guard.__file__, str(rules)], input=given, capture_output=True, check=False
    )


@pytest.mark.parametrize("command", [*REFUSED, *CHAINED])
def test_what_the_default_list_means_is_refused_however_it_is_written(command: str) -> None:
    assert guard.refusal(RULES, call(command)).startswith("Bash(")


@pytest.mark.parametrize("command", ALLOWED)
def test_other_commands_pass(command: str) -> None:
    assert guard.refusal(RULES, call(command)) == ""


def test_a_rule_is_for_its_tool_only() -> None:
    assert guard.refusal(RULES, call("sudo ls", "apply_patch")) == ""
    assert guard.refusal([["apply_patch", None]], call("*** Begin Patch", "apply_patch"))
    assert (
        guard.refusal([["mcp__mail__*", None]], {"tool_name": "mcp__mail__send", "tool_input": {}})
        == "mcp__mail__send({})"
    )
    assert guard.refusal([["mcp__mail__*", None]], {"tool_name": "mcp__mailing__send", "tool_input": {}}) == ""


def test_it_answers_as_a_hook_does(tmp_path: Path) -> None:
    rules = tmp_path / "deny.json"
    rules.write_text(json.dumps(RULES))
    passed, refused = asked(json.dumps(call("ls")).encode(), rules), asked(json.dumps(call("sudo\nls")).encode(), rules)
    assert (passed.returncode, passed.stdout, passed.stderr) == (0, b"", b"")
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, b"", b"Refused by Covey: Bash(sudo ls)")


@pytest.mark.parametrize("given", [b"", b"\xff", b"[]", b"null", b'{"tool_name": "Bash", "tool_input": '])
def test_what_it_cannot_judge_does_not_pass(given: bytes, tmp_path: Path) -> None:
    rules = tmp_path / "deny.json"
    rules.write_text(json.dumps(RULES))
    assert asked(given, rules).returncode == 2
    assert asked(json.dumps(call("ls")).encode(), tmp_path / "none.json").returncode == 2


def test_commands_within_commands_end_somewhere() -> None:
    command = "ls x"
    for _ in range(guard.DEPTH + 1):
        command = "eval " + re.sub(r"([ \\])", r"\\\1", command)
    with pytest.raises(ValueError, match="without end"):
        guard.refusal(RULES, call(command))


@given(st.text(alphabet="absudo rm-f/~$()`'\"\\;&|\n=*{}", max_size=60))
def test_a_denied_command_stays_denied_behind_any_other(command: str) -> None:
    with contextlib.suppress(ValueError):  # refused as well
        assert guard.refusal(RULES, call(f"sudo ls\n{command}"))


@given(st.text(max_size=30))
def test_a_pattern_matches_itself(text: str) -> None:
    assert guard.matches(text, text) or text.endswith(" *") or "  " in text or text != text.strip()


def test_all_default_patterns_have_a_rule() -> None:
    assert len(RULES) == len(DEFAULT_DENY)
