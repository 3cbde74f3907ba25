"""The neutral picture of a command tree."""

from __future__ import annotations

from typing import Any

import pytest

from murli._core.command import Argument, Command, Flag, merge_annotations, merge_arguments, walk
from murli._core.metadata import ArgumentMetadata, FlagAnnotation, Metadata
from tests.murli.core.conftest import Sketch, flag


def names(paths: Any) -> list[str]:
    return [" ".join(command.name for command in path) for path in paths]


def test_a_flag_is_written_by_its_long_spelling_and_known_by_its_short_one() -> None:
    both = flag("-t", "--top")
    assert (both.long, both.short, both.shown) == ("--top", "-t", "--top")


def test_a_flag_without_a_long_spelling_is_written_by_the_short_one() -> None:
    assert (flag("-t").long, flag("-t").short) == ("-t", "-t")
    assert flag("--top").short == ""


def test_an_argument_is_shown_by_name_and_a_flag_by_spelling() -> None:
    assert Argument(name="id").shown == "argument 'id'"
    assert flag("--top").shown == "--top"


def test_a_flag_without_annotation_stays_the_same() -> None:
    top = flag("--top")
    assert top.merged(None) is top


def test_an_annotation_adds_what_it_says_and_keeps_the_rest() -> None:
    merged = flag("--top", type="int", default=3, description="How many.").merged(
        FlagAnnotation(env="TOP", sensitive=True, persistent=True, pattern="^1", profileable=True, content="raw")
    )
    assert merged == flag(
        "--top",
        type="int",
        default=3,
        description="How many.",
        env="TOP",
        sensitive=True,
        persistent=True,
        pattern="^1",
        profileable=True,
        content="raw",
    )


def test_an_empty_annotation_takes_nothing_away() -> None:
    full = flag(
        "--top",
        env="TOP",
        env_is_native=True,
        sensitive=True,
        enum=["a"],
        enum_is_native=True,
        mutually_exclusive_with=["x"],
        pattern="p",
    )
    assert full.merged(FlagAnnotation()) == full


def test_exclusions_of_the_framework_and_of_the_annotation_add_up() -> None:
    merged = flag("--top", mutually_exclusive_with=["a"]).merged(FlagAnnotation(mutually_exclusive_with=["b"]))
    assert merged.mutually_exclusive_with == ["a", "b"]


def test_an_annotated_enumeration_is_murlis_to_enforce() -> None:
    merged = flag("--top", enum_is_native=True).merged(FlagAnnotation(enum=["a", "b"]))
    assert (merged.enum, merged.enum_is_native) == (["a", "b"], False)


@pytest.mark.parametrize(("annotated", "native"), [("TOP", True), ("OTHER", False)])
def test_an_annotated_variable_is_murlis_to_read_unless_the_framework_reads_the_same(
    annotated: str,
    native: bool,  # noqa: FBT001
) -> None:
    merged = flag("--top", env="TOP", env_is_native=True).merged(FlagAnnotation(env=annotated))
    assert (merged.env, merged.env_is_native) == (annotated, native)


def test_annotations_are_matched_by_name_and_others_are_ignored() -> None:
    metadata = Metadata(
        flag_annotations={"top": FlagAnnotation(sensitive=True), "gone": FlagAnnotation(sensitive=True)}
    )
    merged = merge_annotations([flag("--top"), flag("--other")], metadata)
    assert [(one.name, one.sensitive) for one in merged] == [("top", True), ("other", False)]


def test_what_the_tool_wrote_about_an_argument_overrules_the_framework() -> None:
    drawn = Argument(name="id", type="string", required=True, description="", multiple=True)
    written = ArgumentMetadata(name="id", type="int", required=False, description="The id.", content="raw")
    assert merge_arguments([drawn], Metadata(arguments=[written])) == [
        Argument(name="id", type="int", required=False, description="The id.", multiple=True, content="raw")
    ]


def test_what_the_tool_left_empty_stays_as_the_framework_says() -> None:
    drawn = Argument(name="id", type="int", required=True, description="Old.")
    assert merge_arguments([drawn], Metadata(arguments=[ArgumentMetadata(name="id")])) == [drawn]


def test_an_argument_the_framework_does_not_know_comes_last() -> None:
    merged = merge_arguments(
        [Argument(name="a"), Argument(name="b")],
        Metadata(arguments=[ArgumentMetadata(name="c"), ArgumentMetadata(name="a")]),
    )
    assert [argument.name for argument in merged] == ["a", "b", "c"]


def test_a_command_says_nothing_until_an_adapter_fills_it() -> None:
    bare = Command()
    assert (bare.flags, bare.arguments, bare.children, bare.find("x"), bare.flag("--x")) == ([], [], [], None, None)


def test_a_command_finds_its_flags_by_every_spelling() -> None:
    command = Sketch(flags=[flag("-l", "--loud", arity=0, negative="--no-loud")])
    assert all(command.flag(option) is command.flags[0] for option in ("-l", "--loud", "--no-loud"))
    assert command.flag("--lou") is None


def test_an_abbreviation_means_the_one_flag_that_starts_like_it() -> None:
    command = Sketch(
        abbreviates=True, flags=[flag("--region"), flag("--reach"), flag("--loud", arity=0, negative="--no-loud")]
    )
    found = {option: command.abbreviated_flag(option) for option in ("--reg", "--re", "--no-l", "--x", "-r", "--")}
    assert {option: known and known.name for option, known in found.items()} == {
        "--reg": "region",
        "--re": None,
        "--no-l": "loud",
        "--x": None,
        "-r": None,
        "--": None,
    }


def test_a_framework_without_abbreviations_knows_none() -> None:
    assert Sketch(flags=[flag("--region")]).abbreviated_flag("--reg") is None


def test_walk_goes_through_the_tree_in_the_order_of_the_tool_and_skips_what_is_hidden() -> None:
    tree = Sketch(
        children=[
            Sketch("nest", children=[Sketch("list"), Sketch("secret", hidden=True)]),
            Sketch("ghost", hidden=True, children=[Sketch("boo")]),
            Sketch("add"),
        ]
    )
    assert names(walk(tree)) == ["nest", "nest list", "add"]


def test_find_knows_hidden_commands_too() -> None:
    hidden = Sketch("ghost", hidden=True)
    assert Sketch(children=[hidden]).find("ghost") is hidden


def test_a_flag_holds_its_own_lists() -> None:
    assert Flag(name="a", options=["--a"]).enum is not Flag(name="b", options=["--b"]).enum
