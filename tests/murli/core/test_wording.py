"""The sentences of murli's own errors."""

from __future__ import annotations

import json

import pytest

from murli._core import wording
from murli._core.command import Argument
from murli._core.errors import AgentError
from murli._core.metadata import Metadata
from murli._core.route import OWN_FLAGS
from murli._core.wire import encode
from tests.murli.core.conftest import Sketch, flag, read_line


def roost() -> Sketch:
    return Sketch(
        flags=[flag("--region", enum=["north", "south"]), flag("--file", required=True)],
        children=[
            Sketch(
                "add",
                flags=[
                    flag("--species", required=True),
                    flag("--count", type="int"),
                    flag("--weight", type="float"),
                    flag("--loud", type="bool"),
                    flag("--ghost", hidden=True),
                ],
                arguments=[Argument(name="name", required=True), Argument(name="note")],
            )
        ],
    )


def diagnosis(*words: str, message: str = "") -> AgentError:
    found = wording.diagnose(read_line(roost(), *words), message)
    assert found is not None
    return found


GOOD = ("--file", "f", "add", "--species", "owl", "Hoot")


def test_a_good_line_has_nothing_wrong() -> None:
    assert wording.diagnose(read_line(roost(), *GOOD)) is None


def test_what_murli_cannot_explain_is_told_in_the_words_of_the_framework() -> None:
    error = diagnosis(*GOOD, message="the moon is full")
    assert (error.code, error.error, error.message) == (1, "flag_error", "the moon is full")
    assert error.suggestion == "Run `roost add --schema` or `roost add --help` to see what it takes."


def test_an_unknown_flag_comes_with_the_flags_there_are_and_the_nearest_one() -> None:
    error = diagnosis(*GOOD, "--cuont", "3")
    assert (error.error, error.field, error.message) == ("flag_error", "cuont", "unknown flag --cuont for 'roost add'")
    assert error.suggestion.startswith("Did you mean --count? Run `roost add --schema`")
    assert {"--count", "--species", "--output", "--limit"} <= set(error.valid_values)
    assert not {"--yes", "--force", "--dry-run"} & set(error.valid_values)


def test_the_guards_flags_are_named_where_they_work() -> None:
    command = Sketch(metadata=Metadata(mutating=True, dry_runnable=True))
    error = wording.diagnose(read_line(command, "--nope"))
    assert error is not None
    assert set(error.valid_values) == set(OWN_FLAGS) - {"--profile"}


def test_profiles_are_told_about_where_a_flag_can_be_saved_in_one() -> None:
    error = wording.diagnose(read_line(Sketch(flags=[flag("species", profileable=True)]), "--nope"))
    assert error is not None
    assert "--profile" in error.valid_values


def test_a_hidden_flag_is_not_told_about() -> None:
    error = diagnosis(*GOOD, "--ghots")
    assert "--ghost" not in error.valid_values
    assert "--ghost" not in error.suggestion


