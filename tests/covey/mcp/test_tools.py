"""Tools as they follow from the contract: names, schemas, and what is never one."""

from __future__ import annotations

import re

import pytest

from covey.contract import OPERATIONS, Operation, mesh_services
from covey.kernel.http.openapi import input_schema
from covey.mcp import tools
from covey.mcp.settings import SETTINGS
from covey.mcp.tools import CURATED, OFFERABLE, offered

NOT_FOR_AGENTS = {"up", "down", "config.set", "config.unset", "hooks", "watch", "beat", "integrate", "target.remove"}
ACTING = {operation.name for operation in OPERATIONS if operation.mutating}


def test_some_are_offered_and_all_of_them_only_when_wanted() -> None:
    reading = offered([], act=False)
    assert list(reading) == [name for one, name in CURATED.items() if one not in ACTING]
    assert set(offered([], act=True)) == set(CURATED.values())
    assert {tool.operation.name for tool in offered(["all"], act=True).values()} == set(OFFERABLE)
    assert set(offered(["list.windows", "kill"], act=False)) - set(reading) == {"list_windows"}
    assert set(offered(["kill"], act=True)) - set(offered([], act=True)) == {"kill"}


def test_names_are_short_plain_and_unique() -> None:
    names = [tool.name for tool in OFFERABLE.values()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9_]{1,40}", name) for name in names)


def test_what_is_not_for_agents_is_never_a_tool() -> None:
    assert not NOT_FOR_AGENTS & set(OFFERABLE)
    assert all(operation.mcp and not operation.consent for operation in OPERATIONS if operation.name in OFFERABLE)
    decision = Operation("approve", "Approve.", cli=["approve"], route="/v1/approve", consent=True)
    assert not tools._offerable(decision)


def test_schemas_allow_what_the_operation_takes_and_nothing_of_the_command_line() -> None:
    schema = input_schema(OFFERABLE["send"].operation)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["ref"]
    assert not {"file", "as_command"} & set(schema["properties"])
    view = OFFERABLE["view"].output_schema["properties"]["data"]
    assert "coloured" not in view["properties"]
    assert "coloured" not in view["required"]


def test_tools_of_a_mesh_may_name_it_and_none_admits_or_removes_members() -> None:
    found = {name for name in OFFERABLE if name.startswith("mesh.")}
    services = {operation.name for operation in mesh_services.OPERATIONS}
    assert found - services == {"mesh.send", "mesh.topic.post", "mesh.inbox", "mesh.peers", "mesh.search"}
    for name in found:
        schema = input_schema(OFFERABLE[name].operation)
        assert "mesh" in schema["properties"]
        assert "mesh" not in schema["required"]
        assert not {"file", "follow"} & set(schema["properties"])


def test_descriptions_are_those_of_the_contract() -> None:
    described = OFFERABLE["list.panes"].description
    assert described.startswith("List every agent, those that need you first.")
    assert "Call it to see which agents run" in described
    assert "never longer than 50s" in OFFERABLE["wait"].description


@pytest.mark.parametrize("value", [["all"], ["kill", "list.windows"], []])
def test_tools_can_be_added_by_the_names_of_operations(value: list[str]) -> None:
    assert SETTINGS[1].objection(value) == ""


@pytest.mark.parametrize("value", [["config.set"], ["nonsense"], ["down", "kill"]])
def test_what_cannot_be_a_tool_cannot_be_added(value: list[str]) -> None:
    assert value[0] in SETTINGS[1].objection(value)
