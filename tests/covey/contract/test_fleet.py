"""What the contract of the fleet promises, apart from whether it is served yet."""

from __future__ import annotations

import os
import re

import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from covey.agents.registry import INTEGRATIONS
from covey.cli.commands import ContractAdapter
from covey.cli.help import page as help_page
from covey.contract import GROUPS, fleet
from covey.contract.fleet_shapes import STATES
from covey.contract.operation import Operation
from covey.contract.reference import page
from covey.contract.targets import TARGETS
from covey.fleet.answers import bar
from covey.fleet.state import model
from covey.kernel.http.openapi import document
from murli import self_check
from murli.adapter import Command, describe

OPERATIONS = (*fleet.OPERATIONS, *(operation for operation in TARGETS if operation not in fleet.OPERATIONS))

ROW = {"socket", "cwd", "state", "agent-type", "needs-action"}


def by_name(name: str) -> Operation:
    return next(operation for operation in OPERATIONS if operation.name == name)


def flags(name: str) -> set[str]:
    return {parameter.flag for parameter in by_name(name).parameters if not parameter.positional}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("list.panes", {"target", "all-targets", "target-session", "session", *ROW, "sort", "wide"}),
        ("list.windows", {"target", "all-targets", "target-session", "session", "socket", "with-agent-status"}),
        ("list.sessions", {"target", "all-targets", "socket", "agent-summary", "group-by"}),
        (
            "watch",
            {
                "target",
                "all-targets",
                "target-session",
                "session",
                *ROW,
                "scope",
                "format",
                "interval",
                "since",
                "once",
            },
        ),
        ("wait", {"any", "all", "state", "timeout"}),
        ("adapters.explain", {"pane", "screen", "redact", "title", "agent-version"}),
        ("integrate", {"remove", "any-version", "verbose"}),
        ("target.add", {"kind", "ssh-target"}),
    ],
)
def test_the_flags_are_those_that_people_were_promised(name: str, expected: set[str]) -> None:
    assert flags(name) == expected


def test_states_and_formats_are_the_same_everywhere() -> None:
    assert tuple(STATES) == model.STATES
    form = by_name("bar").parameter("format")
    assert form is not None
    assert form.enum == bar.FORMATS


def test_the_agents_that_can_be_integrated_are_those_that_the_contract_names() -> None:
    agent = by_name("integrate").parameter("agent")
    assert agent is not None
    assert agent.enum == tuple(INTEGRATIONS)


@pytest.mark.parametrize("columns", [50, 60, 80])
def test_help_breaks_between_words_and_tells_choices_and_aliases(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((columns, 24)))
    root = ContractAdapter(OPERATIONS).root
    page = help_page(root, "covey")
    assert re.search(r"\n  ps +List every agent,", page)
    wait, watch = root.find("wait"), root.find("watch")
    assert wait is not None
    assert watch is not None
    waiting = help_page(wait, "covey wait")
    assert "needs you, is done or is gone" in " ".join(waiting.split())
    assert "panes (default), windows" in " ".join(help_page(watch, "covey watch").split())
    for shown in (page, waiting):
        assert all(len(line) <= columns or " " not in line.strip() for line in shown.splitlines())
    told = next(operation for operation in OPERATIONS if operation.name == "wait").description
    assert set(told.split()) <= set(waiting.split())


def test_every_operation_is_one_of_its_own() -> None:
    operations = [operation for operation in OPERATIONS if not operation.local]
    assert len({operation.name for operation in operations}) == len(operations)
    assert len({(operation.method, operation.route) for operation in operations}) == len(operations)
    for operation in operations:
        assert operation.route.startswith("/v1/"), operation.name
        assert operation.summary.endswith("."), operation.name
        assert len(operation.cli) < 2 or operation.cli[0] in fleet.GROUPS, operation.name


def test_only_removing_a_target_needs_a_confirmation_and_reading_changes_nothing() -> None:
    assert [operation.name for operation in OPERATIONS if operation.destructive] == ["target.remove"]
    assert [operation.name for operation in OPERATIONS if operation.mutating and operation.guard] == ["target.remove"]
    assert all(operation.idempotent for operation in OPERATIONS if not operation.mutating)


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Command:
    for name, text in fleet.GROUPS.items():
        monkeypatch.setitem(GROUPS, name, text)
    return ContractAdapter(OPERATIONS).root


def test_the_hooks_endpoint_is_for_programs_only(root: Command) -> None:
    hooks = by_name("hooks")
    assert (hooks.method, hooks.route, hooks.payload, hooks.cli) == ("POST", "/v1/hooks/{agent}", True, ())
    assert "\n  hooks" not in help_page(root, "covey")


def test_the_verbs_can_be_built_and_describe_themselves_well(root: Command) -> None:
    checked = self_check(describe(root))
    assert [check for check in checked["checks"] if check["status"] == "fail"] == []


def test_the_openapi_document_and_the_reference_page_can_be_drawn() -> None:
    jsonschema_rs.validate(OPENAPI_31, document(OPERATIONS))
    shown = page(OPERATIONS)
    assert "## covey list panes" in shown
    assert "Also: `covey ps`" in shown
    assert "## hooks (for programs)" in shown


def test_results_are_schemas() -> None:
    for operation in OPERATIONS:
        assert jsonschema_rs.meta.is_valid(operation.result), operation.name