def test_a_flag_without_its_value_is_named() -> None:
    error = diagnosis(*GOOD, "--count")
    assert (error.error, error.field, error.message) == ("flag_error", "count", "--count needs a value")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--count", "three"], "invalid value 'three' for --count: expected a whole number"),
        (["--count", "1.5"], "invalid value '1.5' for --count: expected a whole number"),
        (["--weight", "heavy"], "invalid value 'heavy' for --weight: expected a number"),
        (["--loud", "very"], "invalid value 'very' for --loud: expected true or false"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_the_right_one(words: list[str], message: str) -> None:
    error = diagnosis(*GOOD, *words)
    assert (error.error, error.message) == ("flag_error", message)


def test_a_value_outside_the_enumeration_comes_with_the_values_inside() -> None:
    error = diagnosis("--region", "noth", *GOOD)
    assert (error.message, error.field, error.valid_values) == (
        "invalid value 'noth' for --region",
        "region",
        ["north", "south"],
    )
    assert error.suggestion == "Did you mean north? Run `roost --schema` or `roost --help` to see what it takes."
    assert diagnosis("--region", "x", *GOOD).suggestion.startswith("Use one of the valid values. ")


def test_a_long_value_is_shown_in_part() -> None:
    assert len(diagnosis(*GOOD, "--count", "x" * 1000).message) < 150


@pytest.mark.parametrize(
    ("words", "kind", "field", "message"),
    [
        (["--file", "f", "add", "--species", "owl"], "argument_error", "name", "missing argument 'name'"),
        (["--file", "f", "add", "Hoot"], "flag_error", "species", "missing flag --species"),
        (["add", "--species", "owl", "Hoot"], "flag_error", "file", "missing flag --file"),
    ],
)
def test_what_is_missing_is_named(words: list[str], kind: str, field: str, message: str) -> None:
    error = diagnosis(*words)
    assert (error.error, error.field, error.message) == (kind, field, message)


def test_a_required_flag_that_the_framework_finds_in_the_environment_is_not_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = Sketch(flags=[flag("--token", required=True, env="ROOST_TOKEN", env_is_native=True)])
    assert wording.diagnose(read_line(command)) is not None
    monkeypatch.setenv("ROOST_TOKEN", "x")
    assert wording.diagnose(read_line(command)) is None


def test_what_is_missing_may_have_been_added_by_murli() -> None:
    invocation = read_line(roost(), "--file", "f", "add", "--species", "owl")
    invocation.leaf.added_positionals = ["Hoot"]
    assert wording.diagnose(invocation) is None


def test_a_word_too_many_is_named() -> None:
    error = diagnosis(*GOOD, "note", "more")
    assert (error.error, error.message) == ("argument_error", "unexpected argument 'more' for 'roost add'")


def test_a_repeated_argument_takes_every_word() -> None:
    command = Sketch(arguments=[Argument(name="files", multiple=True)])
    assert wording.diagnose(read_line(command, "a", "b", "c")) is None


def test_an_unknown_flag_is_told_before_a_wrong_value_and_that_before_what_is_missing() -> None:
    assert diagnosis("add", "--count", "x", "--nope").message.startswith("unknown flag")
    assert diagnosis("add", "--count", "x").message.startswith("invalid value")


def test_an_unknown_command_comes_with_the_commands_there_are() -> None:
    error = wording.unknown_command("lst", "roost nest", ["list", "clear"])
    assert (error.code, error.error, error.message, error.valid_values) == (
        1,
        "unknown_command",
        "unknown command 'lst' for 'roost nest'",
        ["list", "clear"],
    )
    assert error.suggestion == "Did you mean list? Run `roost describe` to see every command."


def test_a_missing_command_comes_with_the_commands_there_are() -> None:
    error = wording.missing_command("roost nest", ["list"])
    assert (error.error, error.message, error.valid_values) == (
        "missing_command",
        "'roost nest' needs a command",
        ["list"],
    )
    assert "roost describe" in error.suggestion


def test_an_unknown_parameter_of_structured_input_comes_with_the_names_there_are() -> None:
    error = wording.unknown_parameter("cuont", "roost add", ["count", "species"])
    assert (error.error, error.field, error.message) == (
        "flag_error",
        "cuont",
        "unknown parameter 'cuont' for 'roost add'",
    )
    assert error.suggestion.startswith("Did you mean count? ")


@pytest.mark.parametrize(
    "error",
    [
        wording.unknown_command("x" * 100_000, "roost", []),
        wording.unknown_flag("--" + "x" * 100_000, "roost", []),
        wording.unknown_parameter("x" * 100_000, "roost", []),
        wording.unexpected_argument("x" * 100_000, "roost"),
    ],
    ids=["command", "flag", "parameter", "argument"],
)
def test_an_absurd_word_is_not_repeated_whole(error: AgentError) -> None:
    assert len(encode(error.envelope())) < 2000


@pytest.mark.parametrize(
    ("kind", "value", "fitting"),
    [
        ("int", "5", True),
        ("int", "-5", True),
        ("int", "5.0", False),
        ("int", "", False),
        ("int", "9" * 5000, False),
        ("float", "1e3", True),
        ("float", "nan", True),
        ("float", "x", False),
        ("bool", "true", True),
        ("bool", "false", True),
        ("bool", "yes", False),
        ("string", "", True),
        ("path", "../x", True),
    ],
)
def test_a_value_fits_when_it_has_the_type(kind: str, value: str, fitting: bool) -> None:  # noqa: FBT001
    assert wording.fits(Argument(name="x", type=kind), value) is fitting


def test_a_value_fits_when_it_is_one_of_the_choices_whatever_the_type() -> None:
    argument = Argument(name="x", type="int", enum=["1", "2"])
    assert wording.fits(argument, "1")
    assert not wording.fits(argument, "3")


def test_a_sensitive_value_is_not_repeated() -> None:
    for parameter in (
        flag("--token", sensitive=True),
        flag("--token", sensitive=True, enum=["a"]),
        flag("--token", sensitive=True, type="int"),
    ):
        error = wording.bad_value(parameter, "s3cr3t", "roost")
        assert "s3cr3t" not in json.dumps(error.envelope())
        assert error.message.startswith("invalid value for --token")


def test_every_sentence_is_recoverable_and_comes_with_advice() -> None:
    parameter = flag("--x")
    made = [
        wording.confirmation_required(),
        wording.unknown_command("x", "roost", []),
        wording.missing_command("roost", []),
        wording.unknown_flag("--x", "roost", []),
        wording.unknown_parameter("x", "roost", []),
        wording.flag_needs_value("--x", "roost"),
        wording.flag_takes_no_value("--x", "roost"),
        wording.flags_exclude_each_other("--x", "--y", "roost"),
        wording.missing(parameter, "roost"),
        wording.unexpected_argument("x", "roost"),
        wording.bad_value(parameter, "x", "roost"),
        wording.refused_value(parameter, "is odd"),
    ]
    assert all(error.code == 1 and error.recoverable and error.suggestion.endswith(".") for error in made)
