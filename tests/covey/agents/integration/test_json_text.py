"""Edits of JSON as text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.integration.json_text import Text, blanked


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "new": 1\n}'),
        ('{"a":1}', '{"a":1,"new":1}'),
        ('{"a": 1,\n   "b": 2}', '{"a": 1,\n   "b": 2,\n"new": 1}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"new": 1\n}\n'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "new": 1\r\n}'),
    ],
)
def test_a_member_is_added_in_the_style_of_its_neighbours(before: str, after: str) -> None:
    text = Text(before)
    text.put((), "new", 1)
    assert text.text == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ('{"a": 1, "b": 2, "c": 3}', ("b",), '{"a": 1, "c": 3}'),
        ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
        ('{\n  "a": 1\n}', ("a",), "{}"),
        ("[\n  1,\n  2\n]", (1,), "[\n  1\n]"),
        ('{"a": [1], "a": [2, 3]}', ("a", 0), '{"a": [1], "a": [3]}'),
    ],
)
def test_a_part_is_taken_out_with_its_comma(before: str, path: tuple[str | int, ...], after: str) -> None:
    text = Text(before)
    text.delete(path)
    assert text.text == after


def test_a_comment_beside_the_last_part_stays() -> None:
    text = Text('{\n  // mine\n  "a": 1\n}', comments=True)
    text.delete(("a",))
    assert "// mine" in text.text
    text.put((), "b", 2)
    assert text.value == {"b": 2}
    assert "// mine" in text.text


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    assert blanked('{"a": "// no", /* x */ "b": "\\"/*", // y\n}') == '{"a": "// no",         "b": "\\"/*"      \n}'


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", '{"a": NaN}', "{} x"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are the standard library's
        Text(text)


VALUES = st.recursive(
    st.integers() | st.text(max_size=5),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=3), one, max_size=3),
)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), st.sampled_from([None, 1, "\t"]), VALUES)
def test_adding_and_taking_out_is_as_if_nothing_had_happened(
    document: dict[str, object], indent: int | str | None, value: object
) -> None:
    before = json.dumps(document, indent=indent)
    text = Text(before)
    text.put((), "new name", value)
    assert text.value == {**document, "new name": value}
    text.delete(("new name",))
    assert text.text == before
