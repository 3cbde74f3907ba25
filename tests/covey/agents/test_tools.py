"""The declared tools of the agents: what real agents asked is understood whole, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.registry import APPROVALS, TOOLS
from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from tests.covey.agents.test_approvals import opencode, requests

pytestmark = pytest.mark.once  # the release of tmux makes no difference

MARKER = "*** Begin Patch\n*** Update File: src/x\n"
PATCH = "*** Begin Patch\n*** Update File: src/x\n@@\n-a\n+b\n*** End Patch"
ALLOW_ALL = [{"name": "all", "effect": "allow"}, {"name": "mcp", "effect": "allow", "tool": "mcp__*"}]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def effect(rules: list[dict[str, Any]], agent: str, tool: str, given: object, folder: str = "/srv") -> str:
    call = TOOLS[agent].read(tool, given)
    request = PolicyRequest(agent=agent, tool=tool, call=call, target="host", folder=folder)
    return Policy(rules, home="/home/me").decide(request).effect


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "opencode"])
def test_what_real_agents_asked_is_understood_whole(agent: str) -> None:
    found = opencode("1.18.33") if agent == "opencode" else requests(agent)
    asked = [one for one in found if one.kind == "approval"]
    assert asked
    assert {one.tool: one.call.unread for one in asked if one.call.unread} == {}


@pytest.mark.parametrize(
    "given",
    [
        {"command": ["touch", "x"]},
        {"command": {"0": "ls"}},
        {"command": "ls", "shell": "zsh"},
        {"command": "ls", "timeout": "1"},
        {"command": "ls", "run_in_background": 1},
        {"command": "ls", "dangerouslyDisableSandbox": True},
        {"command": "ls", "file_path": "src/x"},
        {"command": ""},
        {"description": "ls"},
        {},
        [],
        ["ls"],
        "ls",
        None,
        5,
        {"command": "ls", "description": None, "": ""},
    ],
)
def test_an_input_that_is_not_of_the_declared_form_is_never_allowed(given: object) -> None:
    assert TOOLS["claude"].read("Bash", given).unread
    assert effect(ALLOW_ALL, "claude", "Bash", given) == "ask"


@pytest.mark.parametrize(
    "tool", ["bash", "BASH", "Bash ", "", "Shell", "apply_patch", "NewTool", 5, None, ["Bash"], {}]
)
def test_a_tool_that_is_not_declared_is_never_allowed(tool: Any) -> None:
    assert TOOLS["claude"].read(tool, {"command": "ls"}).unread


def test_a_patch_in_a_command_is_a_command() -> None:
    path_rule = [{"name": "sources", "effect": "allow", "path": "src/**", "folder": "/srv"}]
    for agent, tool in (("claude", "Bash"), ("codex", "Bash"), ("copilot", "bash"), ("opencode", "bash")):
        for command in (f"touch x ; : '{MARKER}'", PATCH, f"rm -rf ~ # {MARKER}"):
            call = TOOLS[agent].read(tool, {"command": command})
            assert (call.kind, call.command, call.paths) == ("shell", command, ())
            assert effect(path_rule, agent, tool, {"command": command}) == "ask"
    assert effect(path_rule, "codex", "apply_patch", {"command": PATCH}) == "allow"
    denied = [{"name": "bash", "effect": "allow", "tool": "Bash"}, {"name": "no", "effect": "deny", "command": "rm *"}]
    assert effect(denied, "claude", "Bash", {"command": "rm -rf ~ # *** Begin Patch"}) == "deny"


def test_a_rule_with_a_path_and_no_tool_covers_files_only() -> None:
    rules = [{"name": "sources", "effect": "allow", "path": "src/**"}]
    assert effect(rules, "claude", "Edit", {"file_path": "src/a", "old_string": "a", "new_string": "b"}) == "allow"
    named = [*rules, {"name": "x", "effect": "allow", "tool": "mcp__x__*", "path": "src/**"}]
    for found in ({"path": "src/a"}, {"path": "src/a", "script": "rm"}, {"file_path": "src/a"}):
        assert effect(rules, "claude", "mcp__x__delete_repo", found) == "ask"
        assert effect(named, "claude", "mcp__x__delete_repo", found) == "ask"
    assert effect(rules, "claude", "WebFetch", {"url": "src/a", "prompt": "x"}) == "ask"


def test_a_tool_of_a_server_is_allowed_only_by_a_rule_that_names_it() -> None:
    given = {"path": "src/a"}
    for conditions in ({}, {"tool": "*"}, {"tool": "*delete*"}, {"agent": "claude"}, {"folder": "/srv"}):
        assert effect([{"name": "x", "effect": "allow", **conditions}], "claude", "mcp__x__delete", given) == "ask"
    for tool in ("mcp__x__delete", "mcp__x__*", "mcp__*"):
        assert effect([{"name": "x", "effect": "allow", "tool": tool}], "claude", "mcp__x__delete", given) == "allow"


@pytest.mark.parametrize(
    "given",
    [
        {"file": "~/.ssh/id"},
        {"paths": ["a", "~/.ssh/id"]},
        {"uri": "file:///home/me/.ssh/id"},
        {"cmd": "cat ~/.ssh/id"},
        {"deep": {"er": [{"pattern": "/home/me/.ssh/*"}]}},
        {"~/.ssh/id": "x"},
        {"path": "../home/me/.ssh/id"},
    ],
)
def test_a_path_that_is_denied_is_found_in_any_text_of_a_tool_of_a_server(given: object) -> None:
    rules = [{"name": "x", "effect": "allow", "tool": "mcp__*"}, {"name": "no", "effect": "deny", "path": "~/.ssh/"}]
    assert effect(rules, "claude", "mcp__fs__read", {"path": "src/a"}) == "allow"
    assert effect(rules, "claude", "mcp__fs__read", given) == "deny"


def test_a_command_that_is_denied_is_asked_in_any_text_of_a_tool_of_a_server() -> None:
    rules = [{"name": "x", "effect": "allow", "tool": "mcp__*"}, {"name": "no", "effect": "deny", "command": "rm *"}]
    assert effect(rules, "claude", "mcp__sh__run", {"argv": "ls"}) == "allow"
    assert effect(rules, "claude", "mcp__sh__run", {"argv": "cd /; rm -rf x"}) == "ask"


@pytest.mark.parametrize(
    "path",
    [
        " /home/me/.ssh/id", "/srv/x\n", ".env\0.txt", "file:///home/me/.ssh/id", "$HOME/.ssh/id", "~me/.ssh/id",
        "src\\.env", "a\u200bb",
    ],
)  # fmt: skip
def test_a_file_whose_name_may_mean_another_one_is_not_allowed(path: str) -> None:
    assert effect(ALLOW_ALL, "claude", "Read", {"file_path": path}) == "ask"


@pytest.mark.parametrize("path", ["/proc/self/cwd/../.ssh/id", "/proc/self/root/home/me/.ssh/id", "/dev/fd/../cwd/x"])
def test_a_link_of_the_kernel_may_lead_to_what_is_denied(path: str) -> None:
    rules = [*ALLOW_ALL, {"name": "keys", "effect": "deny", "path": "~/.ssh/"}]
    assert effect(rules, "claude", "Write", {"file_path": path, "content": "x"}) == "ask"
    assert effect(rules, "claude", "mcp__files__read", {"p": path}) in {"ask", "deny"}


def test_a_server_may_go_through_a_folder_above_what_is_denied_and_be_given_a_command_as_a_list() -> None:
    rules = [*ALLOW_ALL, {"name": "keys", "effect": "deny", "path": "~/.ssh/"}]
    assert [effect(rules, "claude", "mcp__files__tree", {"p": one}) for one in ("/home/me", "~", "/")] == ["ask"] * 3
    assert effect(rules, "claude", "mcp__files__tree", {"p": "/srv/x"}) == "allow"
    push = [*ALLOW_ALL, {"name": "push", "effect": "deny", "command": "git push*"}]
    assert effect(push, "claude", "mcp__run__it", {"args": ["git", "push"]}) == "ask"


def test_the_changes_of_a_file_have_the_declared_form() -> None:
    rules = [{"name": "src", "effect": "allow", "path": "src/**"}]
    edit = {"old_string": "a", "new_string": "b"}
    assert effect(rules, "claude", "MultiEdit", {"file_path": "src/a", "edits": [edit]}) == "allow"
    for edits in ([{**edit, "file_path": "/etc/x"}], {"0": edit}, [["a", "b"]], None, [{"old_string": 1}]):
        assert effect(rules, "claude", "MultiEdit", {"file_path": "src/a", "edits": edits}) == "ask"


def test_a_search_reaches_what_is_below_its_folder() -> None:
    rules = [{"name": "all", "effect": "allow", "tool": "Grep"}, {"name": "no", "effect": "deny", "path": "~/.ssh/"}]
    asked = {"~": "ask", "/": "ask", "/home": "ask", "~/.ssh": "deny", "src": "allow", "/srv": "allow", "../x": "ask"}
    found = {path: effect(rules, "claude", "Grep", {"pattern": "x", "path": path}) for path in asked}
    assert found == asked
    assert effect(rules, "claude", "Grep", {"pattern": "x"}, folder="/home/me") == "ask"
    inside = [{"name": "src", "effect": "allow", "path": "src/**"}]
    assert effect(inside, "claude", "Glob", {"pattern": "**/*.py", "path": "src"}) == "allow"
    for pattern in ("../*", "/etc/*", "~/x", "a/../../x"):
        assert effect(inside, "claude", "Glob", {"pattern": pattern, "path": "src"}) == "ask"


def test_a_search_of_copilot_reaches_what_is_below_each_of_its_folders() -> None:
    rules = [
        {"name": "src", "effect": "allow", "path": "src/**"},
        {"name": "lib", "effect": "allow", "path": "lib/**"},
        {"name": "no", "effect": "deny", "path": "~/.ssh/"},
    ]
    for tool in ("grep", "Grep", "glob", "Glob"):
        for paths, expected in [
            ("src", "allow"),
            (["src", "lib"], "allow"),
            (["src", "/etc"], "ask"),
            (["src", "~/.ssh"], "deny"),
            (["src", ""], "ask"),
            (["src", 5], "ask"),
            ([], "ask"),
            ({"0": "src"}, "ask"),
        ]:
            assert effect(rules, "copilot", tool, {"pattern": "*.py", "paths": paths}) == expected, (tool, paths)
        assert effect(rules, "copilot", tool, {"pattern": "x"}) == "ask", "the whole folder"
    assert effect(rules, "copilot", "grep", {"pattern": "x", "paths": "src", "glob": "../*"}) == "ask"
    assert effect(rules, "copilot", "glob", {"pattern": "/etc/*", "paths": "src"}) == "ask"


def test_what_monitors_a_command_is_a_shell() -> None:
    rules = [{"name": "log", "effect": "allow", "command": "tail *"}]
    assert effect(rules, "claude", "Monitor", {"command": "tail -f log", "timeout_ms": 5}) == "allow"
    assert effect(rules, "claude", "Monitor", {"command": "rm -r x"}) == "ask"
    assert effect(ALLOW_ALL, "claude", "Monitor", {"ws": {"url": "wss://host"}}) == "ask"
    assert effect(ALLOW_ALL, "claude", "Monitor", {"command": "ls", "ws": {"url": "wss://host"}}) == "ask"


@pytest.mark.parametrize("agent", [*TOOLS])
def test_a_tool_whose_input_does_not_tell_what_it_does_is_allowed_by_no_rule(agent: str) -> None:
    assert not TOOLS[agent].never.keys() & TOOLS[agent].declared.keys()
    for tool, why in TOOLS[agent].never.items():
        assert TOOLS[agent].read(tool, {}).unread == why
        assert effect([*ALLOW_ALL, {"name": "it", "effect": "allow", "tool": tool}], agent, tool, {}) == "ask"


@pytest.mark.parametrize(
    "change",
    [
        "diff --git a/etc/passwd b/etc/passwd\n+x",
        "diff --git a/srv/src/a b/srv/src/a\n+x\ndiff --git a/etc/passwd b/etc/passwd\n+x",
        "+x",
        "",
    ],
)
def test_a_change_that_copilot_shows_is_that_of_the_file_it_names(change: str) -> None:
    rules = [{"name": "src", "effect": "allow", "path": "src/**"}]
    good = {"file_path": "/srv/src/a", "diff": "\ndiff --git a/srv/src/a b/srv/src/a\n@@ -1 +1 @@\n-a\n+b\n"}
    assert effect(rules, "copilot", "edit", good) == "allow"
    assert effect(rules, "copilot", "edit", {**good, "diff": change}) == "ask"


def opencode_asks(**more: object) -> dict[str, Any]:
    about = {"id": "per_1", "permission": "bash", "patterns": ["ls"], "metadata": {"command": "ls"}, "always": []}
    return {
        "hook_event_name": "PermissionRequest",
        "type": "permission.asked",
        "cwd": "/srv",
        "tool_name": "bash",
        "tool_input": {"command": "ls"},
        "properties": about,
        **more,
    }


@pytest.mark.parametrize(
    "more",
    [
        {"tool_name": None, "tool_input": None},
        {"tool_input": {"command": "ls; touch x"}},
        {"tool_name": "write", "tool_input": {"filePath": "x", "content": "ls"}},
        {"tool_input": {"command": "ls", "env": {}}},
    ],
)
def test_what_opencode_asks_for_is_what_its_tool_was_given(more: dict[str, Any]) -> None:
    read = APPROVALS["opencode"].read
    good, bad = read(opencode_asks()), read(opencode_asks(**more))
    assert good
    assert bad
    assert (good.call.command, good.call.unread) == ("ls", "")
    assert bad.call.unread


def test_the_folder_in_which_a_command_runs_is_that_of_its_input() -> None:
    rules = [{"name": "make", "effect": "allow", "command": "make *", "folder": "/srv"}]
    assert effect(rules, "opencode", "bash", {"command": "make x", "workdir": "sub"}) == "allow"
    for folder in ("/etc", "..", "~", "sub/../../x"):
        assert effect(rules, "opencode", "bash", {"command": "make x", "workdir": folder}) == "ask"


@given(st.sampled_from([*TOOLS]), st.data())
def test_no_input_raises_and_none_with_a_key_that_is_not_declared_is_allowed(agent: str, data: Any) -> None:
    tools = TOOLS[agent]
    name = data.draw(st.sampled_from([*tools.declared]) | json_values)
    keys = [*tools.declared[name].keys] if isinstance(name, str) and name in tools.declared else []
    values = st.dictionaries(st.sampled_from(keys) if keys else st.text(), json_values, max_size=4)
    found = data.draw(values | json_values)
    call = tools.read(name, found)
    if not isinstance(found, dict) or not set(found) <= set(keys):
        assert call.unread or call.kind == "mcp"
    elif not call.unread:
        assert all(isinstance(found[key], str) for key in tools.declared[name].needs)
        json.dumps(found)
