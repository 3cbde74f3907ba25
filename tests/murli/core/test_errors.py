"""Errors, their exit codes, and what an exception that reached the top means."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import pickle
import subprocess
import sys
from enum import StrEnum
from typing import Any

import pytest

from murli._core import errors
from murli._core.errors import AgentError, from_exception
from murli._core.wire import encode


class Colour(StrEnum):
    RED = "red"


def test_the_taxonomy_is_the_one_of_the_contract() -> None:
    named = {name: value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert named == {
        "EXIT_OK": 0,
        "EXIT_USER_ERROR": 1,
        "EXIT_TOOL_ERROR": 2,
        "EXIT_PARTIAL": 3,
        "EXIT_TIMEOUT": 4,
        "EXIT_NOT_FOUND": 5,
        "EXIT_PERMISSION": 6,
        "EXIT_CONFLICT": 7,
        "EXIT_RATE_LIMITED": 8,
        "EXIT_CANCELLED": 9,
    }


@pytest.mark.parametrize(
    ("made", "code", "kind", "recoverable"),
    [
        (errors.user_error("m", "s"), 1, "user_error", True),
        (errors.tool_error("m", "s"), 2, "tool_error", False),
        (errors.timed_out("m", "s"), 4, "timeout", True),
        (errors.not_found("m", "s"), 5, "not_found", False),
        (errors.permission_denied("m", "s"), 6, "permission_denied", False),
        (errors.conflict("m", "s"), 7, "conflict", False),
        (errors.rate_limited("m", 250, "s"), 8, "rate_limited", True),
    ],
)
def test_every_constructor_sets_code_kind_and_whether_a_retry_can_help(
    made: AgentError,
    code: int,
    kind: str,
    recoverable: bool,  # noqa: FBT001
) -> None:
    assert (made.code, made.error, made.recoverable, made.message, made.suggestion) == (
        code,
        kind,
        recoverable,
        "m",
        "s",
    )


def test_a_cancellation_is_a_sentence_of_its_own() -> None:
    assert (errors.cancelled().code, errors.cancelled().error, errors.cancelled().message) == (
        9,
        "cancelled",
        "The operation was cancelled.",
    )


def test_a_rate_limit_says_how_long_to_wait() -> None:
    assert errors.rate_limited("slow down", 1500).envelope()["retry_after_ms"] == 1500


def test_the_envelope_holds_every_field_in_the_order_of_the_contract() -> None:
    error = AgentError(
        "m",
        code=3,
        error="partial",
        suggestion="s",
        recoverable=True,
        valid_values=("a", "b"),
        retry_after_ms=5,
        doc_url="https://x",
        field="f",
    )
    assert list(error.envelope("1.2").items()) == [
        ("code", 3),
        ("error", "partial"),
        ("message", "m"),
        ("suggestion", "s"),
        ("recoverable", True),
        ("valid_values", ["a", "b"]),
        ("retry_after_ms", 5),
        ("doc_url", "https://x"),
        ("field", "f"),
        ("schema_version", "1.0"),
        ("tool_version", "1.2"),
    ]


def test_the_envelope_leaves_out_what_is_empty_but_never_recoverable() -> None:
    assert AgentError("m").envelope() == {
        "code": 2,
        "error": "tool_error",
        "message": "m",
        "recoverable": False,
        "schema_version": "1.0",
    }


def test_valid_values_may_be_any_iterable_and_are_kept() -> None:
    error = AgentError("m", valid_values=(name for name in ("a", "b")))
    assert error.envelope()["valid_values"] == error.envelope()["valid_values"] == ["a", "b"]


def test_str_of_an_error_is_its_message() -> None:
    assert str(errors.not_found("no bird 'x'")) == "no bird 'x'"


def test_an_error_crosses_a_process_boundary_whole() -> None:
    error = AgentError(
        "m",
        code=8,
        error="rate_limited",
        suggestion="s",
        recoverable=True,
        valid_values=["a"],
        retry_after_ms=5,
        field="f",
    )
    assert pickle.loads(pickle.dumps(error)).envelope() == error.envelope()


@pytest.mark.parametrize("message", [ValueError("bad number"), Colour.RED, 42])
def test_an_error_made_from_something_that_is_no_string_still_has_an_envelope(message: Any) -> None:
    envelope = json.loads(encode(errors.user_error(message).envelope()))
    assert envelope["message"] == str(message)


def test_valid_values_that_are_no_strings_become_strings() -> None:
    values: Any = [1, 2.5, Colour.RED]
    assert AgentError("m", valid_values=values).valid_values == ["1", "2.5", "red"]


@pytest.mark.parametrize("code", [0, -1, 10, 256])
def test_an_error_never_claims_a_code_outside_the_taxonomy(code: int) -> None:
    assert AgentError("m", code=code).code == 2  # 0 and 256 would end the process as a success


def test_an_agent_error_stays_what_it_is() -> None:
    error = errors.conflict("taken")
    assert from_exception(error) is error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError(), concurrent.futures.CancelledError()])
def test_every_kind_of_cancellation_is_cancelled(error: BaseException) -> None:
    assert (from_exception(error).code, from_exception(error).error) == (9, "cancelled")


@pytest.mark.parametrize("error", [TimeoutError("slow"), concurrent.futures.TimeoutError("slow")])
def test_every_kind_of_time_out_is_a_timeout_with_its_own_sentence(error: BaseException) -> None:
    found = from_exception(error)
    assert (found.code, found.error, found.message, found.recoverable) == (4, "timeout", "slow", True)


def test_a_process_that_took_too_long_is_a_timeout() -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, timeout=0.001, check=False)
    assert from_exception(caught.value).error == "timeout"


def test_a_timeout_without_words_gets_some() -> None:
    assert from_exception(TimeoutError()).message == "The operation timed out."


def raised(error: BaseException, *causes: BaseException) -> BaseException:
    """The error as it arrives after `raise … from …`."""
    for cause in causes:
        inner = error
        while inner.__cause__ is not None:
            inner = inner.__cause__
        inner.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "code"),
    [(TimeoutError("slow"), 4), (KeyboardInterrupt(), 9), (asyncio.CancelledError(), 9), (errors.not_found("gone"), 5)],
)
def test_an_error_counts_as_what_it_was_raised_from_however_deep(cause: BaseException, code: int) -> None:
    assert from_exception(raised(RuntimeError("outer"), cause)).code == code
    assert from_exception(raised(RuntimeError("outer"), ValueError("middle"), cause)).code == code


def test_a_wrapped_timeout_keeps_the_sentence_of_the_outer_error() -> None:
    assert (
        from_exception(raised(RuntimeError("the server did not answer"), TimeoutError("60 s"))).message
        == "the server did not answer"
    )


def test_an_error_that_happened_while_another_was_handled_is_not_caused_by_it() -> None:
    error = ValueError("other")
    error.__context__ = TimeoutError("slow")  # as `raise ValueError` in an `except TimeoutError` leaves it
    assert from_exception(error).error == "internal_error"


@pytest.mark.timeout(5)
def test_an_error_raised_from_itself_comes_to_an_end() -> None:
    error = ValueError("round and round")
    error.__cause__ = error
    assert from_exception(error).error == "internal_error"


def test_a_missing_file_is_the_failure_of_the_tool() -> None:
    found = from_exception(FileNotFoundError(2, "No such file or directory", "x.txt"))
    assert (found.code, found.error) == (2, "internal_error")
    assert found.message == "FileNotFoundError: [Errno 2] No such file or directory: 'x.txt'"


@pytest.mark.parametrize(
    ("error", "message"),
    [(ValueError("  bad\n"), "ValueError: bad"), (ValueError(), "ValueError"), (KeyError("k"), "KeyError: 'k'")],
)
def test_any_other_exception_is_named_with_its_words(error: Exception, message: str) -> None:
    found = from_exception(error)
    assert (found.code, found.error, found.message, found.recoverable) == (2, "internal_error", message, False)
    assert "--debug" in found.suggestion


def test_an_exception_that_cannot_even_be_printed_still_has_a_name() -> None:
    class Mute(Exception):  # noqa: N818 - it says nothing
        def __str__(self) -> str:
            raise RuntimeError

    assert from_exception(Mute()).message.startswith("Mute")
