"""JSON as the value of a parameter: its depth has one bound, whichever way it comes."""

from __future__ import annotations

from typing import Any

import pytest

from covey.contract import Operation, Parameter
from covey.kernel import given_json
from covey.kernel.operations.validate import validate
from murli import AgentError

OPERATION = Operation(
    "try",
    "Tries.",
    cli=["try"],
    parameters=[
        Parameter("filter", "A filter.", type="object", content="raw"),
        Parameter("value", "A value.", type="json", content="raw"),
    ],
)


def nested(depth: int) -> str:
    return '{"a":[' * (depth // 2) + "]}" * (depth // 2)


def refused(given: dict[str, Any], *, textual: bool) -> AgentError:
    with pytest.raises(AgentError) as raised:
        validate(OPERATION, given, textual=textual, partial=True)
    assert raised.value.code == 1
    return raised.value


def test_an_object_may_come_as_json_or_as_its_text() -> None:
    for textual, given in ((False, {"a": [1, None]}), (True, '{"a": [1, null]}')):
        assert validate(OPERATION, {"filter": given}, textual=textual, partial=True) == {"filter": {"a": [1, None]}}
    for textual, wrong in ((False, '{"a": 1}'), (False, [1]), (True, "[1]"), (True, "{'a': 1}"), (True, "")):
        assert "expected a JSON object" in refused({"filter": wrong}, textual=textual).message


@pytest.mark.parametrize("depth", [given_json.DEEPEST + 2, 5000, 200_000])
@pytest.mark.parametrize("name", ["filter", "value"])
def test_what_is_nested_too_deeply_is_an_error_of_its_sender(name: str, depth: int) -> None:
    error = refused({name: nested(depth)}, textual=True)
    assert (error.error, error.field) == ("invalid_input", name)
    assert error.message == f"{name!r} is nested too deeply"


def test_the_bound_is_the_same_for_json_and_for_its_text() -> None:
    for depth, fits in ((given_json.DEEPEST, True), (given_json.DEEPEST + 2, False)):
        text = nested(depth)
        value: Any = []
        for _ in range(depth // 2 - 1):
            value = [{"a": value}]
        value = {"a": value}
        if fits:
            assert validate(OPERATION, {"filter": text}, textual=True, partial=True) == {"filter": value}
            assert validate(OPERATION, {"filter": value}, partial=True) == {"filter": value}
        else:
            assert refused({"filter": value}, textual=False).message == refused({"filter": text}, textual=True).message
