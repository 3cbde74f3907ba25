"""What is explained is what is decided when an agent asks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from covey.agents.registry import APPROVALS, TOOLS
from covey.contract import OPERATIONS
from covey.fleet.approvals.policy_answer import policy_says
from covey.fleet.policy.answers import explained
from covey.policy.policy import Policy
from murli import AgentError
from tests.covey.agents.test_tools import json_values, opencode_asks
from tests.covey.fleet.approvals.conftest import claude_asks, codex_asks, copilot_asks
from tests.covey.fleet.approvals.test_policy_answer import Written
from tests.covey.fleet.samples import sample_approval
from tests.covey.policy.test_policy import commands, policies

pytestmark = pytest.mark.once  # the release of tmux makes no difference

EXPLAIN = next(one for one in OPERATIONS if one.name == "policy.explain")
FOLDER = "/srv"
texts = st.sampled_from(["src/a.py", "~/.ssh/id", "x", "/etc/passwd", "*** Begin Patch\n*** Update File: src/x\n"])


def payload(agent: str, tool: str, found: object) -> dict[str, Any]:
    """What the hook of an agent sends."""
    named = {"tool_name": tool, "tool_input": found, "cwd": FOLDER}
    if agent == "copilot":
        return {**copilot_asks(), "toolName": tool, "toolInput": found, "cwd": FOLDER}
    if agent == "opencode":
        permission = TOOLS[agent].asked_as.get(tool, tool)
        about = {"id": "per_1", "permission": permission, "metadata": {"command": "x"} if tool == "bash" else {}}
        if isinstance(found, dict) and isinstance(found.get("command"), str) and found["command"]:
            about["metadata"] = {"command": found["command"]} if tool == "bash" else {}
        elif tool == "bash":
            about["metadata"] = {}
        return opencode_asks(**named, properties=about)
    return {**(claude_asks() if agent == "claude" else codex_asks()), **named}


def explain(policy: Policy, **params: object) -> str:
    defaults = {one.name: one.default for one in EXPLAIN.parameters}
    return str(explained(policy, {**defaults, "target": "host", "folder": FOLDER, **params})["effect"])


@given(policies, st.sampled_from([*APPROVALS]), st.data())
def test_what_is_explained_is_what_an_agent_is_answered(tables: list[dict[str, Any]], agent: str, data: Any) -> None:
    tool = data.draw(st.sampled_from([*TOOLS[agent].declared, "mcp__x__y", "Unknown"]))
    declared = TOOLS[agent].declared.get(tool)
    keys = [*(declared.keys if declared else ()), "command", "path", "odd"]
    found = data.draw(st.dictionaries(st.sampled_from(keys), commands | texts | json_values, max_size=4))
    if declared:
        found |= {key: data.draw(commands | texts) for key in declared.needs}
    request = APPROVALS[agent].read(payload(agent, tool, found))
    if request is None or request.questions:
        return  # nothing that a policy answers
    policy = Written(*tables)
    said = asyncio.run(policy_says(policy, replace(sample_approval(request), agent=agent)))
    expected = explain(policy.policy, agent=agent, tool=tool, input=json.dumps(found))
    assert (said.effect if said else "ask") == expected


def test_a_command_and_files_stand_for_the_input_of_the_tool() -> None:
    rules = [
        {"name": "src", "effect": "allow", "path": "src/**"},
        {"name": "git", "effect": "allow", "command": "git status"},
    ]
    policy = Policy(rules, home="/home/me")
    assert explain(policy, agent="claude", tool="Bash", command="git status") == "allow"
    assert explain(policy, command="git status") == "allow"
    assert explain(policy, path=["src/a"]) == "allow"
    assert explain(policy, tool="Write", path=["src/a"]) == "allow"
    assert explain(policy, agent="codex", tool="apply_patch", path=["src/a", "src/b"]) == "allow"
    assert explain(policy, agent="codex", tool="apply_patch", path=["src/a", "b"]) == "ask"
    assert explain(policy, agent="claude", tool="Edit", path=["src/a", "b"]) == "ask"
    assert explain(policy, agent="claude", tool="mcp__x__y", path=["src/a"]) == "ask"
    assert explain(policy, agent="nobody", tool="Bash", command="git status") == "ask"
    assert explain(policy, agent="claude") == "ask"


@pytest.mark.parametrize("params", [{"input": "["}, {"input": "[]"}, {"input": "{}", "command": "ls"}])
def test_an_input_that_is_no_object_is_refused(params: dict[str, str]) -> None:
    with pytest.raises(AgentError):
        explain(Policy([]), agent="claude", tool="Bash", **params)
