"""Building and editing command lines from a description."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli.conformance.arguments import (
    append,
    parameters,
    sample,
    separable,
    synthesise,
    unconfirmed,
    with_flag,
    without,
    without_names,
)
from murli.conformance.model import Argument, Command, Flag

REGION = Flag("region", depth=0)
VERBOSE = Flag("verbose", type="bool", depth=1, short="v")
TOP = Flag("top", type="int", depth=2, short="t")
TAG = Flag("tag", multiple=True, depth=2)
COLOR = Flag("color", type="bool", negatable=True, depth=2)
COMMAND = Command(
    path=("remote", "list"),
    document={},
    arguments=(Argument("title"), Argument("more", type="int", required=False, multiple=True)),
    flags=(TOP, TAG, COLOR),
    inherited=(REGION, VERBOSE),
)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (Flag("a", enum=("x", "y")), "x"),
        (Flag("a", type="int"), "1"),
        (Flag("a", type="float"), "1.5"),
        (Flag("a", type="int", default=7), "7"),
        (Flag("a", pattern=r"^\d{4}-\d\d-\d\d$"), "2024-01-31"),
        (Flag("a", pattern=r"^zzz$"), None),
        (Flag("a", pattern=r"("), None),
        (Argument("a"), "example"),
        (Argument("a", type="path"), "example.txt"),
        (Argument("a", enum=("north",)), "north"),
    ],
)
def test_a_sample_fits_the_type_the_choices_and_the_pattern(parameter: Flag | Argument, value: str | None) -> None:
    assert sample(parameter) == value


def test_a_made_up_command_line_holds_what_is_required_and_nothing_else() -> None:
    command = Command(
        path=("send",),
        document={},
        arguments=(Argument("to"), Argument("copy", required=False)),
        flags=(Flag("subject", required=True, depth=1), Flag("draft", type="bool", depth=1)),
        inherited=(Flag("account", required=True, enum=("home", "work")),),
    )
    assert synthesise(command) == ("--account", "home", "send", "--subject", "example", "example")


def test_nothing_is_made_up_when_a_required_value_cannot_be_guessed() -> None:
    command = Command(path=("send",), document={}, flags=(Flag("code", required=True, pattern="^zzz$", depth=1),))
    assert synthesise(command) is None


def test_a_flag_goes_where_its_owner_accepts_it() -> None:
    words = ("--output", "json", "remote", "list", "Dune")
    assert with_flag(COMMAND, words, REGION, "eu") == ("--region", "eu", *words)
    assert with_flag(COMMAND, words, VERBOSE) == ("--output", "json", "remote", "--verbose", "list", "Dune")
    assert with_flag(COMMAND, words, TOP, "3") == (*words, "--top", "3")


def test_a_flag_replaces_the_value_it_had() -> None:
    words = ("--region=us", "remote", "list", "-t", "5", "Dune")
    assert with_flag(COMMAND, words, REGION, "eu") == ("--region", "eu", "remote", "list", "-t", "5", "Dune")
    assert with_flag(COMMAND, words, TOP, "3") == ("--region=us", "remote", "list", "Dune", "--top", "3")


def test_nothing_is_added_or_removed_behind_a_double_dash() -> None:
    words = ("remote", "list", "--", "--top", "5")
    assert append(words, ("--yes",)) == ("remote", "list", "--yes", "--", "--top", "5")
    assert without(COMMAND, words, [TOP]) == words


def test_a_value_that_looks_like_a_flag_is_left_alone() -> None:
    words = ("remote", "list", "--tag", "--yes", "Dune", "--yes")
    assert unconfirmed(COMMAND, words) == ("remote", "list", "--tag", "--yes", "Dune")


def test_whatever_lets_a_command_past_the_guard_is_removed() -> None:
    guarded = Command(path=("delete",), document={}, flags=(Flag("yes", type="bool", depth=1, short="y"),))
    assert unconfirmed(guarded, ("delete", "Dune", "-y", "--force", "--dry-run")) == ("delete", "Dune")


def test_flags_that_every_command_takes_are_removed_with_their_values() -> None:
    words = ("--agent", "remote", "list", "--output", "json", "--output=text", "Dune")
    assert without_names(COMMAND, words, {"output", "agent"}) == ("remote", "list", "Dune")


def test_a_command_line_becomes_a_json_object_of_the_commands_own_parameters() -> None:
    words = (
        "--region",
        "eu",
        "remote",
        "-v",
        "list",
        "Dune",
        "--top=3",
        "--tag",
        "a",
        "--tag",
        "b",
        "--no-color",
        "--limit",
        "2",
        "7",
        "8",
    )
    assert parameters(COMMAND, words) == (
        ("--region", "eu", "remote", "-v", "list", "--limit", "2"),
        {"title": "Dune", "top": 3, "tag": ["a", "b"], "color": False, "more": [7, 8]},
    )


@pytest.mark.parametrize("words", [("remote", "list"), ("remote", "list", "Dune", "--top")])
def test_an_incomplete_command_line_becomes_no_object(words: tuple[str, ...]) -> None:
    assert parameters(COMMAND, words) is None


def test_flags_that_exclude_each_other_are_never_planted_together() -> None:
    token, password, key = Flag("token", exclusive=frozenset({"password"})), Flag("password"), Flag("key")
    assert separable([token, password, key]) == [[token, key], [password]]


@given(
    st.lists(
        st.sampled_from(
            [
                "--region eu",
                "remote",
                "list",
                "-t 5",
                "--top=7",
                "Dune",
                "--",
                "--color",
                "--tag=x",
                "--tag --top",
                "-v",
                "-",
            ]
        )
    )
)
def test_setting_a_flag_twice_is_setting_it_once(pieces: list[str]) -> None:
    once = with_flag(COMMAND, tuple(" ".join(pieces).split()), TOP, "3")
    assert with_flag(COMMAND, once, TOP, "3") == once
