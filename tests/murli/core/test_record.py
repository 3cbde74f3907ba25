"""Record: the value class without dataclasses."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from murli._core.record import Record


class Point(Record):
    x: int
    y: int = 0


class Shape(Point):
    tags: list[str] = []  # noqa: RUF012 - Record copies mutable defaults
    names: dict[str, str] = {}  # noqa: RUF012
    kind = "not annotated, so not a field"
    _hidden: int = 7


def test_fields_are_taken_by_keyword_and_defaults_fill_the_rest() -> None:
    point = Point(x=3)
    assert (point.x, point.y) == (3, 0)


def test_a_missing_field_is_named() -> None:
    values: dict[str, Any] = {"y": 1}
    with pytest.raises(TypeError, match=r"Point\(\) is missing the field 'x'"):
        Point(**values)


def test_an_unknown_field_is_named() -> None:
    values: dict[str, Any] = {"x": 1, "z": 2}
    with pytest.raises(TypeError, match=r"Point\(\) has no field 'z'"):
        Point(**values)


def test_positional_values_are_refused() -> None:
    point: Any = Point
    with pytest.raises(TypeError, match="positional"):
        point(1)


def test_a_subclass_keeps_the_fields_of_its_parent_in_front() -> None:
    assert Shape(x=1).as_dict() == {"x": 1, "y": 0, "tags": [], "names": {}}
    assert list(Shape(x=1).as_dict()) == ["x", "y", "tags", "names"]


def test_a_subclass_may_give_a_default_to_an_inherited_field() -> None:
    class Origin(Point):
        x: int = 0

    assert Origin().as_dict() == {"x": 0, "y": 0}
    assert list(Origin().as_dict()) == ["x", "y"]


def test_the_parent_is_not_changed_by_its_subclass() -> None:
    assert list(Point(x=1).as_dict()) == ["x", "y"]


def test_mutable_defaults_are_never_shared() -> None:
    first, second = Shape(x=1), Shape(x=1)
    first.tags.append("round")
    first.names["a"] = "b"
    assert (second.tags, second.names) == ([], {})
    assert Shape(x=1).tags == []


def test_attributes_without_annotation_and_private_ones_are_no_fields() -> None:
    values: dict[str, Any] = {"x": 1, "kind": "other"}
    with pytest.raises(TypeError, match="kind"):
        Shape(**values)
    assert "_hidden" not in Shape(x=1).as_dict()


def test_records_with_the_same_values_are_equal_and_others_are_not() -> None:
    assert Point(x=1, y=2) == Point(x=1, y=2)
    assert Point(x=1, y=2) != Point(x=1, y=3)


def test_a_record_is_not_equal_to_one_of_another_class() -> None:
    class Other(Point):
        pass

    assert Point(x=1) != Other(x=1)
    assert Point(x=1) != {"x": 1, "y": 0}


def test_a_record_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(x=1))


def test_the_repr_can_be_read_as_the_call_that_made_it() -> None:
    assert repr(Point(x=1, y=2)) == "Point(x=1, y=2)"


def test_as_dict_is_a_copy_of_the_fields() -> None:
    point = Point(x=1)
    point.as_dict()["x"] = 9
    assert point.x == 1


def test_a_record_survives_copy_and_pickle() -> None:
    shape = Shape(x=1, tags=["a"], names={"b": "c"})
    assert copy.deepcopy(shape) == shape
    assert pickle.loads(pickle.dumps(shape)) == shape
