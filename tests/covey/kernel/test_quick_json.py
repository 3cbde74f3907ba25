"""JSON of answers, read without the `json` package."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel import quick_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.sampled_from([None, 2]))
def test_it_reads_what_json_reads(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert quick_json.loads(text) == json.loads(text)
    assert quick_json.loads(f" {text}\n".encode()) == value


@pytest.mark.parametrize("text", ["", " ", "{", "[1,]", '{"a" 1}', "1 2", "nul", '"\n"', b"\xff", '{"a": 1}}'])
def test_what_is_not_json_is_an_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own sentence
        quick_json.loads(text)


def test_too_deep_a_document_is_an_error() -> None:
    with pytest.raises(RecursionError):
        quick_json.loads("[" * 100_000)
