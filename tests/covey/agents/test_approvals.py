"""What agents ask in their hooks, read from what real agents sent, and how each is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.agents.approvals import PermissionRequest
from covey.agents.registry import APPROVALS
from covey.fleet.approvals.answers import chosen
from murli import AgentError
from tests.captured import FOLDER

ASKED = {
    "claude": {"Bash", "Write", "Edit", "WebFetch", "mcp__lab__ping", "AskUserQuestion", "ExitPlanMode", "Read"},
    "codex": {"Bash", "apply_patch", "request_user_input"},
    "copilot": {"bash", "edit"},
}


def payloads(agent: str) -> list[dict[str, Any]]:
    files: list[Path] = sorted(FOLDER.glob(f"{agent}/*/*/hooks.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def requests(agent: str) -> list[PermissionRequest]:
    found = [APPROVALS[agent].read(payload) for payload in payloads(agent)]
    return [request for request in found if request is not None]


def test_claude_codex_copilot_and_opencode_can_be_answered() -> None:
    assert set(APPROVALS) == {"claude", "codex", "copilot", "opencode"}


def opencode(version: str) -> list[PermissionRequest]:
    """The requests of real sessions of opencode, as our plugin asks for a decision about them."""
    files: list[Path] = sorted(FOLDER.glob(f"opencode/{version}/*/hooks.jsonl"))
    return [request for file in files for request in asked_of_opencode(file)]


def asked_of_opencode(file: Path) -> Iterator[PermissionRequest]:
    events = [json.loads(line) for line in file.read_text().splitlines()]
    calls: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["hook_event_name"] == "tool.execute.before":
            given = event["input"]
            calls[given["callID"]] = {"tool_name": given["tool"], "tool_input": event["output"]["args"]}
        about = event.get("properties", {}).get("tool") or {}
        call = calls.get(about.get("callID", ""), {})
        payload = {**event, **call, "hook_event_name": "PermissionRequest", "cwd": "/lab/project"}
        found = APPROVALS["opencode"].read(payload)
        if found is not None:
            yield found


def test_requests_of_opencode_are_read_whole_and_answered_by_calls_of_its_api() -> None:
    found = opencode("1.18.33")
    shell = next(one for one in found if "marker" in one.command)
    edit, question = (next(one for one in found if one.tool == tool) for tool in ("edit", "question"))
    assert shell.command.splitlines()[0] == "touch marker && sleep 3"
    assert '• patterns: ["touch marker", "sleep 3"]' in shell.command.splitlines()
    assert shell.call.command == "touch marker && sleep 3"
    assert "+written by the lab" in edit.command
    assert edit.call.paths == ("notes.txt",)
    assert question.command.splitlines()[1:] == [
        "  1. First",
        "     | The first way",
        "  2. Second",
        "     | The second way",
        '  • header: "Choice"',
    ]
    agent, url = APPROVALS["opencode"], f"/permission/{shell.call_id}/reply"
    assert agent.allow(shell, always=False) == {"url": url, "body": {"reply": "once"}}
    assert agent.allow(shell, always=True) == {"url": url, "body": {"reply": "always"}}
    assert agent.deny(shell, "no") == {"url": url, "body": {"reply": "reject", "message": "no"}}
    assert [rule["ruleContent"] for rule in shell.suggestions[0]["rules"]] == ["touch *", "sleep *"]
    assert agent.answer(question, ["Second"])["body"] == {"answers": [["Second"]]}
    about = {"requestID": shell.call_id}
    replied = {"hook_event_name": "event", "type": "permission.replied", "properties": about}
    assert agent.ended_call(replied) == shell.call_key
    by_reply = {
        reply: agent.ran_call({**replied, "properties": {**about, "reply": reply}})
        for reply in ("once", "always", "reject")
    }
    assert by_reply == {"once": shell.call_key, "always": shell.call_key, "reject": None}


def test_a_command_that_opencode_itself_does_not_tell_is_known_from_the_input_of_its_tool() -> None:
    shells = [one for one in opencode("1.1.65") if one.tool == "bash"]
    assert {one.call.command for one in shells} >= {"touch marker && sleep 3"}
    assert not any(one.call.unread for one in shells)


@pytest.mark.parametrize("name", ["../x", "a/b", "", None, 5])
def test_an_id_of_opencode_that_could_be_another_path_is_no_request(name: object) -> None:
    asked = {"hook_event_name": "PermissionRequest", "type": "permission.asked", "properties": {"id": name}}
    assert APPROVALS["opencode"].read(asked) is None


@pytest.mark.parametrize("agent", ASKED)
def test_every_request_of_a_real_agent_is_read_whole(agent: str) -> None:
    found = requests(agent)
    named = [one for one in payloads(agent) if "ermissionRequest" in json.dumps(one)]
    assert len(found) >= len(named) > 0
    assert {one.tool for one in found} <= ASKED[agent]
    for one in found:
        assert one.command
        assert one.folder == "/lab/project"
        assert one.hidden == (agent != "claude" or one.helper)
        for value in one.input.values():
            if isinstance(value, str) and one.tool in {"Bash", "bash", "apply_patch"} and "\n" in value:
                assert value in one.command


def test_a_change_of_a_file_is_shown_with_what_goes_and_what_comes() -> None:
    edit = next(one for one in requests("claude") if one.tool == "Edit")
    assert edit.command == "/lab/project/notes.txt\n- written\n+ changed\n• replace_all: false"
    write = next(one for one in requests("claude") if one.tool == "Write")
    assert write.command == "/lab/project/notes.txt\n+ written by the lab"
    assert write.call.paths == ("/lab/project/notes.txt",)
    patch = next(one for one in requests("codex") if one.tool == "apply_patch")
    assert patch.call.paths == ("notes.txt",)
    assert "+written by the lab" in next(one for one in requests("copilot") if one.tool == "edit").command


@pytest.mark.parametrize("agent", [*ASKED, "opencode"])
@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {},
        {"hook_event_name": 1},
        {"hook_event_name": {}},
        {"hook_event_name": ["PostToolUse"]},
        {"hookName": ["permissionRequest"]},
        {"hook_event_name": "event", "type": {}, "properties": {"reply": []}},
        "x",
    ],
)
def test_what_is_no_request_is_not_read_as_one(agent: str, payload: object) -> None:
    assert APPROVALS[agent].read(payload) is None
    assert APPROVALS[agent].ended_call(payload) is None
    assert APPROVALS[agent].ran_call(payload) is None


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_request_without_any_form_is_still_a_request(agent: str) -> None:
    one = APPROVALS[agent].read({"hook_event_name": "PermissionRequest", "tool_name": 5, "tool_input": [1]})
    assert one is not None
    assert (one.tool, one.input, one.command) == ("5", {"tool_input": [1]}, "• input: [1]")
    assert one.call.unread


def test_copilot_that_allows_everything_is_known_by_its_command_line() -> None:
    copilot = APPROVALS["copilot"]
    assert copilot.allows_all(["node\0/x/copilot\0--allow-all-tools\0"])
    assert not copilot.allows_all(["node\0/x/copilot\0--allow-tool=shell(ls)\0", ""])
    assert not APPROVALS["claude"].allows_all(["--allow-all-tools"])


def test_an_answer_must_fit_its_questions() -> None:
    question = next(one for one in requests("claude") if one.questions)
    assert chosen(question.questions, ["second"], None) == ["Second"]
    assert chosen(question.questions, ["1"], None) == ["First"]
    assert chosen(question.questions, [], "neither") == ["neither"]
    for options in (["3"], ["0"], ["Third"], ["First", "Second"], ["First,Second"]):
        with pytest.raises(AgentError):
            chosen(question.questions, options, None)
