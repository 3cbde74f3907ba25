"""The same command line gives the same bytes and the same exit code under argparse, click and typer."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.murli.conftest import Ran, Tool

ANSWERS = [
    "describe",
    "describe --output ndjson",
    "describe --agents-md",
    "list",
    "list --agent",
    "--agent list",
    "list --limit 1",
    "list --output ndjson",
    "list --output text",
    "list --fields id,tags",
    "list --region south",
    "list --debug",
    "get pip",
    "get pip --schema",
    "--schema",
    "nest --schema",
    "add Hoot -s owl --count 2 --tag a --tag b",
    "add Hoot -sowl",
    "add --species=owl -- Hoot",
    "delete quill --dry-run",
    "delete quill --yes",
    "delete quill --force",
    "watch --steps 2",
    "whoami --loud",
    "whoami --no-loud",
    "--token abcdefgh whoami",
    "nest list",
    "nest clear north --force",
    "profile list",
    "profile save x --region south",
    "--region south --token abcdefgh profile save x",
    "profile save --schema",
    "profile use --clear",
]

REFUSALS = {
    "": (1, "missing_command", "'roost' needs a command"),
    "lst": (1, "unknown_command", "unknown command 'lst' for 'roost'"),
    "nest": (1, "missing_command", "'roost nest' needs a command"),
    "nest lst": (1, "unknown_command", "unknown command 'lst' for 'roost nest'"),
    "profile": (1, "missing_command", "'roost profile' needs a command"),
    "profile sav": (1, "unknown_command", "unknown command 'sav' for 'roost profile'"),
    "-- list": (1, "missing_command", "'roost' needs a command"),
    "-- delete quill": (1, "missing_command", "'roost' needs a command"),
    "--bogus list": (1, "flag_error", "unknown flag --bogus for 'roost'"),
    "list --bogus=1": (1, "flag_error", "unknown flag --bogus for 'roost list'"),
    "list -x": (1, "flag_error", "unknown flag -x for 'roost list'"),
    "list --yes": (1, "flag_error", "unknown flag --yes for 'roost list'"),
    "delete quill --frce": (1, "flag_error", "unknown flag --frce for 'roost delete'"),
    "--region": (1, "flag_error", "--region needs a value"),
    "--region west list": (1, "flag_error", "invalid value 'west' for --region"),
    "list --sort nope": (1, "flag_error", "invalid value 'nope' for --sort"),
    "list --species": (1, "flag_error", "--species needs a value"),
    "watch --steps abc": (1, "flag_error", "invalid value 'abc' for --steps: expected a whole number"),
    "watch --steps=--": (1, "flag_error", "invalid value '--' for --steps: expected a whole number"),
    "list --sort=--": (1, "flag_error", "invalid value '--' for --sort"),
    "list --species=--": (1, "flag_error", "invalid value '--' for --species"),
    "watch --steps 1.5": (1, "flag_error", "invalid value '1.5' for --steps: expected a whole number"),
    "add Hoot": (1, "flag_error", "missing flag --species"),
    "add Hoot --species owl --count 0": (
        1,
        "flag_error",
        "invalid value '0' for --count: expected text that matches ^[1-9]\\d*$",
    ),
    "add Hoot --species owl --count two": (1, "flag_error", "invalid value 'two' for --count: expected a whole number"),
    "add Hoot --species owl --tag a --no-tags": (1, "flag_error", "--tag and --no-tags exclude each other"),
    "get": (1, "argument_error", "missing argument 'id'"),
    "list extra": (1, "argument_error", "unexpected argument 'extra' for 'roost list'"),
    "nest clear": (1, "argument_error", "missing argument 'region'"),
    "rehearse nonsense": (1, "argument_error", "invalid value 'nonsense' for argument 'kind'"),
    "get nobody": (5, "not_found", "there is no bird 'nobody'"),
    "get ../x": (1, "invalid_input", "argument 'id' must be a plain name, not a path"),
    "get pip%2f..": (1, "invalid_input", "argument 'id' must be a plain name, not a path"),
    "add Pip -s wren": (7, "conflict", "there is a bird 'pip' already"),
    "delete": (1, "argument_error", "missing argument 'id'"),
    "delete quill": (1, "confirmation_required", "This command mutates state and requires explicit confirmation."),
    "nest clear north": (1, "confirmation_required", "This command mutates state and requires explicit confirmation."),
    "list --output yaml": (1, "flag_error", "invalid value 'yaml' for --output"),
    "list --protocol-version 9": (1, "flag_error", "invalid value '9' for --protocol-version"),
    "list --agent=1": (1, "flag_error", "--agent takes no value"),
    "list --limit": (1, "flag_error", "--limit needs a value"),
    "list --limit x": (1, "flag_error", "invalid value 'x' for --limit: expected a whole number from 1 to 100000000"),
    "list --limit 0": (1, "flag_error", "invalid value '0' for --limit: expected a whole number from 1 to 100000000"),
    "whoami --limit 1": (1, "flag_error", "--limit does not apply: the result of this command is not a list"),
    "list --fields nope": (1, "flag_error", "the result has no field 'nope'"),
    "list --fields a,,b": (1, "flag_error", "invalid value 'a,,b' for --fields: expected names such as id,owner.name"),
    "list --input": (1, "flag_error", "--input needs a value"),
    "list --input nope": (1, "invalid_input", "invalid value 'nope' for --input"),
    "list --input @missing.json": (
        1,
        "invalid_input",
        "--input cannot be read: [Errno 2] No such file or directory: 'missing.json'",
    ),
    "list --input -": (1, "invalid_input", "--input is not valid JSON: Expecting value: line 1 column 1 (char 0)"),
    "profile save x": (1, "profile_error", "there is nothing to save: no profileable flag was given"),
    "profile save x --region west": (1, "flag_error", "invalid value 'west' for --region"),
    "profile save ../x --region south": (1, "invalid_input", "argument 'name' must be a plain name, not a path"),
    "profile save": (1, "argument_error", "missing argument 'name'"),
    "profile use": (1, "argument_error", "name a profile, or pass --clear"),
    "profile show nope": (5, "not_found", "there is no profile 'nope'"),
    "profile delete x": (1, "confirmation_required", "This command mutates state and requires explicit confirmation."),
    "profile delete x --yes": (5, "not_found", "there is no profile 'x'"),
    "list --profile nope": (5, "not_found", "there is no profile 'nope'"),
    "rehearse user": (1, "user_error", "that bird does not exist in nature"),
    "rehearse tool": (2, "tool_error", "the binoculars are broken"),
    "rehearse timeout": (4, "timeout", "the bird did not come"),
    "rehearse not-found": (5, "not_found", "no such bird"),
    "rehearse permission": (6, "permission_denied", "the reserve is closed"),
    "rehearse conflict": (7, "conflict", "the nest is taken"),
    "rehearse rate-limit": (8, "rate_limited", "the warden wants a rest"),
    "rehearse cancel": (9, "cancelled", "The operation was cancelled."),
    "rehearse crash": (2, "internal_error", "ZeroDivisionError: division by zero"),
    "rehearse unwritable": (
        2,
        "marshal_error",
        "the result cannot be written as JSON: builtins.object has no JSON form",
    ),
}

ON_A_TERMINAL = {
    "list": 0,
    "get pip": 0,
    "get nobody": 5,
    "lst": 1,
    "delete quill": 0,
    "delete quill --dry-run": 0,
    "list --agent": 0,
    "delete quill --agent": 1,
    "delete quill --output json": 0,
    "watch --steps 3": 0,
    "rehearse partial": 3,
    "rehearse crash": 2,
    "rehearse cancel": 9,
    "profile list": 0,
    "describe": 0,
}


@pytest.mark.parametrize("line", ANSWERS)
def test_a_good_command_line_has_one_answer(roosts: list[Tool], line: str) -> None:
    ran = [tool.run(*line.split()) for tool in roosts]
    assert ran[0].code == 0
    assert ran[0].stdout
    _assert_alike(ran)


@pytest.mark.parametrize("line", REFUSALS)
def test_a_bad_command_line_has_one_refusal(roosts: list[Tool], line: str) -> None:
    code, kind, message = REFUSALS[line]
    ran = [tool.run(*line.split()) for tool in roosts]
    error = ran[0].error
    assert (error["code"], error["error"], error["message"]) == (code, kind, message)
    assert ran[0].code == code
    assert error.get("suggestion") or line.startswith("rehearse")
    _assert_alike(ran)


@pytest.mark.parametrize("line", ON_A_TERMINAL)
def test_a_person_reads_the_same_text(roosts: list[Tool], line: str) -> None:
    ran = [tool.run_on_terminal(*line.split()) for tool in roosts]
    assert ran[0].code == ON_A_TERMINAL[line]
    assert ran[0].stdout
    _assert_alike(ran)


def test_a_partial_success_answers_and_still_ends_with_its_code(roosts: list[Tool]) -> None:
    ran = [tool.run("rehearse", "partial") for tool in roosts]
    assert ran[0].code == 3
    assert ran[0].answer["result"] == {"counted": ["north"], "failed": ["south"]}
    assert ran[0].stderr == b""
    _assert_alike(ran)


def test_an_argument_that_is_not_utf_8_is_refused(roosts: list[Tool]) -> None:
    ran = [tool.run("get", b"\xff\xfe") for tool in roosts]
    assert ran[0].error["error"] == "invalid_input"
    _assert_alike(ran)


def test_structured_input_is_judged_like_flags(roosts: list[Tool]) -> None:
    for document in (
        {"name": "Hoot", "species": "owl", "count": 2, "tag": ["a", "b"]},
        {"name": "Hoot", "species": "owl", "no_tags": True},
        {"name": "Hoot", "species": "owl", "count": "two"},
        {"name": "Hoot", "species": "owl", "count": [1]},
        {"name": "Hoot", "species": "eagle"},
        {"name": "Hoot"},
        {"species": "owl"},
        {"name": "Hoot", "species": "owl", "wings": 2},
        {"name": "-dash", "species": "owl"},
        {"name": "a\u0000b", "species": "owl"},
    ):
        _assert_alike([tool.run("add", "--input", "-", stdin=json.dumps(document).encode()) for tool in roosts])
        for tool in roosts:
            (tool.folder / "roost.json").unlink(missing_ok=True)


def _assert_alike(ran: list[Ran]) -> None:
    first, *others = [(each.code, _timeless(each.stdout), _timeless(each.stderr)) for each in ran]
    for other in others:
        assert other == first


def _timeless(text: bytes) -> bytes:
    """Without the time stamps of log lines and the names of scratch folders."""
    return re.sub(rb'"ts":"[^"]*"', b'"ts":"T"', text)
