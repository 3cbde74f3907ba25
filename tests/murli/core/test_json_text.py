"""Indented JSON is the same as that of the `json` package."""

from __future__ import annotations

import enum
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli._core.json_text import indented

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False), inner)
    ),
)


class Level(enum.IntEnum):
    HIGH = 3


class Name(enum.StrEnum):
    WREN = "wren"


def by_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str)


@given(VALUES)
def test_any_value_is_written_as_json_writes_it(value: object) -> None:
    try:
        expected = by_json(value)
    except ValueError:  # an infinite key
        with pytest.raises(ValueError, match="Out of range"):
            indented(value, str)
    else:
        assert indented(value, str) == expected


@pytest.mark.parametrize(
    "value", [Level.HIGH, Name.WREN, {Name.WREN: Level.HIGH}, [object], {"a": {}, "b": []}, "\ud800\x7f"]
)
def test_subclasses_and_what_needs_a_conversion_are_written_as_json_writes_them(value: object) -> None:
    assert indented(value, str) == by_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_a_number_that_json_lacks_is_an_error(value: object) -> None:
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        indented(value, str)


def test_a_key_that_json_lacks_is_an_error() -> None:
    with pytest.raises(TypeError, match="keys must be str, int, float, bool or None, not tuple"):
        indented({(1, 2): 3}, str)


def test_a_value_that_holds_itself_is_an_error() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecursionError):
        indented(value, str)
