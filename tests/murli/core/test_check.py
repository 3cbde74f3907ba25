"""What murli itself refuses, whatever the framework."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli._core.check import LONGEST_ID, LONGEST_TEXT, check_encoding, check_values, objection
from murli._core.command import Argument, Command, Flag
from murli._core.errors import EXIT_USER_ERROR, AgentError
from tests.murli.core.conftest import Sketch, flag, read_line

TRAVERSALS = [
    "..",
    "../x",
    "a/../b",
    "a/..",
    "..\\x",
    "a\\..\\b",
    "%2e%2e%2fx",
    "%2E%2E%2Fx",
    "a%2f..%2fb",
    ".%2e/x",
    "..%5cx",
    "%2e%2e%5c",
    "/abs",
    "/",
    "\\\\host\\share",
    "%2fetc",
    "%5cx",
    "~",
    "~/x",
    "~root",
]
PLAIN_NAMES = [
    "pip",
    "a.b",
    "a..b",
    "...",
    "1.2.3",
    "a/b",
    "a-b_c",
    "größe 🐦",
    "a%20b",
    "x~",
    "-",
    "",
    "..a",
    "a..",
    "%2e",
    "C:x",
]


def refusal(command: Command, *words: str) -> AgentError:
    with pytest.raises(AgentError) as caught:
        check_values(read_line(command, *words))
    assert caught.value.code == EXIT_USER_ERROR
    assert caught.value.suggestion
    return caught.value


def accept(command: Command, *words: str) -> None:
    invocation = read_line(command, *words)
    check_values(invocation)
    assert invocation.argv() == list(words)


def with_flag(**more: Any) -> Sketch:
    return Sketch(flags=[flag("--it", **more)])


# Encoding


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_words_that_are_utf8_are_accepted(words: list[str]) -> None:
    before = list(words)
    check_encoding(words)
    assert words == before


@pytest.mark.parametrize("word", ["caf\udce9", "\udcff\udcfe", "é\udc80", "x\ud800"])
def test_a_word_that_is_not_utf8_is_refused_by_its_place_in_words_that_can_be_printed(word: str) -> None:
    with pytest.raises(AgentError) as caught:
        check_encoding(["list", "--top", word])
    assert (caught.value.code, caught.value.error) == (EXIT_USER_ERROR, "invalid_input")
    assert caught.value.message.startswith("word 3 of the command line is not valid UTF-8: '")
    assert caught.value.message.encode("utf-8").isascii()


# Content


@pytest.mark.parametrize("value", TRAVERSALS)
def test_an_id_is_no_path(value: str) -> None:
    error = refusal(with_flag(content="id"), f"--it={value}")
    assert (error.error, error.field, error.message) == ("invalid_input", "it", "--it must be a plain name, not a path")


@pytest.mark.parametrize("value", PLAIN_NAMES)
def test_a_plain_name_is_an_id(value: str) -> None:
    accept(with_flag(content="id"), f"--it={value}")


@pytest.mark.parametrize("value", TRAVERSALS)
def test_text_may_look_like_a_path(value: str) -> None:
    accept(with_flag(), f"--it={value}")


@pytest.mark.parametrize(
    "letter", ["\x00", "\x01", "\x07", "\x08", "\x0b", "\x1b", "\x1f", "\x7f", "\x80", "\x9b", "\x9f"]
)
@pytest.mark.parametrize("content", ["", "text", "id"])
def test_a_control_character_is_refused_by_its_code_and_never_repeated(letter: str, content: str) -> None:
    error = refusal(with_flag(content=content), f"--it=a{letter}b")
    assert (error.error, error.message) == ("invalid_input", f"--it holds a control character (U+{ord(letter):04X})")


@pytest.mark.parametrize("letter", ["\t", "\n", "\r"])
def test_tabs_and_line_breaks_are_text_but_no_part_of_an_id(letter: str) -> None:
    accept(with_flag(), f"--it=a{letter}b")
    assert refusal(with_flag(content="id"), f"--it=a{letter}b").error == "invalid_input"


@pytest.mark.parametrize("letter", ["\u00a0", "\u200b", "\u2028", "\U0001f426", "é", "\ufeff"])
def test_other_unusual_characters_are_accepted(letter: str) -> None:
    accept(with_flag(), f"--it=a{letter}b")


@pytest.mark.parametrize(("content", "longest"), [("id", LONGEST_ID), ("text", LONGEST_TEXT), ("", LONGEST_TEXT)])
def test_an_absurd_length_is_refused_by_its_number(content: str, longest: int) -> None:
    accept(with_flag(content=content), "--it", "x" * longest)
    error = refusal(with_flag(content=content), "--it", "x" * (longest + 1))
    assert error.message == f"--it is {longest + 1} characters long; at most {longest} are accepted"


@pytest.mark.parametrize("value", ["\x00", "../..", "/abs", "x" * (LONGEST_TEXT + 1)])
def test_raw_content_may_be_anything(value: str) -> None:
    accept(with_flag(content="raw"), f"--it={value}")


@given(st.text(st.characters(exclude_categories=["Cc"]), max_size=20))
def test_text_without_control_characters_is_always_accepted(value: str) -> None:
    accept(with_flag(), f"--it={value}")


@given(st.lists(st.sampled_from(["a", ".", "..", "%2e", "%2E", "/", "\\", "%2f", "%5C", "~"]), max_size=6).map("".join))
def test_no_spelling_of_a_traversal_gets_through_as_an_id(value: str) -> None:
    decoded = value.replace("%2e", ".").replace("%2E", ".").replace("%2f", "/").replace("%5C", "/").replace("\\", "/")
    leaves = decoded.startswith(("/", "~")) or ".." in decoded.split("/")
    if leaves:
        refusal(with_flag(content="id"), f"--it={value}")
    else:
        accept(with_flag(content="id"), f"--it={value}")


@pytest.mark.parametrize("name", ["id", "name", "slug", "bird-id", "user_id", "BIRD-ID", "display-name", "page-slug"])
def test_a_flag_or_argument_that_is_called_like_an_id_is_one(name: str) -> None:
    refusal(Sketch(flags=[Flag(name=name, options=["--it"])]), "--it=../x")
    refusal(Sketch(arguments=[Argument(name=name)]), "../x")


@pytest.mark.parametrize("name", ["ids", "file", "idea", "username", "id-file", "region"])
def test_other_names_are_text(name: str) -> None:
    accept(Sketch(flags=[Flag(name=name, options=["--it"])], arguments=[Argument(name=name)]), "--it=../x", "../y")


@pytest.mark.parametrize("name", ["id", "file-name"])
def test_a_path_is_never_taken_for_an_id(name: str) -> None:
    accept(
        Sketch(flags=[Flag(name=name, options=["--it"], type="path")], arguments=[Argument(name=name, type="path")]),
        "--it=../x",
        "/abs",
    )
    refusal(Sketch(flags=[Flag(name=name, options=["--it"], type="path")]), "--it=a\x00b")


def test_what_the_tool_says_about_the_content_overrules_the_name() -> None:
    accept(Sketch(flags=[Flag(name="name", options=["--name"], content="text")]), "--name=../x")
    refusal(Sketch(flags=[Flag(name="key", options=["--key"], content="id")]), "--key=../x")


def test_a_refused_argument_is_named_as_one() -> None:
    error = refusal(Sketch(arguments=[Argument(name="id")]), "../x")
    assert (error.message, error.field) == ("argument 'id' must be a plain name, not a path", "id")


def test_every_value_of_a_repeated_parameter_is_checked() -> None:
    refusal(with_flag(multiple=True, content="id"), "--it=a", "--it=../x")
    refusal(Sketch(arguments=[Argument(name="id", multiple=True)]), "a", "b", "../x")


def test_the_flags_of_the_groups_above_are_checked_too() -> None:
    root = Sketch(flags=[flag("--id")], children=[Sketch("list")])
    assert refusal(root, "--id", "../x", "list").field == "id"


def test_the_words_of_another_program_are_not_checked_but_the_flags_before_them_are() -> None:
    command = Sketch(passthrough=True, flags=[flag("--id")], arguments=[Argument(name="name", multiple=True)])
    accept(command, "../run", "\x1b")
    refusal(command, "--id", "../x", "run")


def test_values_that_murli_adds_are_checked_like_typed_ones() -> None:
    invocation = read_line(Sketch(arguments=[Argument(name="id")]))
    invocation.leaf.added_positionals = ["../x"]
    with pytest.raises(AgentError, match="plain name"):
        check_values(invocation)


@pytest.mark.parametrize(
    ("name", "value", "content", "objects"),
    [
        ("bird-id", "../x", "", True),
        ("bird-id", "../x", "text", False),
        ("bird-id", "\x1b", "raw", False),
        ("note", "../x", "", False),
        ("note", "../x", "id", True),
        ("note", "\x1b", "", True),
        ("note", "fine", "", False),
    ],
)
def test_a_tool_can_ask_for_the_objection_to_a_value_itself(name: str, value: str, content: str, objects: bool) -> None:  # noqa: FBT001
    assert bool(objection(name, value, content)) is objects


# Declarations


def test_an_annotated_enumeration_is_enforced() -> None:
    command = with_flag(enum=["north", "south"])
    accept(command, "--it", "north")
    error = refusal(command, "--it", "nort")
    assert (error.error, error.field, error.valid_values) == ("flag_error", "it", ["north", "south"])
    assert "invalid value 'nort' for --it" in error.message
    assert "Did you mean north?" in error.suggestion


def test_an_enumeration_that_the_framework_checks_is_left_to_it() -> None:
    accept(with_flag(enum=["north"], enum_is_native=True), "--it", "NORTH")


@pytest.mark.parametrize("value", ["7", "42"])
def test_a_value_that_matches_its_pattern_is_accepted(value: str) -> None:
    accept(with_flag(pattern=r"^[1-9]\d*$"), "--it", value)


def test_a_value_that_does_not_match_its_pattern_is_refused_with_the_pattern() -> None:
    error = refusal(with_flag(pattern=r"^[1-9]\d*$"), "--it", "0")
    assert error.message == r"invalid value '0' for --it: expected text that matches ^[1-9]\d*$"
    assert error.error == "flag_error"


def test_a_value_of_the_wrong_type_is_told_its_type_and_not_the_pattern() -> None:
    assert refusal(with_flag(type="int", pattern=r"^\d+$"), "--it", "ten").message.endswith("expected a whole number")


def test_a_sensitive_value_is_never_repeated() -> None:
    error = refusal(with_flag(pattern="^tok_", sensitive=True), "--it", "s3cr3t-feather")
    assert "s3cr3t-feather" not in str(error.envelope())
    error = refusal(with_flag(enum=["a"], sensitive=True), "--it", "s3cr3t-feather")
    assert "s3cr3t-feather" not in str(error.envelope())


@pytest.mark.parametrize("words", [("--tag", "x", "--bare"), ("--bare", "--tag", "x")])
@pytest.mark.parametrize("declared_by", ["tag", "bare"])
def test_flags_that_exclude_each_other_are_refused_whichever_of_them_says_so(
    words: tuple[str, ...], declared_by: str
) -> None:
    excluded = {"tag": ["bare"], "bare": ["tag"]}[declared_by]
    command = Sketch(
        flags=[
            flag("--tag", mutually_exclusive_with=excluded if declared_by == "tag" else []),
            flag("--bare", arity=0, mutually_exclusive_with=excluded if declared_by == "bare" else []),
        ]
    )
    error = refusal(command, *words)
    assert error.error == "flag_error"
    assert "exclude each other" in error.message
    assert "--tag" in error.message
    assert "--bare" in error.message


def test_flags_that_exclude_each_other_are_fine_one_at_a_time() -> None:
    command = Sketch(flags=[flag("--tag", mutually_exclusive_with=["bare"]), flag("--bare", arity=0), flag("--other")])
    accept(command, "--tag", "x", "--other", "y")
    accept(command, "--bare", "--other", "y")
