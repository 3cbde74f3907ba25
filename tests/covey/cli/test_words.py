from __future__ import annotations

import pytest

from covey.cli import expanded
from covey.cli.build import build
from covey.cli.words import first_verb, named, typed_agent, unaliased
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
    assert typed_agent(words, PANES) == expected


def test_where_kinds_of_agents_cannot_be_chosen_agent_stays_what_it_is() -> None:
    other = Operation("x", "X.", cli=["x"], route="/v1/x", parameters=[Parameter("key", "K.", positional=True)])
    assert typed_agent(["x", "--agent", "value"], other) == ["x", "--agent", "value"]
    assert typed_agent(["x", "--agent", "value"], None) == ["x", "--agent", "value"]


@pytest.mark.parametrize(
    ("words", "place"),
    [(["ps"], 0), (["--agent", "ps"], 1), (["--output", "json", "ps"], 2), (["--output=json", "ps"], 1), ([], 0)],
)
def test_the_verb_is_found_behind_flags(words: list[str], place: int) -> None:
    assert first_verb(words) == place


def test_an_alias_of_one_word_is_left_to_the_parser() -> None:
    assert expanded(["start", "--foreground"]) == ["start", "--foreground"]
    words, operation = unaliased(["stop"], 0)
    assert words == ["stop"]
    assert operation is not None
    assert operation.name == "down"


def test_json_is_a_form_of_output_unless_it_stands_behind_the_end_of_flags() -> None:
    assert expanded(["status", "--json", "--", "--json"]) == ["status", "--output", "json", "--", "--json"]


def test_words_that_name_nothing_are_left_alone() -> None:
    assert named(["nonsense"], 0) is None
    assert named([], 0) is None
    assert expanded(["nonsense", "--agent", "x"]) == ["nonsense", "--agent", "x"]


def test_help_shows_a_percent_sign_as_it_is() -> None:
    why = next(operation for operation in fleet.OPERATIONS if operation.name == "why")
    assert "%14" in build([why])._subparsers._group_actions[0].choices["why"].format_help()  # type: ignore[union-attr, index]
