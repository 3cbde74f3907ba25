"""Parameters in, checked values out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.contract import Operation, Parameter
from covey.kernel.operations.validate import validate
from murli import AgentError

OPERATION = Operation(
    "try",
    "Tries.",
    cli=["try"],
    parameters=[
        Parameter("count", "How many.", type="int", minimum=0, maximum=10),
        Parameter("at_least", "No upper end.", type="int", minimum=3),
        Parameter("any_number", "Any.", type="int"),
        Parameter("share", "A share.", type="float"),
        Parameter("really", "Whether.", type="bool", default=False),
        Parameter("mode", "Which.", enum=["fast", "safe"]),
        Parameter("tags", "Tags.", multiple=True),
        Parameter("token", "Secret.", sensitive=True, enum=["a"]),
        Parameter("name", "Name."),
    ],
)


def refused(given: dict[str, Any], *, textual: bool = False) -> AgentError:
    with pytest.raises(AgentError) as raised:
        validate(OPERATION, given, textual=textual)
    assert raised.value.suggestion
    assert raised.value.code == 1
    return raised.value


def test_defaults_are_filled_in_unless_only_a_part_is_wanted() -> None:
    whole = validate(OPERATION, {"count": 1})
    assert (whole["count"], whole["really"], whole["tags"], whole["name"]) == (1, False, [], None)
    assert validate(OPERATION, {"count": 1}, partial=True) == {"count": 1}


def test_text_is_converted_strictly() -> None:
    given = {"count": "7", "any_number": "-5", "share": "2.5", "really": "true", "tags": ["a", "b"], "at-least": "3"}
    values = validate(OPERATION, given, textual=True, partial=True)
    assert values == {"count": 7, "any_number": -5, "share": 2.5, "really": True, "tags": ["a", "b"], "at_least": 3}
    assert validate(OPERATION, {"tags": "one"}, textual=True, partial=True) == {"tags": ["one"]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (name, text)
        for name in ("count", "any_number")
        for text in ("", "-", "--1", "+1", "1.0", "1_0", " 1", "\u0661", "\u00b2", "0x1", "9" * 5000, str(2**63))
    ]
    + [("share", text) for text in ("", "nan", "inf", "-Infinity", "1e999", "1_0", " 1", "1,5")]
    + [("really", text) for text in ("", "True", "1", "yes")]
    + [("mode", "quick"), ("count", "11"), ("count", "-1"), ("name", "a\0b")],
)
def test_text_that_is_not_quite_a_value_is_refused(name: str, text: str) -> None:
    assert refused({name: text}, textual=True).field == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", "1"), ("count", True), ("count", 1.5), ("count", None), ("count", [1]), ("any_number", 2**63),
         ("any_number", 10**400),
        ("share", "1"), ("share", float("nan")), ("share", float("inf")), ("share", 10**400), ("share", False),
        ("really", 1), ("really", "true"), ("really", None), ("name", 1), ("name", ["a"]), ("name", {}), ("tags",
         [None]), ("tags", 1), ("mode", "x"),
    ],
)  # fmt: skip
def test_json_of_another_type_is_refused(name: str, value: object) -> None:
    assert refused({name: value}).field == name


def test_a_whole_number_may_be_written_with_a_point() -> None:
    value = validate(OPERATION, {"count": 2.0}, partial=True)["count"]
    assert (value, type(value)) == (2, int)


def test_a_value_given_twice_is_refused_unless_it_may_be_repeated() -> None:
    assert "more than once" in refused({"name": ["a", "b"]}, textual=True).message
    assert "more than once" in refused({"at-least": "4", "at_least": "5"}, textual=True).message


def test_what_was_expected_is_said_with_the_ends_that_there_are() -> None:
    assert "a whole number from 0 to 10" in refused({"count": 11}).message
    assert refused({"at_least": 1}).message.endswith("a whole number from 3")
    assert refused({"mode": "x"}).valid_values == ["fast", "safe"]


def test_a_sensitive_value_is_not_repeated() -> None:
    assert "hunter2" not in refused({"token": "hunter2"}).message


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    assert refused({"cuont": 1}).suggestion == "Did you mean count?"


@given(
    st.dictionaries(
        st.sampled_from([parameter.name for parameter in OPERATION.parameters]),
        st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists),
    )
)
def test_whatever_is_given_is_checked_or_refused(given: dict[str, Any]) -> None:
    for textual in (False, True):
        try:
            values = validate(OPERATION, given, textual=textual)
        except AgentError:
            continue
        assert set(values) == {parameter.name for parameter in OPERATION.parameters}
        assert (
            validate(
                OPERATION, {name: value for name, value in values.items() if value is not None}, partial=True
            ).items()
            <= values.items()
        )
