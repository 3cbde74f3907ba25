from __future__ import annotations

import pytest

from covey.cli.commands import OperationCommand
from covey.cli.help import page
from covey.cli.words import expanded, operation_at, verb_place, with_agent_type, without_alias
from covey.contract import fleet
from covey.contract.operation import Operation, Parameter

PANES = next(operation for operation in fleet.OPERATIONS if operation.name == "list.panes")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--agent"], ["--agent"]),
        (["--agent", "claude"], ["--agent-type", "claude"]),
        (["--agent=claude"], ["--agent-type=claude"]),
        (["--agent", "--needs-action"], ["--agent", "--needs-action"]),
        (["--agent", "claude", "--agent"], ["--agent-type", "claude", "--agent"]),
        (["--agent", "claude", "--agent", "codex"], ["--agent-type", "claude", "--agent-type", "codex"]),
        (["--agent", "list", "panes"], ["--agent", "list", "panes"]),
        (["--agent-type", "claude"], ["--agent-type", "claude"]),
    ],
)
def test_agent_with_a_value_filters_and_alone_is_agent_mode(words: list[str], expected: list[str]) -> None:
    assert with_agent_type(words, PANES) == expected


def test_where_kinds_of_agents_cannot_be_chosen_agent_stays_what_it_is() -> None:
    other = Operation("x", "X.", cli=["x"], route="/v1/x", parameters=[Parameter("key", "K.", positional=True)])
    assert with_agent_type(["x", "--agent", "value"], other) == ["x", "--agent", "value"]
    assert with_agent_type(["x", "--agent", "value"], None) == ["x", "--agent", "value"]


@pytest.mark.parametrize(
    ("words", "place"),
    [(["ps"], 0), (["--agent", "ps"], 1), (["--output", "json", "ps"], 2), (["--output=json", "ps"], 1), ([], 0)],
)
def test_the_verb_is_found_behind_flags(words: list[str], place: int) -> None:
    assert verb_place(words) == place


def test_an_alias_of_one_word_is_left_to_the_parser() -> None:
    assert expanded(["start", "--foreground"]) == ["start", "--foreground"]
    operation = operation_at(["stop"], 0)
    assert without_alias(["stop"], 0, operation) == ["stop"]
    assert operation is not None
    assert operation.name == "down"


def test_json_is_a_form_of_output_unless_it_stands_behind_the_end_of_flags() -> None:
    assert expanded(["status", "--json", "--", "--json"]) == ["status", "--output", "json", "--", "--json"]


def test_words_that_name_nothing_are_left_alone() -> None:
    assert operation_at(["nonsense"], 0) is None
    assert operation_at([], 0) is None
    assert expanded(["nonsense", "--agent", "x"]) == ["nonsense", "--agent", "x"]


def test_help_shows_a_percent_sign_as_it_is() -> None:
    why = next(operation for operation in fleet.OPERATIONS if operation.name == "why")
    assert "%14" in page(OperationCommand(why), "covey why")
