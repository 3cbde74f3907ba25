"""From a command line to an exit code."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from murli._core.command import Argument, Command, Flag
from murli._core.errors import AgentError, conflict, not_found, user_error
from murli._core.metadata import Metadata
from murli._core.profiles import ProfileStore
from murli._core.runner import Adapter, Refused, execute
from murli._core.writer import writer
from tests.murli.core.conftest import Desk, Sketch, Terminal, flag, new_stream, run, run_on, written

SECRET = "s3cr3t-feather"
DELETE = Metadata(mutating=True, dry_runnable=True)


def fail(error: BaseException, cause: BaseException | None = None) -> Callable[[list[str]], object]:
    """A handler that ends with an exception."""

    def handler(_: list[str]) -> object:
        if cause is None:
            raise error
        raise error from cause

    return handler


def say(*lines: object, then: object = None) -> Callable[[list[str]], object]:
    """A handler that prints and returns."""

    def handler(_: list[str]) -> object:
        for line in lines:
            print(line)
        return then

    return handler


def answer(_: list[str]) -> None:
    writer().success("the text", {"it": "worked"})


# What a handler says


def test_the_answer_of_the_handler_is_the_answer_of_the_command() -> None:
    ran = run(Sketch(), answer, "x", version="1.2.3")
    assert ran.answer == {"result": {"it": "worked"}, "schema_version": "1.0", "status": "ok", "tool_version": "1.2.3"}
    assert ran.calls == [["x"]]


def test_a_handler_that_only_prints_has_printed_its_result() -> None:
    assert run(Sketch(), say("größe", "two")).answer["result"] == "größe\ntwo"


def test_a_handler_that_says_nothing_has_a_null_result() -> None:
    assert run(Sketch(), say()).answer["result"] is None


def test_bytes_that_a_handler_writes_are_its_result_too() -> None:
    def handler(_: list[str]) -> None:
        sys.stdout.buffer.write("größe ".encode() + b"\xff")

    assert run(Sketch(), handler).answer["result"] == "größe \ufffd"


def test_what_a_handler_prints_besides_its_answer_is_logged_and_kept_off_standard_output() -> None:
    def handler(words: list[str]) -> None:
        print("before")
        answer(words)
        print("after\nafter")

    ran = run(Sketch(), handler)
    assert json.loads(ran.stdout)["result"] == {"it": "worked"}
    assert [(line["msg"], line.get("repeated")) for line in map(json.loads, ran.stderr.splitlines())] == [
        ("before", None),
        ("after", 1),
    ]
    assert ran.code == 0


def test_a_handler_that_wraps_standard_output_anew_is_still_heard() -> None:
    def handler(_: list[str]) -> None:
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
        print("größe")
        sys.stdout.flush()

    assert run(Sketch(), handler).answer["result"] == "größe"


def test_a_handler_that_closes_standard_output_has_still_answered() -> None:
    def handler(words: list[str]) -> None:
        answer(words)
        sys.stdout.close()

    assert run(Sketch(), handler).answer["result"] == {"it": "worked"}


@pytest.mark.parametrize(
    "handler", [answer, say("x"), fail(ValueError("x")), fail(SystemExit(3)), fail(KeyboardInterrupt())]
)
def test_standard_output_is_put_back_however_the_handler_ends(handler: Callable[[list[str]], object]) -> None:
    before = sys.stdout
    run(Sketch(), handler)
    assert sys.stdout is before


def test_people_read_what_is_printed_as_it_is_printed(terminal: Terminal) -> None:
    def handler(_: list[str]) -> None:
        print("first")
        writer().success("then the answer", 1)

    assert run_on(terminal, Sketch(), handler) == (0, "first\nthen the answer\n")


@pytest.mark.parametrize("words", [["--agent"], ["--output", "json"], ["--agent", "--output=json"]])
def test_a_person_may_ask_for_json(terminal: Terminal, words: list[str]) -> None:
    code, seen = run_on(terminal, Sketch(), answer, *words)
    assert (code, json.loads(seen)["status"]) == (0, "ok")


def test_a_program_may_ask_for_text() -> None:
    assert run(Sketch(), answer, "--output", "text").stdout == b"the text\n"


# What a handler returns


@pytest.mark.parametrize("returned", [None, 0, True, False, "text", 1.5, [], {"exit": 1}])
def test_anything_but_a_number_other_than_zero_is_success(returned: object) -> None:
    assert run(Sketch(), say("done", then=returned)).code == 0


@pytest.mark.parametrize(
    ("returned", "code"), [(1, 1), (2, 2), (3, 3), (5, 5), (9, 9), (10, 2), (77, 2), (255, 2), (256, 2), (-1, 2)]
)
def test_a_number_is_the_exit_code_and_outside_the_taxonomy_the_failure_of_the_tool(returned: int, code: int) -> None:
    error = run(Sketch(), say("what was printed", then=returned)).error
    assert (error["code"], error["message"]) == (code, "what was printed")


@pytest.mark.parametrize(
    ("returned", "kind"),
    [
        (1, "user_error"),
        (2, "tool_error"),
        (4, "timeout"),
        (5, "not_found"),
        (6, "permission_denied"),
        (7, "conflict"),
        (8, "rate_limited"),
        (9, "cancelled"),
    ],
)
def test_the_kind_of_the_error_is_the_one_of_its_code(returned: int, kind: str) -> None:
    assert run(Sketch(), say("no", then=returned)).error["error"] == kind


def test_a_code_without_words_gets_some() -> None:
    assert run(Sketch(), say(then=3)).error["message"] == "the command ended with status 3"


def test_a_command_may_answer_and_still_end_with_a_code() -> None:
    def handler(words: list[str]) -> int:
        answer(words)
        return 3

    ran = run(Sketch(), handler)
    assert (ran.code, json.loads(ran.stdout)["result"], ran.stderr) == (3, {"it": "worked"}, b"")


def test_an_error_that_the_handler_wrote_itself_sets_the_exit_code() -> None:
    def handler(_: list[str]) -> None:
        writer().error(not_found("no bird"))

    assert run(Sketch(), handler).error["message"] == "no bird"


# What a handler raises


@pytest.mark.parametrize(
    ("handler", "code", "kind"),
    [
        (fail(user_error("m")), 1, "user_error"),
        (fail(conflict("m")), 7, "conflict"),
        (fail(KeyboardInterrupt()), 9, "cancelled"),
        (fail(asyncio.CancelledError()), 9, "cancelled"),
        (fail(TimeoutError("slow")), 4, "timeout"),
        (fail(subprocess.TimeoutExpired(["sleep"], 5)), 4, "timeout"),
        (fail(RuntimeError("outer"), TimeoutError("inner")), 4, "timeout"),
        (fail(RuntimeError("outer"), KeyboardInterrupt()), 9, "cancelled"),
        (fail(RuntimeError("outer"), not_found("inner")), 5, "not_found"),
        (fail(FileNotFoundError(2, "No such file or directory", "x")), 2, "internal_error"),
        (fail(PermissionError(13, "Permission denied", "x")), 2, "internal_error"),
        (fail(ValueError("m")), 2, "internal_error"),
        (fail(MemoryError()), 2, "internal_error"),
        (fail(RecursionError("deep")), 2, "internal_error"),
        (fail(GeneratorExit()), 2, "internal_error"),
        (fail(BrokenPipeError(32, "Broken pipe")), 2, "internal_error"),
        (fail(UnicodeEncodeError("utf-8", "\udce9", 0, 1, "surrogates not allowed")), 2, "internal_error"),
    ],
)
def test_every_exception_is_one_envelope_with_its_code(
    handler: Callable[[list[str]], object], code: int, kind: str
) -> None:
    error = run(Sketch(), handler).error
    assert (error["code"], error["error"]) == (code, kind)
    assert "Traceback" not in json.dumps(error)


def test_a_deadline_of_asyncio_is_a_timeout() -> None:
    async def slow() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    assert run(Sketch(), lambda _: asyncio.run(slow())).error["error"] == "timeout"


def test_an_exception_that_cannot_be_printed_is_still_one_envelope() -> None:
    class Mute(Exception):  # noqa: N818 - it says nothing
        def __str__(self) -> str:
            raise RuntimeError

    assert run(Sketch(), fail(Mute())).error["error"] == "internal_error"


@pytest.mark.parametrize("output", ["json", "text"])
def test_an_error_made_from_an_exception_is_still_one_envelope(output: str) -> None:
    message: Any = ValueError("bad number")
    values: Any = [1, 2]
    ran = run(Sketch(), fail(user_error(message, valid_values=values)), "--output", output)
    assert ran.code == 1
    assert b"bad number" in ran.stderr


@pytest.mark.parametrize("code", [0, 256, 512])
def test_an_error_never_ends_as_a_success(code: int) -> None:
    assert run(Sketch(), fail(AgentError("m", code=code))).code % 256 != 0


def test_a_result_that_has_no_json_form_is_an_error() -> None:
    assert run(Sketch(), lambda _: writer().success("x", object())).error["error"] == "marshal_error"


def test_a_second_answer_is_an_error_after_the_first() -> None:
    def handler(words: list[str]) -> None:
        answer(words)
        answer(words)

    ran = run(Sketch(), handler)
    assert json.loads(ran.stdout)["status"] == "ok"
    assert (ran.code, json.loads(ran.stderr)["error"]) == (2, "internal_error")


def test_a_person_reads_an_error_as_a_line(terminal: Terminal) -> None:
    code, seen = run_on(terminal, Sketch(), fail(not_found("no bird 'x'", "Try `roost list`.")))
    assert (code, seen) == (5, "\x1b[31m✗\x1b[0m no bird 'x'\n  Try `roost list`.\n")


# SystemExit


@pytest.mark.parametrize("code", [None, 0, False])
def test_leaving_with_success_is_success(code: Any) -> None:
    def handler(_: list[str]) -> None:
        print("bye")
        raise SystemExit(code)

    assert run(Sketch(), handler).answer["result"] == "bye"


@pytest.mark.parametrize(("code", "expected"), [(1, 1), (3, 3), (9, 9), (77, 2), (-1, 2), (256, 2)])
def test_leaving_with_a_code_is_that_code(code: int, expected: int) -> None:
    assert run(Sketch(), fail(SystemExit(code))).error["code"] == expected


def test_leaving_with_true_is_a_failure_as_it_is_in_python() -> None:
    true: Any = True  # sys.exit(not ok)
    assert run(Sketch(), fail(SystemExit(true))).code == 1


def test_leaving_with_a_sentence_is_a_user_error() -> None:
    error = run(Sketch(), fail(SystemExit("cannot go on"))).error
    assert (error["code"], error["error"], error["message"]) == (1, "user_error", "cannot go on")


@pytest.mark.parametrize(("code", "expected"), [(None, 0), (0, 0), (3, 3), (77, 2)])
def test_leaving_on_a_terminal_is_the_same_code(terminal: Terminal, code: Any, expected: int) -> None:
    assert run_on(terminal, Sketch(), fail(SystemExit(code)))[0] == expected


def test_leaving_with_a_sentence_on_a_terminal_shows_it(terminal: Terminal) -> None:
    code, seen = run_on(terminal, Sketch(), fail(SystemExit("cannot go on")))
    assert code == 1
    assert "cannot go on" in seen


@pytest.mark.parametrize("output", ["json", "text"])
def test_leaving_after_an_error_keeps_the_code_of_the_error(output: str) -> None:
    def handler(_: list[str]) -> None:
        writer().error(not_found("no bird"))
        raise SystemExit

    assert run(Sketch(), handler, "--output", output).code == 5


# --debug


def test_debug_shows_where_an_unexpected_error_happened() -> None:
    lines = run(Sketch(), fail(ValueError("m")), "--debug", "--output", "ndjson").stderr.splitlines()
    log, error = map(json.loads, lines)
    assert log["level"] == "debug"
    assert log["msg"].startswith("Traceback (most recent call last):")
    assert "ValueError: m" in log["msg"]
    assert error["error"] == "internal_error"


def test_debug_shows_nothing_more_of_an_expected_error() -> None:
    assert run(Sketch(), fail(conflict("taken")), "--debug").error["error"] == "conflict"


def test_debug_shows_no_secret() -> None:
    ran = run(
        Sketch(flags=[flag("--token", sensitive=True)]), fail(ValueError(f"bad {SECRET}")), "--debug", "--token", SECRET
    )
    assert SECRET.encode() not in ran.stderr
    assert b"Traceback" in ran.stderr


# The guard


def guarded() -> Sketch:
    return Sketch(children=[Sketch("delete", metadata=DELETE, arguments=[Argument(name="id", required=True)])])


def test_a_mutation_is_not_even_started_without_confirmation() -> None:
    ran = run(guarded(), answer, "delete", "7")
    assert ran.error["error"] == "confirmation_required"
    assert ran.calls == []


def test_a_switch_with_which_nothing_changes_needs_no_confirmation() -> None:
    metadata = Metadata(mutating=True, unguarded_with=["check-only"])
    root = Sketch(children=[Sketch("delete", metadata=metadata, flags=[flag("--check-only", arity=0)])])
    assert run(root, answer, "delete", "--check-only").calls == [["delete", "--check-only"]]
    assert run(root, answer, "delete").error["error"] == "confirmation_required"


@pytest.mark.parametrize("word", ["--yes", "--force", "--dry-run"])
def test_a_mutation_runs_when_it_is_confirmed_or_only_tried(word: str) -> None:
    assert run(guarded(), answer, "delete", "7", word).calls == [["delete", "7"]]


def test_a_person_is_not_asked_for_flags(terminal: Terminal) -> None:
    assert run_on(terminal, guarded(), answer, "delete", "7") == (0, "the text\n")


def test_json_for_a_person_is_not_guarded_but_an_agent_on_a_terminal_is(terminal: Terminal) -> None:
    code, seen = run_on(terminal, guarded(), answer, "delete", "7", "--output", "json")
    assert (code, json.loads(seen)["status"]) == (0, "ok")


def test_an_agent_on_a_terminal_is_guarded(terminal: Terminal) -> None:
    code, seen = run_on(terminal, guarded(), answer, "delete", "7", "--agent")
    assert (code, json.loads(seen)["error"]) == (1, "confirmation_required")


def test_text_for_a_program_is_guarded() -> None:
    ran = run(guarded(), answer, "delete", "7", "--output", "text")
    assert (ran.code, ran.stdout, ran.calls) == (1, b"", [])


def test_a_mutation_without_a_guard_runs() -> None:
    command = Sketch(metadata=Metadata(mutating=True, guard=False))
    assert run(command, answer).answer["status"] == "ok"


def test_what_is_wrong_with_the_line_is_told_before_the_guard() -> None:
    assert run(guarded(), answer, "delete").error["message"] == "missing argument 'id'"
    assert run(guarded(), answer, "delete", "7", "--nope").error["message"].startswith("unknown flag --nope")


def test_a_flag_that_the_framework_finds_in_the_environment_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOST_TOKEN", SECRET)
    command = Sketch(metadata=DELETE, flags=[flag("--token", required=True, env="ROOST_TOKEN", env_is_native=True)])
    assert run(command, answer).error["error"] == "confirmation_required"


@pytest.mark.parametrize("name", ["yes", "force", "dry-run"])
def test_a_flag_of_the_tool_that_structured_input_declines_confirms_nothing(name: str) -> None:
    command = Sketch(metadata=DELETE, flags=[flag(f"--{name}", arity=0)])
    ran = run(command, answer, "--input", "-", stdin=json.dumps({name: False}).encode())
    assert ran.error["error"] == "confirmation_required"
    assert ran.calls == []


@pytest.mark.parametrize("name", ["yes", "force", "dry-run"])
def test_a_flag_of_the_tool_that_the_environment_declines_confirms_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOST_SURE", "false")
    command = Sketch(metadata=DELETE, flags=[flag(f"--{name}", arity=0, env="ROOST_SURE")])
    assert run(command, answer).error["error"] == "confirmation_required"


@pytest.mark.parametrize("words", [["--", "delete", "7"], ["--file", "--", "delete", "7"]])
def test_a_command_behind_a_double_dash_does_not_get_past_the_guard(words: list[str]) -> None:
    root = Sketch(flags=[flag("--file")], children=guarded().children, runs_alone=True)
    ran = run(root, answer, *words)  # click would run `delete` in both lines
    assert ran.error["code"] == 1
    assert ran.calls == []


# Dry run


def test_a_dry_run_reaches_the_handler() -> None:
    def handler(_: list[str]) -> None:
        out = writer()
        assert out.dry_run
        assert not out.forced
        out.plan("would", {"would_delete": "7"})

    assert run(guarded(), handler, "delete", "7", "--dry-run").answer["status"] == "plan"


@pytest.mark.parametrize(
    ("word", "forced", "dry"), [("--yes", True, False), ("--force", True, False), ("--dry-run", False, True)]
)
def test_the_handler_is_told_how_it_was_confirmed(word: str, forced: bool, dry: bool) -> None:  # noqa: FBT001
    seen: list[tuple[bool, bool]] = []
    run(guarded(), lambda _: seen.append((writer().forced, writer().dry_run)), "delete", "7", word)
    assert seen == [(forced, dry)]


def test_a_dry_run_flag_of_the_tool_reaches_the_handler_from_structured_input_too() -> None:
    seen: list[bool] = []
    command = Sketch(metadata=DELETE, flags=[flag("--dry-run", arity=0)])
    run(command, lambda _: seen.append(writer().dry_run), "--input", "-", stdin=b'{"dry-run": true}')
    assert seen == [True]


def test_a_dry_run_is_unknown_to_a_command_that_has_none() -> None:
    def refuse(_: list[str]) -> None:
        raise Refused("no such option: --dry-run")

    assert run(Sketch(), refuse, "--dry-run").error["field"] == "dry-run"


# murli's own flags


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--output", "xml"], "output"),
        (["--output="], "output"),
        (["--output"], "output"),
        (["--protocol-version", "9"], "protocol-version"),
        (["--limit", "none"], "limit"),
        (["--limit", "0"], "limit"),
        (["--limit", "9" * 5000], "limit"),
        (["--fields", "a..b"], "fields"),
        (["--agent=1"], "agent"),
    ],
)
def test_a_wrong_value_for_one_of_murlis_flags_is_refused_before_anything_runs(words: list[str], field: str) -> None:
    ran = run(Sketch(), answer, *words)
    assert (ran.error["code"], ran.error["error"], ran.error["field"]) == (1, "flag_error", field)
    assert ran.calls == []


def test_the_protocol_version_of_murli_is_accepted() -> None:
    assert run(Sketch(), answer, "--protocol-version", "0.2").code == 0


def test_fields_and_limit_shape_the_answer() -> None:
    ran = run(
        Sketch(), lambda _: writer().success("", [{"id": 1, "x": 2}, {"id": 2}]), "--fields", "id", "--limit", "1"
    )
    assert ran.answer == {"result": [{"id": 1}], "schema_version": "1.0", "status": "ok", "total": 2}


def test_a_wrong_field_of_a_command_that_reads_is_an_error_without_an_answer() -> None:
    assert run(Sketch(), answer, "--fields", "nope").error["valid_values"] == ["it"]


def test_a_wrong_field_of_a_command_that_changes_something_is_no_error() -> None:
    assert run(Sketch(metadata=DELETE), answer, "--yes", "--fields", "nope").answer["result"] == {}


@pytest.mark.parametrize("words", [["--schema"], ["--schema", "--nope"], ["--limit", "5", "--schema"]])
def test_a_schema_never_needs_arguments_and_runs_nothing(words: list[str]) -> None:
    ran = run(guarded(), answer, "delete", *words)
    assert ran.answer["name"] == "delete"
    assert ran.calls == []


def test_help_is_the_page_of_the_framework_and_what_murli_adds() -> None:
    ran = run(guarded(), answer, "delete", "--help")
    assert ran.code == 0
    assert ran.stdout.startswith(b"help of roost delete\n")
    for option in (b"--agent", b"--output", b"--dry-run", b"--yes"):
        assert option in ran.stdout
    assert b"--profile" not in ran.stdout
    first = run(guarded(), answer, "--help").stdout
    assert b"describe" in first
    assert b"--output FORMAT" in first


# Commands


def test_an_unknown_command_comes_with_those_there_are() -> None:
    error = run(guarded(), answer, "delte").error
    assert (error["error"], error["valid_values"]) == ("unknown_command", ["delete", "describe"])
    assert "Did you mean delete?" in error["suggestion"]


def test_an_unknown_flag_before_the_command_is_told_and_not_the_word_after_it() -> None:
    error = run(guarded(), answer, "--tokn", SECRET, "delete", "7").error
    assert (error["error"], error["field"]) == ("flag_error", "tokn")
    assert SECRET not in json.dumps(error)


def test_a_missing_command_comes_with_those_there_are() -> None:
    error = run(guarded(), answer).error
    assert (error["error"], error["valid_values"]) == ("missing_command", ["delete", "describe"])


def test_a_person_without_a_command_reads_the_help_page(terminal: Terminal) -> None:
    code, seen = run_on(terminal, guarded(), answer)
    assert code == 1
    assert seen.startswith("help of roost\n")


def test_a_group_that_runs_alone_runs() -> None:
    assert run(Sketch(children=guarded().children, runs_alone=True), answer).answer["result"] == {"it": "worked"}


# What the framework refuses


def refuse(_: list[str]) -> None:
    raise Refused("the framework says no")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nope"], "unknown flag --nope for 'roost'"),
        (["--top", "x"], "invalid value 'x' for --top: expected a whole number"),
        (["--top"], "--top needs a value"),
        (["a", "b"], "unexpected argument 'b' for 'roost'"),
        ([], "missing argument 'id'"),
        (["a"], "the framework says no"),
    ],
)
def test_a_refusal_of_the_framework_is_put_in_murlis_words(words: list[str], message: str) -> None:
    command = Sketch(flags=[flag("--top", type="int")], arguments=[Argument(name="id", required=True)])
    error = run(command, refuse, *words).error
    assert (error["code"], error["message"]) == (1, message)


def test_what_the_framework_accepts_is_not_murlis_to_refuse() -> None:
    command = Sketch(flags=[flag("--region", enum=["north"], enum_is_native=True), flag("--top", type="int")])
    assert run(command, answer, "--region", "NORTH", "--top", "0x10", "extra", "--odd").code == 0


# Values from elsewhere


def saved(home: Path, values: dict[str, str], default: str = "home") -> None:
    ProfileStore(str(home / ".roost" / "profiles.json"), default, {"home": values}).save()


def regions() -> Sketch:
    return Sketch(
        flags=[
            flag("--region", env="ROOST_REGION", profileable=True),
            flag("--token", sensitive=True, env="ROOST_TOKEN", profileable=True),
        ]
    )


def test_typed_wins_over_input_over_environment_over_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path, {"region": "profile"})
    document = b'{"region": "input"}'
    assert run(regions(), answer).calls == [["--region=profile"]]
    monkeypatch.setenv("ROOST_REGION", "environment")
    assert run(regions(), answer).calls == [["--region=environment"]]
    assert run(regions(), answer, "--input", "-", stdin=document).calls == [["--region=input"]]
    assert run(regions(), answer, "--input", "-", "--region", "typed", stdin=document).calls == [["--region", "typed"]]


def test_a_profile_that_does_not_exist_is_not_found() -> None:
    assert run(regions(), answer, "--profile", "nope").error["error"] == "not_found"


def test_a_damaged_profile_file_is_an_error_for_a_command_that_would_use_it(tmp_path: Path) -> None:
    saved(tmp_path, {})
    (tmp_path / ".roost" / "profiles.json").write_text("{", encoding="utf-8")
    ran = run(regions(), answer)
    assert ran.error["error"] == "profile_error"
    assert ran.calls == []
    assert run(regions(), answer, "--schema").code == 0


def test_wrong_input_is_refused_before_anything_runs() -> None:
    for document in (b"{", b"[]", b'{"nope": 1}', b'{"region": true}', b"\xff"):
        ran = run(regions(), answer, "--input", "-", stdin=document)
        assert ran.error["code"] == 1
        assert ran.calls == []


@pytest.mark.parametrize("words", [["--token", SECRET], ["--token=" + SECRET], ["--input", "-"]])
def test_a_secret_is_cut_out_of_every_error_however_it_was_given(words: list[str]) -> None:
    ran = run(regions(), fail(ValueError(f"cannot use {SECRET}")), *words, stdin=json.dumps({"token": SECRET}).encode())
    assert ran.error["message"] == "ValueError: cannot use ***"


def test_a_secret_of_the_environment_or_a_profile_is_cut_out_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, {"token": "from-profile"})
    assert run(regions(), fail(ValueError("from-profile"))).error["message"] == "ValueError: ***"
    monkeypatch.setenv("ROOST_TOKEN", "from-environment")
    assert run(regions(), fail(ValueError("from-environment"))).error["message"] == "ValueError: ***"


def test_a_secret_that_the_framework_reads_from_the_environment_is_cut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOST_TOKEN", SECRET)
    command = Sketch(flags=[flag("--token", sensitive=True, env="ROOST_TOKEN", env_is_native=True)])
    assert run(command, fail(ValueError(SECRET))).error["message"] == "ValueError: ***"


@pytest.mark.parametrize("value", ["", "e", "no"])
def test_a_secret_too_short_to_be_one_garbles_no_message(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOST_TOKEN", value)
    monkeypatch.setenv("ROOST_REGION", "north")
    assert run(regions(), fail(ValueError("no one is here"))).error["message"] == "ValueError: no one is here"


def test_an_agent_is_told_of_a_flag_that_a_person_would_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    command = Sketch(flags=[flag("--token", prompts=True, env="ROOST_TOKEN")])
    ran = run(command, answer)
    assert (ran.error["message"], ran.calls) == ("missing flag --token", [])
    monkeypatch.setenv("ROOST_TOKEN", SECRET)
    assert run(command, answer).code == 0


def test_a_person_is_asked_by_the_framework(terminal: Terminal) -> None:
    assert run_on(terminal, Sketch(flags=[flag("--token", prompts=True)]), answer)[0] == 0


def test_a_value_that_no_honest_caller_would_pass_is_refused_before_anything_runs() -> None:
    command = Sketch(arguments=[Argument(name="id")])
    ran = run(command, answer, "../../etc/passwd")
    assert ran.error["error"] == "invalid_input"
    assert ran.calls == []


def test_a_word_that_is_not_utf8_is_refused_before_anything_runs() -> None:
    ran = run(Sketch(arguments=[Argument(name="x")]), answer, "caf\udce9")
    assert ran.error["error"] == "invalid_input"
    assert ran.calls == []


# Streams that fail


def on_pipe(raw: io.FileIO, stdout: Any, handler: Callable[[list[str]], object], *words: str) -> tuple[int, bytes]:
    """Run with a standard output of our own, which is closed afterwards."""
    stderr = new_stream()
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            code = execute(Desk(Sketch(), handler), words)
    finally:
        raw.close()
        stdout.close()
    return code, written(stderr)


def broken_pipe() -> io.FileIO:
    reading, writing = os.pipe()
    os.close(reading)
    return io.FileIO(writing, "w")


@pytest.mark.parametrize("handler", [answer, lambda _: writer().event(1), say("printed")])
def test_a_reader_that_has_gone_ends_the_command_quietly(handler: Callable[[list[str]], object]) -> None:
    raw = broken_pipe()
    assert on_pipe(raw, io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8"), handler) == (9, b"")


def test_a_reader_that_has_gone_ends_an_unbuffered_command_quietly() -> None:
    raw = broken_pipe()
    assert on_pipe(raw, io.TextIOWrapper(raw, encoding="utf-8", write_through=True), answer) == (9, b"")


@pytest.mark.parametrize("buffered", [4, 1 << 20], ids=["a page larger than the buffer", "a page that fits"])
def test_a_reader_that_has_gone_ends_a_help_page_quietly(buffered: int) -> None:
    raw = broken_pipe()
    stdout = io.TextIOWrapper(io.BufferedWriter(raw, buffered), encoding="utf-8", write_through=True)
    assert on_pipe(raw, stdout, answer, "--help") == (9, b"")


def test_a_full_disk_is_an_output_error() -> None:
    raw = io.FileIO("/dev/full", "w")
    code, stderr = on_pipe(raw, io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8"), answer)
    assert (code, json.loads(stderr)["error"]) == (2, "output_error")


def test_a_standard_output_that_was_closed_from_the_start_is_an_output_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = new_stream()
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", stderr)
    desk = Desk(Sketch(), answer)
    assert execute(desk, []) == 2
    assert json.loads(written(stderr))["error"] == "output_error"
    assert desk.calls == []


def test_a_command_without_any_stream_still_has_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert execute(Desk(Sketch(), answer), []) == 2


@pytest.mark.parametrize("words", [[], ["--output", "text"]])
def test_a_command_without_standard_error_still_has_its_code(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", new_stream())
    monkeypatch.setattr(sys, "stderr", None)
    assert execute(Desk(Sketch(), fail(not_found("no bird"))), words) == 5


def test_a_command_that_logs_without_standard_error_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(words: list[str]) -> None:
        writer().log("a remark")
        writer().progress("half way")
        answer(words)

    stdout = new_stream()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", None)
    assert execute(Desk(Sketch(), handler), []) == 0
    assert json.loads(written(stdout))["status"] == "ok"


def test_a_log_that_cannot_be_written_does_not_fail_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.FileIO("/dev/full", "w")
    stderr = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", new_stream())
    monkeypatch.setattr(sys, "stderr", stderr)
    try:
        assert execute(Desk(Sketch(), lambda _: writer().log("a remark")), []) == 0
    finally:
        raw.close()
        stderr.close()


# Tools with a defect


def test_a_tool_whose_commands_cannot_be_drawn_is_one_envelope() -> None:
    class Broken(Sketch):
        @property
        def flags(self) -> list[Flag]:
            raise TypeError("not enough arguments for format string")

    error = run(Broken(), answer, "--top", "5").error
    assert (error["code"], error["error"]) == (2, "internal_error")


def test_an_adapter_must_say_how_to_run_and_how_to_help() -> None:
    class Empty(Adapter):
        root: Command = Sketch()

    with pytest.raises(NotImplementedError):
        Empty().invoke([], Sketch())
    stdout, stderr = new_stream(), new_stream()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        assert execute(Empty(), []) == 2
    assert json.loads(written(stderr))["message"] == "NotImplementedError"


def test_the_current_writer_is_gone_when_the_command_is_over() -> None:
    for handler in (answer, fail(ValueError("m")), fail(SystemExit(1))):
        run(Sketch(), handler)
        with pytest.raises(RuntimeError, match="only there while a command runs"):
            writer()
