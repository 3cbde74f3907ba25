"""`--fields` and `--limit`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli._core.errors import EXIT_USER_ERROR, AgentError
from murli._core.mask import MANY, limited, masked, parse_fields, parse_limit

BIRDS: list[dict[str, Any]] = [
    {"id": "pip", "owner": {"name": "Ann", "town": "Brno"}, "tags": ["a", "b"]},
    {"id": "quill", "owner": None, "tags": []},
    {"id": "soot", "owner": {"name": "Bo"}, "weight": 3},
]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("id", ["id"]),
        ("id,owner.name", ["id", "owner.name"]),
        (" id , owner.name ", ["id", "owner.name"]),
        ("größe", ["größe"]),
        ("a b", ["a b"]),
    ],
)
def test_fields_are_separated_by_commas_and_nested_by_dots(text: str, paths: list[str]) -> None:
    assert parse_fields(text) == paths


@pytest.mark.parametrize("text", ["", ",", "a,", ",a", "a,,b", ".", "a.", ".a", "a..b", " "])
def test_an_empty_name_in_fields_is_refused(text: str) -> None:
    with pytest.raises(AgentError) as caught:
        parse_fields(text)
    assert (caught.value.code, caught.value.error, caught.value.field) == (EXIT_USER_ERROR, "flag_error", "fields")
    assert caught.value.suggestion


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("20", 20), ("007", 7), (str(MANY), MANY)])
def test_a_limit_is_a_whole_number(text: str, number: int) -> None:
    assert parse_limit(text) == number


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "+5", "1.5", "ten", "1e3", " 5", "5 ", "1_000", "٣", "²", str(MANY + 1), "9" * 40]
)
def test_a_limit_that_is_no_positive_whole_number_is_refused(text: str) -> None:
    with pytest.raises(AgentError) as caught:
        parse_limit(text)
    assert (caught.value.code, caught.value.error, caught.value.field) == (EXIT_USER_ERROR, "flag_error", "limit")


def test_a_limit_of_absurd_length_is_refused_like_any_other() -> None:
    with pytest.raises(AgentError) as caught:
        parse_limit("9" * 5000)
    assert caught.value.error == "flag_error"


def test_a_limit_cuts_the_list_and_tells_the_total() -> None:
    assert limited([1, 2, 3], 2, strict=True) == ([1, 2], 3)


@pytest.mark.parametrize("limit", [3, 4])
def test_a_limit_that_cuts_nothing_tells_no_total(limit: int) -> None:
    assert limited([1, 2, 3], limit, strict=True) == ([1, 2, 3], None)


def test_an_empty_list_is_within_every_limit() -> None:
    assert limited([], 1, strict=True) == ([], None)


def test_a_limit_cuts_the_items_of_an_object_and_keeps_its_other_keys_in_place() -> None:
    result = {"page": 1, "items": [1, 2, 3], "next": "x"}
    cut, total = limited(result, 1, strict=True)
    assert (cut, total) == ({"page": 1, "items": [1], "next": "x"}, 3)
    assert list(cut) == ["page", "items", "next"]
    assert result["items"] == [1, 2, 3]


@pytest.mark.parametrize("result", ["text", 5, None, True, {"a": [1, 2]}, {"items": "abc"}, {"items": None}])
def test_a_limit_on_what_is_no_list_is_refused_when_nothing_was_changed_by_the_command(result: object) -> None:
    with pytest.raises(AgentError, match="not a list") as caught:
        limited(result, 1, strict=True)
    assert (caught.value.error, caught.value.field) == ("flag_error", "limit")
    assert limited(result, 1, strict=False) == (result, None)


@given(st.lists(st.integers()), st.integers(1, 20))
def test_a_limit_keeps_the_head_and_tells_the_total_only_when_it_cut(items: list[int], limit: int) -> None:
    cut, total = limited(items, limit, strict=True)
    assert cut == items[:limit]
    assert total == (len(items) if len(items) > limit else None)


def test_a_mask_keeps_only_the_named_fields_in_the_order_asked_for() -> None:
    cut = masked({"a": 1, "b": 2, "c": 3}, ["c", "a"], strict=True)
    assert cut == {"c": 3, "a": 1}
    assert list(cut) == ["c", "a"]


def test_a_mask_applies_to_every_item_and_leaves_out_what_an_item_lacks() -> None:
    assert masked(BIRDS, ["id", "weight"], strict=True) == [{"id": "pip"}, {"id": "quill"}, {"id": "soot", "weight": 3}]


def test_a_nested_path_keeps_only_that_branch_and_a_null_on_the_way() -> None:
    assert masked(BIRDS, ["owner.name"], strict=True) == [
        {"owner": {"name": "Ann"}},
        {"owner": None},
        {"owner": {"name": "Bo"}},
    ]


def test_two_paths_into_the_same_object_are_merged() -> None:
    assert masked(BIRDS[0], ["owner.town", "owner.name"], strict=True) == {"owner": {"town": "Brno", "name": "Ann"}}


@pytest.mark.parametrize("paths", [["owner", "owner.name"], ["owner.name", "owner"], ["owner", "owner"]])
def test_a_path_below_one_that_is_asked_for_whole_adds_nothing(paths: list[str]) -> None:
    assert masked(BIRDS[0], paths, strict=True) == {"owner": {"name": "Ann", "town": "Brno"}}


def test_a_name_that_is_a_prefix_of_another_name_is_a_field_of_its_own() -> None:
    assert masked({"own": 1, "owner": {"name": 2}}, ["own", "owner.name"], strict=True) == {
        "own": 1,
        "owner": {"name": 2},
    }


def test_a_path_leads_through_lists_on_its_way() -> None:
    assert masked({"nests": [{"eggs": [{"size": 1, "hue": "blue"}]}]}, ["nests.eggs.size"], strict=True) == {
        "nests": [{"eggs": [{"size": 1}]}]
    }


def test_a_field_that_only_the_items_have_is_one_of_each_item() -> None:
    assert masked({"page": 1, "items": [{"id": 1, "x": 2}]}, ["id"], strict=True) == {"items": [{"id": 1}]}
    assert masked({"page": 1, "items": [{"id": 1, "x": {"y": 2, "z": 3}}]}, ["x.y"], strict=True) == {
        "items": [{"x": {"y": 2}}]
    }


def test_a_field_that_the_object_has_is_the_objects() -> None:
    assert masked({"page": 1, "items": [{"id": 1}]}, ["page"], strict=True) == {"page": 1}
    assert masked({"page": 1, "items": [{"id": 1, "page": 2}]}, ["page", "items.page"], strict=True) == {
        "page": 1,
        "items": [{"page": 2}],
    }


def test_fields_of_an_object_and_of_its_items_can_be_named_side_by_side() -> None:
    assert masked({"page": 1, "items": [{"id": 1, "x": 2}], "next": "b"}, ["id", "next"], strict=True) == {
        "items": [{"id": 1}],
        "next": "b",
    }


def test_a_field_that_neither_an_object_nor_its_items_have_is_refused_with_the_names_of_both() -> None:
    with pytest.raises(AgentError, match="no field 'nope'") as caught:
        masked({"page": 1, "items": [{"id": 1}]}, ["id", "nope"], strict=True)
    assert caught.value.valid_values == ["page", "items", "id"]


@pytest.mark.parametrize("result", [[], {}, None, {"items": []}])
def test_a_result_without_fields_accepts_every_mask(result: object) -> None:
    assert masked(result, ["id", "a.b"], strict=True) == result


def test_an_empty_list_on_the_way_accepts_every_path() -> None:
    assert masked({"tags": []}, ["tags.name"], strict=True) == {"tags": []}


def test_a_field_that_fits_nothing_is_refused_with_the_names_that_do() -> None:
    with pytest.raises(AgentError, match="no field 'nope'") as caught:
        masked(BIRDS, ["id", "nope"], strict=True)
    assert (caught.value.code, caught.value.error, caught.value.field) == (EXIT_USER_ERROR, "flag_error", "fields")
    assert caught.value.valid_values == ["id", "owner", "tags", "weight"]


@pytest.mark.parametrize("path", ["owner.age", "id.name", "tags.name", "items"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(AgentError, match="no field"):
        masked(BIRDS[:1], [path], strict=True)


@pytest.mark.parametrize("result", ["text", 5, ["a", "b"], False])
def test_fields_of_a_plain_value_are_refused(result: object) -> None:
    with pytest.raises(AgentError, match="no field 'id'"):
        masked(result, ["id"], strict=True)
    assert masked(result, ["id"], strict=False) == result


def test_a_command_that_changed_something_is_never_told_that_its_mask_is_wrong() -> None:
    assert masked({"id": 1}, ["nope"], strict=False) == {}
    assert masked([{"id": 1}, {"x": 2}], ["id", "nope"], strict=False) == [{"id": 1}, {}]


def test_the_result_itself_is_left_alone() -> None:
    result = {"a": {"b": 1, "c": 2}, "items": [{"id": 1, "x": 2}]}
    masked(result, ["a.b"], strict=True)
    masked(result, ["id"], strict=True)
    assert result == {"a": {"b": 1, "c": 2}, "items": [{"id": 1, "x": 2}]}


NAMES = st.sampled_from(["a", "b", "c", "ab"])
TREES = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=12,
)
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map(".".join), min_size=1, max_size=3)


def is_part(part: object, whole: object) -> bool:
    """Whether `part` is `whole` with nothing but keys of objects left out."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(is_part(one, other) for one, other in zip(part, whole, strict=True))
    return part == whole


@given(TREES, PATHS)
def test_a_mask_only_ever_leaves_keys_out(tree: object, paths: list[str]) -> None:
    assert is_part(masked(tree, paths, strict=False), tree)


@given(TREES, PATHS)
def test_a_mask_applied_twice_is_the_mask_applied_once(tree: object, paths: list[str]) -> None:
    once = masked(tree, paths, strict=False)
    assert masked(once, paths, strict=False) == once


@given(st.dictionaries(NAMES, TREES, min_size=1))
def test_a_mask_of_all_names_keeps_everything(tree: dict[str, object]) -> None:
    assert masked(tree, list(tree), strict=True) == tree
