"""Values to bytes."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import math
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli._core.errors import EXIT_TOOL_ERROR, AgentError
from murli._core.record import Record
from murli._core.wire import as_json_value, encode, envelope
from tests.murli.core.conftest import GOLDEN

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Species(enum.Enum):
    WREN = "wren"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Nest(Record):
    eggs: int
    kind: Species = Species.WREN


@dataclasses.dataclass
class Bird:
    name: str
    seen: dt.date
    nest: Nest | None = None


@dataclasses.dataclass(slots=True)
class Slim:
    name: str


@given(JSON)
def test_any_json_value_reads_back_as_it_was(value: object) -> None:
    assert json.loads(encode(value)) == value
    assert json.loads(encode(value, minified=True)) == value


@given(JSON)
def test_a_minified_document_is_one_line(value: object) -> None:
    data = encode(value, minified=True)
    assert data.count(b"\n") == 1
    assert data.endswith(b"\n")
    assert json.loads(data) == value
    assert json.loads(data) == json.loads(json.dumps(value, ensure_ascii=False))


@given(JSON)
def test_an_indented_document_ends_with_exactly_one_newline(value: object) -> None:
    data = encode(value)
    assert data.endswith(b"\n")
    assert not data.endswith(b"\n\n")


@given(JSON)
def test_a_json_value_is_what_a_reader_will_see(value: object) -> None:
    assert as_json_value(value) == value


@given(st.text(st.characters(categories=("Cs", "L", "P"))))
def test_text_with_lone_surrogates_is_valid_utf8_and_valid_json(text: str) -> None:
    for minified in (True, False):
        assert isinstance(json.loads(encode({"name": text}, minified=minified).decode("utf-8"))["name"], str)


def test_a_lone_surrogate_becomes_its_escape_and_reads_back() -> None:
    assert encode("caf\udce9 \\\udc80", minified=True) == b'"caf\\udce9 \\\\\\udc80"\n'
    assert as_json_value("caf\udce9 \\\udc80") == "caf\udce9 \\\udc80"


def test_nothing_is_escaped_for_html_and_nothing_for_ascii() -> None:
    assert (
        encode({"q": "<a href='x'>&</a>", "ø": "naïve 🐦"}, minified=True)
        == '{"q":"<a href=\'x\'>&</a>","ø":"naïve 🐦"}\n'.encode()
    )


def test_json_is_indented_by_two_spaces_and_empty_containers_stay_on_their_line() -> None:
    assert (
        encode({"a": [1, {"b": []}], "c": {}})
        == b'{\n  "a": [\n    1,\n    {\n      "b": []\n    }\n  ],\n  "c": {}\n}\n'
    )


def test_control_characters_are_escaped() -> None:
    assert encode("a\x00\x1b[31m\n", minified=True) == b'"a\\u0000\\u001b[31m\\n"\n'


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (Nest(eggs=2), {"eggs": 2, "kind": "wren"}),
        (
            Bird("Pip", dt.date(2026, 1, 2), Nest(eggs=1)),
            {"name": "Pip", "seen": "2026-01-02", "nest": {"eggs": 1, "kind": "wren"}},
        ),
        (Slim("Pip"), {"name": "Pip"}),
        (Species.WREN, "wren"),
        (Species.PAIR, [1, 2]),
        (Level.HIGH, 3),
        (Word.YES, "yes"),
        (dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC), "2026-01-02T03:04:05+00:00"),
        (dt.time(3, 4), "03:04:00"),
        (Path("/tmp") / "x", "/tmp/x"),
        (PurePosixPath("a/b"), "a/b"),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({2, 1}), [1, 2]),
        (set(), []),
        ({1, "a"}, [1, "a"]),
        ((1, (2,)), [1, [2]]),
        ([{"deep": {"set": {Species.WREN}}}], [{"deep": {"set": ["wren"]}}]),
        ({"n": 2**70}, {"n": 2**70}),
    ],
)
def test_what_python_tools_return_has_a_json_form(value: object, seen: object) -> None:
    assert as_json_value(value) == seen


def test_a_set_is_written_in_the_same_order_every_time() -> None:
    assert encode({"crow", "heron", "owl", "wren"}, minified=True) == b'["crow","heron","owl","wren"]\n'


def test_keys_that_json_can_spell_are_spelt() -> None:
    assert (
        encode({1: "a", 2.5: "b", None: "c", False: "d"}, minified=True)
        == b'{"1":"a","2.5":"b","null":"c","false":"d"}\n'
    )


def circle_of_lists() -> object:
    circle: list[object] = []
    circle.append(circle)
    return circle


def circle_of_records() -> object:
    nest: Any = Nest(eggs=1)
    nest.kind = nest
    return nest


def deep() -> object:
    value: object = None
    for _ in range(100_000):
        value = [value]
    return value


def boring() -> object:
    yield 1


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        [1, {"x": math.nan}],
        {math.nan: 1},
        b"bytes",
        bytearray(b"x"),
        object(),
        {"nested": [object()]},
        {(1, 2): "tuple key"},
        {b"bytes": "key"},
        {Species.WREN: "enum key"},
        {Path("x"): "path key"},
        circle_of_lists(),
        circle_of_records(),
        boring(),
        range(3),
        1j,
        print,
        Species,
        Bird,
        Nest,
        dt.date,
        10**5000,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_without_a_json_form_is_one_error_and_no_document(value: object) -> None:
    for minified in (True, False):
        with pytest.raises(AgentError) as caught:
            encode({"result": value}, minified=minified)
        assert (caught.value.code, caught.value.error, caught.value.recoverable) == (
            EXIT_TOOL_ERROR,
            "marshal_error",
            False,
        )
        assert caught.value.message.startswith("the result cannot be written as JSON: ")
        assert caught.value.suggestion
        json.loads(encode(caught.value.envelope()))


def test_a_value_that_is_nested_too_deep_is_an_error_like_any_other() -> None:
    with pytest.raises(AgentError) as caught:
        encode(deep())
    assert caught.value.error == "marshal_error"


def test_the_error_names_the_type_that_has_no_form() -> None:
    with pytest.raises(AgentError, match=r"builtins\.complex has no JSON form"):
        encode([1j])


def test_an_envelope_has_its_keys_in_alphabetical_order_with_total_last() -> None:
    full = envelope("ok", [1], tool_version="1.2", total=9)
    assert list(full) == sorted(full) == ["result", "schema_version", "status", "tool_version", "total"]
    assert list(envelope("plan", None)) == ["result", "schema_version", "status"]


def test_a_total_of_zero_is_still_told() -> None:
    assert envelope("ok", [], total=0)["total"] == 0


@pytest.mark.parametrize("path", sorted(GOLDEN.iterdir()), ids=lambda path: path.name)
def test_every_golden_file_is_what_its_name_says(path: Path) -> None:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    if path.suffix == ".ndjson":
        assert all(json.loads(line) is not None for line in data.splitlines())
    else:
        assert json.dumps(json.loads(data), ensure_ascii=False, indent=2).encode() + b"\n" == data
