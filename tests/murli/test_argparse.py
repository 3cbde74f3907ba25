"""murli on argparse: what this framework alone can declare."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from murli import FlagAnnotation, Metadata, ReturnSchema, user_error, writer
from murli.argparse import annotate, describe, execute, schema


def answer(parser: argparse.ArgumentParser, line: str, capsys: pytest.CaptureFixture[str], **options: Any) -> Any:
    """The envelope of a command line that must succeed."""
    code = execute(parser, argv=line.split(), **options)
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return json.loads(captured.out)["result"]


def refusal(parser: argparse.ArgumentParser, line: str, capsys: pytest.CaptureFixture[str], **options: Any) -> Any:
    """The envelope of a command line that must fail."""
    code = execute(parser, argv=line.split(), **options)
    captured = capsys.readouterr()
    assert captured.out == ""
    error = json.loads(captured.err)
    assert error["code"] == code
    return error


def echo(args: argparse.Namespace) -> None:
    writer().success("", {key: value for key, value in vars(args).items() if key != "func"})


def flat() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="flat", description="Does one thing.\nIn one way.\n\nMore about it.")
    parser.add_argument("file")
    parser.add_argument("-n", "--number", type=int, default=1, help="count, %(default)s by default")
    parser.add_argument("-v", action="count", default=0)
    return parser


def test_a_tool_without_subcommands_runs_its_main_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(flat(), "-vv -n3 a.txt", capsys, main=echo) == {"file": "a.txt", "number": 3, "v": 2}


def test_a_tool_without_subcommands_describes_itself_as_root(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(flat(), echo, argv=["describe"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["summary"] == "Does one thing. In one way."
    assert document["root"]["arguments"] == [{"name": "file", "type": "string", "required": True, "description": ""}]
    assert document["root"]["flags"][0] == {
        "name": "number",
        "type": "int",
        "default": 1,
        "description": "count, 1 by default",
        "short": "-n",
    }
    assert [command["name"] for command in document["commands"]] == ["describe"]


def test_a_word_after_two_dashes_is_never_one_of_murlis_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(flat(), "-- describe", capsys, main=echo)["file"] == "describe"


def test_the_version_action_answers_in_an_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    parser = flat()
    parser.add_argument("--version", action="version", version="flat 2.0")
    assert answer(parser, "--version", capsys, main=echo) == "flat 2.0"


def test_the_version_of_a_tool_with_commands_needs_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    parser = tree()
    parser.add_argument("--version", action="version", version="tree 3")
    assert answer(parser, "--version", capsys) == "tree 3"


def test_a_command_that_argparse_reads_differently_is_not_run_unguarded(capsys: pytest.CaptureFixture[str]) -> None:
    ran: list[str] = []
    parser = argparse.ArgumentParser(prog="odd")
    parser.add_argument("where", nargs="?")
    parser.set_defaults(func=lambda _: ran.append("root"))
    delete = parser.add_subparsers().add_parser("delete")
    delete.set_defaults(func=lambda _: ran.append("delete"))
    annotate(delete, Metadata(mutating=True))
    assert refusal(parser, "delete", capsys)["code"] == 1
    assert ran == []


def test_a_flag_that_takes_a_word_or_none_does_not_swallow_the_word_behind_one_of_murlis(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = argparse.ArgumentParser(prog="colour")
    parser.add_argument("--color", nargs="?", const="auto")
    parser.add_argument("file")
    assert refusal(parser, "--color --agent f.txt", capsys, main=echo)["suggestion"].startswith(
        "Put --agent in front of --color."
    )
    assert answer(parser, "--agent f.txt --color", capsys, main=echo) == {"color": "auto", "file": "f.txt"}


def test_a_help_text_that_argparse_cannot_format_stops_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="half")
    parser.add_argument("--share", type=int, default=1, help="50 percent")
    parser._actions[-1].help = "50% of it"
    assert answer(parser, "--share 3", capsys, main=echo) == {"share": 3}


def test_a_sensitive_default_is_not_told_by_the_help_text_either() -> None:
    parser = argparse.ArgumentParser(prog="s")
    parser.add_argument("--token", default="hunter22", help="your token (default: %(default)s)")
    annotate(parser, Metadata(flag_annotations={"token": FlagAnnotation(sensitive=True)}))
    assert "hunter22" not in json.dumps(describe(parser))


def test_a_dry_run_that_only_prints_is_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="p")
    annotate(parser, Metadata(mutating=True, dry_runnable=True))
    assert execute(parser, lambda _: print("would do it"), argv=["--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "plan"


def test_an_error_in_a_group_of_exceptions_is_still_told(capsys: pytest.CaptureFixture[str]) -> None:
    def main(_: argparse.Namespace) -> None:
        raise ExceptionGroup("several", [user_error("the first"), ValueError("the second")])

    assert refusal(argparse.ArgumentParser(prog="p"), "", capsys, main=main)["message"] == "the first"


def test_a_tool_without_a_function_says_what_its_author_forgot(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(flat(), "a.txt", capsys)
    assert (error["code"], error["error"]) == (2, "internal_error")
    assert "set_defaults(func=…)" in error["message"]


def test_the_parser_is_left_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    parser = flat()
    refusal(parser, "", capsys, main=echo)
    with pytest.raises(SystemExit) as leaving:
        parser.parse_args([])
    assert leaving.value.code == 2
    assert "usage:" in capsys.readouterr().err


def tree() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tree")
    commands = parser.add_subparsers()
    leaf = commands.add_parser("leaf", aliases=["l"], help="A leaf.")
    leaf.add_argument("words", nargs="*")
    leaf.add_argument("--pair", nargs=2, type=float)
    leaf.add_argument("--maybe", nargs="?", const="yes")
    leaf.add_argument("--many", nargs="+")
    leaf.add_argument("--path", type=Path)
    leaf.add_argument("--hex", type=lambda text: int(text, 16))
    leaf.add_argument("--hidden", help=argparse.SUPPRESS)
    either = leaf.add_mutually_exclusive_group()
    either.add_argument("--left", action="store_true")
    either.add_argument("--right", action="store_true")
    leaf.set_defaults(func=echo)
    execute_ = commands.add_parser("exec")
    execute_.add_argument("--dir")
    execute_.add_argument("command", nargs=argparse.REMAINDER)
    execute_.set_defaults(func=echo)
    return parser


def test_an_alias_runs_the_command_and_is_described_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(tree(), "l a b", capsys)["words"] == ["a", "b"]
    assert [command["name"] for command in describe(tree())["commands"]] == ["leaf", "exec", "describe"]


def test_every_kind_of_flag_can_be_given_as_structured_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text(
        json.dumps(
            {
                "words": ["-x", "--agent"],
                "pair": [1, 2.5],
                "maybe": "so",
                "many": ["a", "b"],
                "path": "/tmp",
                "left": True,
                "right": False,
            }
        )
    )
    result = answer(tree(), f"leaf --input @{tmp_path}/in.json --fields words,pair,maybe,many,left,right", capsys)
    assert result == {
        "words": ["-x", "--agent"],
        "pair": [1.0, 2.5],
        "maybe": "so",
        "many": ["a", "b"],
        "left": True,
        "right": False,
    }


def test_exclusive_groups_are_described_and_refused(capsys: pytest.CaptureFixture[str]) -> None:
    flags = {flag["name"]: flag for flag in describe(tree())["commands"][0]["flags"]}
    assert flags["left"]["mutually_exclusive_with"] == ["right"]
    assert refusal(tree(), "leaf --left --right", capsys)["message"] == "--left and --right exclude each other"


def test_types_and_hidden_flags_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    flags = {flag["name"]: flag for flag in describe(tree())["commands"][0]["flags"]}
    assert {name: flag["type"] for name, flag in flags.items()} == {
        "pair": "float",
        "maybe": "string",
        "many": "string",
        "path": "path",
        "hex": "string",
        "left": "bool",
        "right": "bool",
    }
    assert flags["pair"]["multiple"] is True
    assert answer(tree(), "leaf --hidden x --fields hidden", capsys) == {"hidden": "x"}


def test_a_custom_type_is_refused_in_argparses_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(tree(), "leaf --hex zz", capsys)
    assert error["error"] == "flag_error"
    assert "'zz'" in error["message"]


def test_flags_of_a_wrapped_command_are_not_murlis(capsys: pytest.CaptureFixture[str]) -> None:
    result = answer(tree(), "exec --dir d git log --output x --agent", capsys)
    assert result == {"dir": "d", "command": ["git", "log", "--output", "x", "--agent"]}


def test_an_abbreviated_flag_still_counts_as_given(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="abbr")
    parser.add_argument("--region-name")
    annotate(parser, Metadata(flag_annotations={"region-name": FlagAnnotation(enum=["a", "b"])}))
    assert answer(parser, "--region b", capsys, main=echo) == {"region_name": "b"}
    assert refusal(parser, "--region c", capsys, main=echo)["valid_values"] == ["a", "b"]


def test_a_tools_own_flag_beats_murlis(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="own")
    parser.add_argument("--output")
    parser.add_argument("--limit")
    assert answer(parser, "--output a.txt --limit none", capsys, main=echo) == {"output": "a.txt", "limit": "none"}


def test_a_tools_own_force_flag_satisfies_the_guard(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="own")
    parser.add_argument("--force", action="store_true")
    annotate(parser, Metadata(mutating=True))
    assert refusal(parser, "", capsys, main=echo)["error"] == "confirmation_required"
    assert answer(parser, "--force", capsys, main=echo) == {"force": True}


def test_the_handler_attribute_can_have_another_name(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="named")
    parser.add_argument("--x")
    parser.set_defaults(call=lambda args: writer().success("", args.x))
    assert answer(parser, "--x 1", capsys, handler="call") == "1"


def test_what_a_handler_prints_becomes_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(argparse.ArgumentParser(prog="p"), "", capsys, main=lambda _: print("plain\ntext")) == "plain\ntext"


def test_what_a_handler_prints_beside_its_answer_goes_to_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    def main(_: argparse.Namespace) -> None:
        print("debugging")
        writer().success("done", 1)

    assert execute(argparse.ArgumentParser(prog="p"), main, argv=[]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["result"] == 1
    assert json.loads(captured.err)["msg"] == "debugging"


def test_what_a_handler_printed_before_it_failed_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    def main(_: argparse.Namespace) -> None:
        print("half way")
        raise OSError("the bridge is out")

    assert execute(argparse.ArgumentParser(prog="p"), main, argv=["--output", "ndjson"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert json.loads(first)["msg"] == "half way"
    assert json.loads(second)["message"] == "OSError: the bridge is out"


def test_a_handlers_number_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(argparse.ArgumentParser(prog="p"), "", capsys, main=lambda _: 4)
    assert (error["code"], error["message"]) == (4, "the command ended with status 4")


def test_a_status_outside_the_taxonomy_is_named_as_the_tool_gave_it(capsys: pytest.CaptureFixture[str]) -> None:
    for end in (lambda _: 42, lambda _: sys.exit(42)):
        error = refusal(argparse.ArgumentParser(prog="p"), "", capsys, main=end)
        assert (error["code"], error["message"]) == (2, "the command ended with status 42")


def test_two_dashes_behind_an_equals_sign_are_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser(prog="p")
    parser.add_argument("-n", "--number", type=int)
    parser.add_argument("--word")
    parser.add_argument("--choice", choices=["a", "b"])
    parser.add_argument("--words", action="append")
    parser.add_argument("--many", nargs="+")
    assert answer(parser, "--word=-- --words=-- --many=--", capsys, main=echo) == {
        "number": None,
        "word": "--",
        "choice": None,
        "words": ["--"],
        "many": ["--"],
    }
    for line in ("--number=--", "-n--", "--choice=--"):
        assert refusal(parser, line, capsys, main=echo)["message"].startswith("invalid value '--' for --"), line


def test_schema_of_one_parser_is_available_to_code() -> None:
    assert schema(flat())["name"] == "flat"


def test_a_page_of_text_is_printed_as_it_is_unless_another_form_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = argparse.ArgumentParser(prog="page")
    annotate(parser, Metadata(returns=ReturnSchema(type="text")))

    def main(_: argparse.Namespace) -> None:
        writer().success("line one\nline two", "line one\nline two")

    assert execute(parser, main, argv=[]) == 0
    assert capsys.readouterr().out == "line one\nline two\n"
    assert answer(parser, "--agent", capsys, main=main) == "line one\nline two"
    assert refusal(parser, "--bogus", capsys, main=main)["error"] == "flag_error"
