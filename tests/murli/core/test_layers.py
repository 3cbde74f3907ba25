"""Values that do not come from the command line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli._core.check import check_values
from murli._core.command import Argument, Command
from murli._core.errors import EXIT_USER_ERROR, AgentError
from murli._core.layers import (
    LARGEST_INPUT,
    add_flag,
    apply_environment,
    apply_input,
    apply_profile,
    from_saved,
    read_input,
    to_saved,
)
from murli._core.route import Invocation, is_flag
from tests.murli.core.conftest import Sketch, flag, read_line

DASHED: dict[str, Any] = {"takes_dashed_values": True}
STRICT: dict[str, Any] = {"takes_dashed_values": False, "abbreviates": True}


def listing(**framework: Any) -> Sketch:
    return Sketch(
        "list",
        **framework,
        flags=[
            flag("-t", "--top", type="int"),
            flag("--weight", type="float"),
            flag("--note"),
            flag("--file", type="path"),
            flag("--loud", arity=0, negative="--no-loud"),
            flag("--all", arity=0),
            flag("-v", "--verbose", arity=0, type="count"),
            flag("--tag", multiple=True),
            flag("--pair", arity=2, multiple=True),
            flag("--names", arity="*", multiple=True),
            flag("--colour", arity="?"),
            flag("-x"),
            flag("--kind", enum=["a", "b"]),
            flag("--filter", type="object"),
        ],
        arguments=[Argument(name="first"), Argument(name="second"), Argument(name="rest", multiple=True)],
    )


def roost(**framework: Any) -> Sketch:
    return Sketch(**framework, flags=[flag("--region"), flag("--dry-run", arity=0)], children=[listing(**framework)])


def filled(document: dict[str, Any], *words: str, root: Command | None = None) -> Invocation:
    invocation = read_line(root or roost(), *(words or ("list",)))
    apply_input(invocation, document)
    return invocation


def refusal(document: dict[str, Any], *words: str, root: Command | None = None) -> AgentError:
    with pytest.raises(AgentError) as caught:
        filled(document, *words, root=root)
    assert caught.value.code == EXIT_USER_ERROR
    assert caught.value.suggestion
    return caught.value


# Structured input


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"top": 3}, ["--top=3"]),
        ({"top": "3"}, ["--top=3"]),
        ({"top": -3}, ["--top=-3"]),
        ({"weight": 1.5}, ["--weight=1.5"]),
        ({"weight": 2}, ["--weight=2"]),
        ({"weight": 1e-7}, ["--weight=1e-07"]),
        ({"note": "größe & <b>"}, ["--note=größe & <b>"]),
        ({"note": "--all"}, ["--note=--all"]),
        ({"note": ""}, ["--note="]),
        ({"note": 5}, ["--note=5"]),
        ({"note": "two\nlines"}, ["--note=two\nlines"]),
        ({"file": "-"}, ["--file=-"]),
        ({"loud": True}, ["--loud"]),
        ({"loud": False}, ["--no-loud"]),
        ({"all": True}, ["--all"]),
        ({"all": False}, []),
        ({"verbose": 2}, ["--verbose", "--verbose"]),
        ({"verbose": 0}, []),
        ({"tag": ["a", "b"]}, ["--tag=a", "--tag=b"]),
        ({"tag": "a"}, ["--tag=a"]),
        ({"tag": []}, []),
        ({"pair": [1, 2]}, ["--pair", "1", "2"]),
        ({"names": ["a", "b"]}, ["--names", "a", "b"]),
        ({"colour": "red"}, ["--colour=red"]),
        ({"x": "y"}, ["-xy"]),
        ({"x": ""}, ["-x", ""]),
        ({"top": None}, []),
        ({}, []),
        ({"TOP": 3}, ["--top=3"]),
        ({"filter": {"ü": [1, None]}}, ['--filter={"ü": [1, null]}']),
        ({"filter": '{"a": 1}'}, ['--filter={"a": 1}']),
    ],
)
def test_a_json_value_becomes_the_flag_that_a_caller_would_have_typed(
    document: dict[str, Any], words: list[str]
) -> None:
    assert filled(document).argv() == ["list", *words]


def test_a_parameter_of_a_group_goes_to_the_group() -> None:
    assert filled({"region": "south", "top": 3}).argv() == ["--region=south", "list", "--top=3"]


@pytest.mark.parametrize("key", ["dry-run", "dry_run", "DRY_RUN", "Dry-Run"])
def test_a_key_may_be_spelt_with_dashes_or_underscores(key: str) -> None:
    assert filled({key: True}).argv() == ["--dry-run", "list"]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"top": True}, "top"),
        ({"top": 1.5}, "top"),
        ({"top": 3.0}, "top"),
        ({"top": [1]}, "top"),
        ({"top": {"a": 1}}, "top"),
        ({"loud": "true"}, "loud"),
        ({"loud": 1}, "loud"),
        ({"loud": [True]}, "loud"),
        ({"note": False}, "note"),
        ({"note": ["a"]}, "note"),
        ({"filter": [{"a": 1}]}, "filter"),
        ({"note": {}}, "note"),
        ({"verbose": "2"}, "verbose"),
        ({"verbose": True}, "verbose"),
        ({"verbose": 1.0}, "verbose"),
        ({"tag": [["a"]]}, "tag"),
        ({"tag": [True]}, "tag"),
        ({"tag": [None]}, "tag"),
        ({"first": ["a"]}, "first"),
    ],
)
def test_a_json_value_of_the_wrong_type_is_refused(document: dict[str, Any], field: str) -> None:
    error = refusal(document)
    assert error.error in ("flag_error", "argument_error")
    assert error.field == field
    assert "invalid value" in error.message


@pytest.mark.parametrize("count", [-1, 10_000_000])
def test_a_count_that_nobody_would_type_is_refused(count: int) -> None:
    assert refusal({"verbose": count}).field == "verbose"


def test_a_sensitive_value_of_the_wrong_type_is_not_repeated() -> None:
    error = refusal(
        {"token": 48151623},
        "x",
        root=Sketch(flags=[flag("--token", sensitive=True, type="bool")], arguments=[Argument(name="a")]),
    )
    assert "48151623" not in json.dumps(error.envelope())


def test_an_unknown_key_is_refused_with_the_keys_there_are() -> None:
    error = refusal({"tpo": 3})
    assert (error.error, error.field, error.message) == (
        "flag_error",
        "tpo",
        "unknown parameter 'tpo' for 'roost list'",
    )
    assert {"region", "top", "first"} <= set(error.valid_values)
    assert "Did you mean top?" in error.suggestion


@pytest.mark.parametrize("key", ["", "--top", "list", "top ", "yes"])
def test_a_key_that_is_no_name_is_unknown(key: str) -> None:
    assert "unknown parameter" in refusal({key: 1}).message


def test_two_spellings_of_the_same_key_are_refused() -> None:
    assert "twice" in refusal({"dry-run": True, "dry_run": False}).message


def test_flags_that_differ_only_in_case_are_told_apart() -> None:
    root = Sketch(flags=[flag("-v"), flag("-V")])
    assert filled({"v": "1"}, "x", root=root).leaf.given == {"v": ["1"]}
    assert filled({"V": "2"}, "x", root=root).leaf.given == {"V": ["2"]}


def test_a_key_goes_to_the_nearest_command_that_knows_it_and_to_no_other() -> None:
    clear = Sketch("clear", arguments=[Argument(name="region")])
    invocation = filled({"region": "south"}, "clear", root=Sketch(flags=[flag("--region")], children=[clear]))
    assert invocation.argv() == ["clear", "--", "south"]


def test_a_typed_flag_wins_over_input() -> None:
    assert filled({"top": 3, "note": "x"}, "list", "--top", "9").argv() == ["list", "--top", "9", "--note=x"]


def test_input_stands_before_the_double_dash_that_was_typed() -> None:
    assert filled({"top": 3}, "list", "--", "-a").argv() == ["list", "--top=3", "--", "-a"]


# Positional arguments


@pytest.mark.parametrize(
    ("document", "words", "expected"),
    [
        ({"first": "a"}, [], ["--", "a"]),
        ({"second": "b", "first": "a"}, [], ["--", "a", "b"]),
        ({"first": "a", "second": "b", "rest": ["c", "-d"]}, [], ["--", "a", "b", "c", "-d"]),
        ({"first": "--all"}, [], ["--", "--all"]),
        ({"second": "b"}, ["a"], ["a", "--", "b"]),
        ({"first": "z", "second": "b"}, ["a"], ["a", "--", "b"]),
        ({"second": "b"}, ["--", "-a"], ["--", "-a", "b"]),
        ({"first": 5}, [], ["--", "5"]),
        ({"first": None}, [], []),
        ({"first": "a", "second": None}, [], ["--", "a"]),
    ],
)
def test_arguments_are_given_in_their_declared_order(
    document: dict[str, Any], words: list[str], expected: list[str]
) -> None:
    assert filled(document, "list", *words).argv() == ["list", *expected]


@pytest.mark.parametrize("document", [{"second": "b"}, {"first": "a", "rest": ["c"]}, {"first": None, "second": "b"}])
def test_a_gap_before_a_given_argument_is_refused(document: dict[str, Any]) -> None:
    error = refusal(document)
    assert (error.error, error.field) == ("argument_error", "second" if "rest" in document else "first")
    assert error.message.startswith("missing argument")


def test_the_arguments_of_a_passthrough_command_are_not_lost() -> None:
    root = Sketch(passthrough=True, arguments=[Argument(name="words", multiple=True)])
    assert filled({"words": ["git", "log", "-p"]}, "--", root=root).argv()[-3:] == ["git", "log", "-p"]


# Flags with several values


@pytest.mark.parametrize("document", [{"pair": [1]}, {"pair": [1, 2, 3]}, {"pair": 1}])
@pytest.mark.parametrize("framework", [DASHED, STRICT], ids=["dashed", "strict"])
def test_a_flag_that_takes_two_values_is_given_two_or_refused(
    framework: dict[str, Any], document: dict[str, Any]
) -> None:
    error = refusal({**document, "note": "must not be swallowed"}, root=roost(**framework))
    assert (error.error, error.field) == ("flag_error", "pair")


FLAGS = ["note", "tag", "pair", "names", "colour", "x"]
VALUES = st.sampled_from(["a", "", "-", "-5", "--all", "-v", "--", "--note=x", "two words", "größe"])


@given(st.data(), st.sampled_from([DASHED, STRICT]))
def test_what_murli_adds_reads_back_as_exactly_the_values_given(data: st.DataObject, framework: dict[str, Any]) -> None:
    lengths = {"tag": st.integers(1, 3), "pair": st.just(2), "names": st.integers(1, 3)}
    document: dict[str, Any] = {}
    for name in data.draw(st.lists(st.sampled_from(FLAGS), unique=True)):
        length = lengths.get(name)
        document[name] = (
            data.draw(VALUES)
            if length is None
            else data.draw(st.lists(VALUES, min_size=(n := data.draw(length)), max_size=n))
        )
    document |= {"first": data.draw(VALUES)} if data.draw(st.booleans()) else {}
    root = roost(**framework)
    open_ended = [value for name in ("pair", "names") for value in document.get(name, [])]
    try:
        invocation = filled(document, root=root)
    except AgentError:
        assert any(is_flag(value) for value in open_ended)
        return
    again = read_line(root, *invocation.argv())
    assert again.leaf.given == {
        name: value if isinstance(value, list) else [value] for name, value in document.items() if name != "first"
    }
    assert again.leaf.positionals == ([document["first"]] if "first" in document else [])
    assert again.own == {}


# Exclusive flags


def exclusive(*, declared_by: str = "tag") -> Sketch:
    return Sketch(
        flags=[
            flag("--bare", arity=0, mutually_exclusive_with=["tag"] if declared_by in ("bare", "both") else []),
            flag(
                "--tag",
                multiple=True,
                profileable=True,
                env="TAG",
                mutually_exclusive_with=["bare"] if declared_by in ("tag", "both") else [],
            ),
        ]
    )


@pytest.mark.parametrize("declared_by", ["tag", "bare", "both"])
def test_a_typed_flag_keeps_the_flags_it_excludes_out_of_every_layer(declared_by: str) -> None:
    invocation = read_line(exclusive(declared_by=declared_by), "--bare")
    apply_input(invocation, {"tag": ["x"]})
    apply_environment(invocation, {"TAG": "y"})
    apply_profile(invocation, {"tag": '["z"]'}, {})
    check_values(invocation)
    assert invocation.argv() == ["--bare"]


@pytest.mark.parametrize("declared_by", ["tag", "bare", "both"])
def test_input_that_names_two_exclusive_flags_is_refused_like_a_line_that_does(declared_by: str) -> None:
    with pytest.raises(AgentError, match="exclude each other"):
        check_values(filled({"bare": True, "tag": ["x"]}, "--", root=exclusive(declared_by=declared_by)))


@pytest.mark.parametrize("declared_by", ["tag", "bare", "both"])
def test_a_switch_that_is_off_excludes_nothing(declared_by: str) -> None:
    invocation = filled({"bare": False, "tag": ["x"]}, "--", root=exclusive(declared_by=declared_by))
    check_values(invocation)
    assert invocation.argv() == ["--tag=x", "--"]


# Precedence


def layered(*words: str, document: dict[str, Any], environ: dict[str, str], saved: dict[str, str]) -> list[str]:
    root = Sketch(flags=[flag("--region", env="REGION", profileable=True)])
    invocation = read_line(root, *words)
    apply_input(invocation, document)
    apply_environment(invocation, environ)
    apply_profile(invocation, saved, environ)
    return invocation.argv()


@pytest.mark.parametrize(
    ("words", "document", "environ", "saved", "expected"),
    [
        (["--region", "typed"], {"region": "input"}, {"REGION": "env"}, {"region": "profile"}, ["--region", "typed"]),
        ([], {"region": "input"}, {"REGION": "env"}, {"region": "profile"}, ["--region=input"]),
        ([], {}, {"REGION": "env"}, {"region": "profile"}, ["--region=env"]),
        ([], {}, {}, {"region": "profile"}, ["--region=profile"]),
        ([], {"region": None}, {}, {"region": "profile"}, ["--region=profile"]),
        ([], {}, {}, {}, []),
        (["--region="], {"region": "input"}, {}, {}, ["--region="]),
    ],
)
def test_typed_wins_over_input_over_environment_over_profile(
    words: list[str], document: dict[str, Any], environ: dict[str, str], saved: dict[str, str], expected: list[str]
) -> None:
    assert layered(*words, document=document, environ=environ, saved=saved) == expected


def test_a_variable_that_the_framework_reads_is_left_to_it_and_wins_over_the_profile() -> None:
    invocation = read_line(Sketch(flags=[flag("--region", env="REGION", env_is_native=True, profileable=True)]))
    apply_environment(invocation, {"REGION": "env"})
    apply_profile(invocation, {"region": "profile"}, {"REGION": "env"})
    assert invocation.argv() == []
    apply_profile(invocation, {"region": "profile"}, {})
    assert invocation.argv() == ["--region=profile"]


def test_a_profile_sets_only_profileable_flags_that_the_command_knows() -> None:
    invocation = read_line(Sketch(flags=[flag("--region", profileable=True), flag("--file")]))
    apply_profile(invocation, {"region": "south", "file": "x", "gone": "y"}, {})
    assert invocation.argv() == ["--region=south"]


def test_a_profile_sets_flags_of_every_level() -> None:
    root = Sketch(
        flags=[flag("--region", profileable=True)], children=[Sketch("list", flags=[flag("--top", profileable=True)])]
    )
    invocation = read_line(root, "list")
    apply_profile(invocation, {"region": "south", "top": "3"}, {})
    assert invocation.argv() == ["--region=south", "list", "--top=3"]


# Environment


@pytest.mark.parametrize("text", ["1", "true", "True", "TRUE", "yes", "on"])
def test_a_switch_is_turned_on_by_the_usual_words_in_the_environment(text: str) -> None:
    invocation = read_line(Sketch(flags=[flag("--loud", arity=0, negative="--no-loud", env="LOUD")]))
    apply_environment(invocation, {"LOUD": text})
    assert invocation.argv() == ["--loud"]


@pytest.mark.parametrize("text", ["0", "false", "False", "no", "off"])
def test_a_switch_is_turned_off_by_the_usual_words_in_the_environment(text: str) -> None:
    invocation = read_line(Sketch(flags=[flag("--loud", arity=0, negative="--no-loud", env="LOUD")]))
    apply_environment(invocation, {"LOUD": text})
    assert invocation.argv() == ["--no-loud"]


def test_any_other_word_for_a_switch_is_refused() -> None:
    invocation = read_line(Sketch(flags=[flag("--loud", arity=0, env="LOUD")]))
    with pytest.raises(AgentError) as caught:
        apply_environment(invocation, {"LOUD": "banana"})
    assert (caught.value.error, caught.value.field) == ("flag_error", "loud")


@pytest.mark.parametrize(
    "known", [flag("--region", env="X"), flag("--loud", arity=0, env="X"), flag("--top", type="int", env="X")]
)
def test_an_empty_variable_counts_as_none(known: Any) -> None:
    invocation = read_line(Sketch(flags=[known]))
    apply_environment(invocation, {"X": ""})
    assert (invocation.argv(), invocation.leaf.given) == ([], {})


def test_a_value_from_the_environment_may_look_like_a_flag() -> None:
    invocation = read_line(Sketch(flags=[flag("--note", env="NOTE")]))
    apply_environment(invocation, {"NOTE": "--yes"})
    assert invocation.argv() == ["--note=--yes"]


# What a profile stores


@given(st.text())
def test_one_value_is_stored_as_it_is(text: str) -> None:
    known = flag("--note", profileable=True)
    assert from_saved(known, to_saved(known, ["earlier", text])) == [text]


@given(st.lists(st.text()))
def test_several_values_are_stored_as_one_string_and_come_back(texts: list[str]) -> None:
    known = flag("--tag", multiple=True)
    stored = to_saved(known, texts)
    assert isinstance(stored, str)
    assert from_saved(known, stored) == texts


@pytest.mark.parametrize("stored", ["plain", "5", '{"a": 1}', '"x"', "[broken", ""])
def test_a_stored_value_that_is_no_list_is_one_value(stored: str) -> None:
    assert from_saved(flag("--tag", multiple=True), stored) == [stored]


def test_a_list_edited_by_hand_may_hold_numbers() -> None:
    assert from_saved(flag("--tag", multiple=True), '["a", 5]') == ["a", "5"]


@pytest.mark.parametrize(("words", "expected"), [(["--loud"], ["--loud"]), (["--no-loud"], ["--no-loud"])])
def test_a_switch_comes_back_from_a_profile_as_it_was_saved(words: list[str], expected: list[str]) -> None:
    root = Sketch(flags=[flag("--loud", arity=0, negative="--no-loud", profileable=True)])
    saved = {"loud": to_saved(root.flags[0], read_line(root, *words).leaf.given["loud"])}
    invocation = read_line(root)
    apply_profile(invocation, saved, {})
    assert invocation.argv() == expected


def test_a_count_comes_back_from_a_profile_as_high_as_it_was_saved() -> None:
    root = Sketch(flags=[flag("-v", "--verbose", arity=0, type="count", profileable=True)])
    saved = {"verbose": to_saved(root.flags[0], read_line(root, "-vvv").leaf.given["verbose"])}
    invocation = read_line(root)
    apply_profile(invocation, saved, {})
    assert len(read_line(root, *invocation.argv()).leaf.given["verbose"]) == 3


def test_a_flag_that_murli_adds_is_noted_as_given() -> None:
    invocation = read_line(listing())
    add_flag(invocation.leaf, invocation.leaf.command.flags[0], ["3"])
    assert invocation.leaf.given == {"top": ["3"]}


# Reading it


@pytest.fixture
def document(tmp_path: Path) -> Path:
    return tmp_path / "input.json"


def wrong_input(source: str) -> AgentError:
    with pytest.raises(AgentError) as caught:
        read_input(source)
    assert (caught.value.code, caught.value.error, caught.value.field) == (EXIT_USER_ERROR, "invalid_input", "input")
    assert caught.value.suggestion
    return caught.value


def test_an_object_is_read_from_a_file(document: Path) -> None:
    document.write_text('{"name": "größe", "tags": ["a"], "n": null}', encoding="utf-8")
    assert read_input(f"@{document}") == {"name": "größe", "tags": ["a"], "n": None}


def test_a_file_may_be_named_from_home(document: Path) -> None:
    document.write_text("{}", encoding="utf-8")
    assert read_input("@~/input.json") == {}


def test_an_object_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO('{"name": "größe"}'.encode()), encoding="latin-1"))
    assert read_input("-") == {"name": "größe"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"{",
        b'{"a": 1',
        b'{"a": "x',
        b"{'a': 1}",
        b'{"a": 1}{"b": 2}',
        b'{"a": 1} trailing',
        b'{"a": \xff}',
        b'{"a": "\xff"}',
        b'\xff\xfe{\x00"\x00',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\x00",
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_json_is_refused(document: Path, data: bytes) -> None:
    document.write_bytes(data)
    assert "not valid JSON" in wrong_input(f"@{document}").message


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ("[]", "a list"),
        ('"x"', "a string"),
        ("5", "a number"),
        ("1.5", "a number"),
        ("null", "null"),
        ("true", "a boolean"),
    ],
)
def test_what_is_no_object_is_refused_by_its_kind(document: Path, data: str, kind: str) -> None:
    document.write_text(data, encoding="utf-8")
    assert wrong_input(f"@{document}").message == f"--input must be a JSON object, not {kind}"


@pytest.mark.parametrize("data", ['{"a": 1, "b": 2, "a": 1}', '{"x": {"a": 1, "a": 2}}'])
def test_a_key_given_twice_is_refused_by_name(document: Path, data: str) -> None:
    document.write_text(data, encoding="utf-8")
    assert wrong_input(f"@{document}").message == "--input names 'a' twice"


@pytest.mark.timeout(5)
def test_a_key_given_twice_among_very_many_is_found_at_once(document: Path) -> None:
    document.write_text(
        "{" + "".join(f'"k{number}":0,' for number in range(60_000)) + '"last":0,"last":0}', encoding="utf-8"
    )
    assert "twice" in wrong_input(f"@{document}").message


def test_input_may_be_as_large_as_the_limit_and_no_larger(document: Path) -> None:
    document.write_bytes(b"{}" + b" " * (LARGEST_INPUT - 2))
    assert read_input(f"@{document}") == {}
    document.write_bytes(b"{}" + b" " * (LARGEST_INPUT - 1))
    assert f"larger than {LARGEST_INPUT} bytes" in wrong_input(f"@{document}").message


def test_standard_input_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/zero", encoding="utf-8") as endless:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", endless)
        assert "larger than" in wrong_input("-").message


@pytest.mark.parametrize("source", ["", "@", "input.json", '{"a": 1}', "--"])
def test_a_source_that_is_neither_is_refused_with_the_two_that_are(source: str) -> None:
    error = wrong_input(source)
    assert "--input @FILE" in error.suggestion


def test_a_file_that_is_missing_is_refused_by_name(tmp_path: Path) -> None:
    assert "nowhere.json" in wrong_input(f"@{tmp_path / 'nowhere.json'}").message


def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in wrong_input(f"@{tmp_path}").message


def test_a_file_name_with_a_nul_is_refused() -> None:
    assert "cannot be read" in wrong_input("@a\x00b").message


def test_a_closed_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert "closed" in wrong_input("-").message


def test_a_standard_input_that_cannot_be_read_is_refused(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(io.FileIO(document, "w"), encoding="utf-8") as write_only:
        monkeypatch.setattr(sys, "stdin", write_only)
        assert "cannot be read" in wrong_input("-").message
