"""Reading a tool's output as JSON: strict about every byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli.conformance.documents import ImpureError, holds_envelope, only_object, pure, stream

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_one_indented_document_is_pure_and_is_read_back(value: object) -> None:
    documents = pure(json.dumps(value, indent=2, ensure_ascii=True).encode() + b"\n")
    assert [document.value for document in documents] == [value]
    assert documents[0].indented


@given(st.lists(JSON, max_size=5))
def test_minified_lines_are_pure_ndjson(values: list[object]) -> None:
    raw = "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values).encode()
    documents = pure(raw)
    assert [document.value for document in documents] == values
    assert all(document.minified and document.one_line for document in documents)


@given(st.binary(max_size=40))
def test_any_bytes_are_either_documents_or_refused(raw: bytes) -> None:
    try:
        documents = stream(raw)
    except ImpureError:
        return
    assert all(json.loads(document.text) == document.value for document in documents)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'Welcome\n{"a": 1}\n', "not JSON from here on: 'Welcome"),
        (b'{"a": 1}\nDone.\n', "not JSON from here on: 'Done."),
        (b'{"a": 1} {"b": 2}\n', "two documents on one line"),
        (b'{"a": 1}{"b": 2}\n', "two documents on one line"),
        (b'{"a": 1}', "does not end with a newline"),
        (b'{"a": NaN}\n', "not JSON"),
        (b'\xef\xbb\xbf{"a": 1}\n', "not JSON"),
        (b'{"a": "\xff"}\n', "byte 7 is not UTF-8"),
        (b'{"a": "\x1b[31m"}\n', "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b'{"a":1}\n{\n  "b": 2\n}\n', "spans several lines"),
    ],
)
def test_an_impure_stream_is_refused_with_the_place_where_it_goes_wrong(raw: bytes, reason: str) -> None:
    with pytest.raises(ImpureError) as caught:
        pure(raw)
    assert reason in str(caught.value)


def test_no_output_is_no_document() -> None:
    assert pure(b"") == []


@pytest.mark.parametrize("raw", [b"", b"[]\n", b"{}\n{}\n", b"7\n"])
def test_only_an_object_is_one_object(raw: bytes) -> None:
    with pytest.raises(ImpureError):
        only_object(raw)
    assert only_object(b'{"name": "shelf"}\n') == {"name": "shelf"}


@pytest.mark.parametrize(
    "raw",
    [b'{\n    "a": 1\n}\n', b'{\n"a": 1\n}\n', b'{"a": 1}\n', b'{\n\t"a": 1\n}\n', b'{\n  "a": [\n   1\n  ]\n}\n'],
)
def test_two_spaces_a_level_is_the_only_indentation(raw: bytes) -> None:
    assert not stream(raw)[0].indented


def test_brackets_inside_strings_do_not_count_as_depth() -> None:
    assert stream(b'{\n  "a": "}]{",\n  "b": [\n    "\\"{"\n  ],\n  "c": {}\n}\n')[0].indented


def test_an_envelope_is_found_behind_other_text_and_plain_json_is_no_envelope() -> None:
    assert holds_envelope('Done.\n{\n  "schema_version": "1.0"\n}')
    assert not holds_envelope('{"title": "Dune"}\n{broken')
    assert not holds_envelope("3 books")
