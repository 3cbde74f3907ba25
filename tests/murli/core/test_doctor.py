"""Self-checks and naming advice."""

from __future__ import annotations

from typing import Any

import pytest

from murli._core.builtin import document
from murli._core.command import Command
from murli._core.doctor import COMMAND_NAMES, FLAG_NAMES, advisories, readable, self_check
from murli._core.metadata import Example, Metadata
from murli._core.schema import describe
from murli._core.tool import Tool
from tests.murli.core.conftest import Sketch, flag


def described(*commands: Command, **root: Any) -> dict[str, Any]:
    return describe(Sketch(children=commands, **root), list(commands), None)


def good() -> Sketch:
    return Sketch(
        "delete", summary="Delete one.", metadata=Metadata(mutating=True, examples=[Example(command="roost delete x")])
    )


def statuses(found: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["status"] for check in found["checks"]}


def test_a_good_tool_passes_every_check() -> None:
    found = self_check(described(good()))
    assert set(statuses(found).values()) == {"pass"}
    assert (found["passed"], found["warnings"], found["failed"]) == (4, 0, 0)
    assert not any("message" in check for check in found["checks"])


def test_commands_without_a_summary_are_a_warning_with_their_names() -> None:
    found = self_check(described(good(), Sketch("odd"), Sketch("told", metadata=Metadata(agent_description="Does."))))
    assert statuses(found)["command_metadata"] == "warn"
    assert (
        next(check for check in found["checks"] if check["name"] == "command_metadata")["message"]
        == "commands missing description: [odd]"
    )


def test_commands_deep_in_the_tree_are_checked_too() -> None:
    found = self_check(described(Sketch("nest", summary="Nests.", children=[Sketch("odd")])))
    assert "odd" in next(check for check in found["checks"] if check["name"] == "command_metadata")["message"]


def test_a_mutating_command_without_an_example_is_a_warning() -> None:
    found = self_check(described(Sketch("delete", summary="Delete.", metadata=Metadata(mutating=True))))
    assert statuses(found)["mutating_examples"] == "warn"
    assert (found["passed"], found["warnings"]) == (3, 1)


@pytest.mark.parametrize(("key", "value", "check"), [("schema_version", "0.9", "schema_version")])
def test_a_document_of_another_version_fails(key: str, value: str, check: str) -> None:
    found = self_check({**described(good()), key: value})
    assert statuses(found)[check] == "fail"
    assert found["failed"] == 1


def test_a_document_without_output_formats_fails() -> None:
    broken = described(good())
    broken["capabilities"]["output_formats"] = []
    assert statuses(self_check(broken))["output_formats"] == "fail"


def test_the_author_is_not_warned_about_commands_that_murli_adds() -> None:
    root = Sketch(flags=[flag("--region", profileable=True)], children=[good()])
    assert self_check(document(Tool(root, "")))["warnings"] == 0


def test_the_report_for_people_is_a_line_a_check_and_a_sum() -> None:
    found = self_check(described(good(), Sketch("odd")))
    assert readable(found).splitlines() == [
        "✓ schema_version",
        "✓ output_formats",
        "! command_metadata: commands missing description: [odd]",
        "✓ mutating_examples",
        "",
        "3 passed, 1 warnings, 0 failed",
    ]


@pytest.mark.parametrize(("odd", "usual"), [(odd, usual) for usual, odds in COMMAND_NAMES.items() for odd in odds])
def test_an_unusual_command_name_comes_with_the_usual_one(odd: str, usual: str) -> None:
    assert advisories(described(Sketch("nest", children=[Sketch(odd)]))) == [
        f'[murli advisory] command "{odd}": prefer "{usual}" (conventional vocabulary)'
    ]


@pytest.mark.parametrize(("odd", "usual"), [(odd, usual) for usual, odds in FLAG_NAMES.items() for odd in odds])
def test_an_unusual_flag_name_comes_with_the_usual_one(odd: str, usual: str) -> None:
    expected = [f"[murli advisory] flag --{odd}: prefer --{usual} (conventional vocabulary)"]
    assert advisories(described(Sketch("list", flags=[flag(f"--{odd}")]))) == expected
    assert advisories(described(Sketch("list"), flags=[flag(f"--{odd}")])) == expected


def test_usual_names_need_no_advice() -> None:
    commands = [Sketch(name, flags=[flag(f"--{known}") for known in FLAG_NAMES]) for name in COMMAND_NAMES]
    assert advisories(described(*commands)) == []


def test_murlis_own_commands_follow_their_own_advice() -> None:
    root = Sketch(flags=[flag("--region", profileable=True)], children=[good()])
    assert advisories(document(Tool(root, ""))) == []


def test_each_name_is_told_once() -> None:
    tree = described(Sketch("a", children=[Sketch("rm")]), Sketch("b", children=[Sketch("rm")]))
    assert len(advisories(tree)) == 1
