"""Judging envelopes: what the contract wants, and what is said when it is not there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from murli.conformance import envelopes
from murli.conformance.documents import Document
from murli.conformance.runner import Run

ERROR = {
    "code": 1,
    "error": "flag_error",
    "message": "No.",
    "suggestion": "Try.",
    "recoverable": True,
    "schema_version": "1.0",
}
SUCCESS = {"result": [], "schema_version": "1.0", "status": "ok"}
LOG = '{"level":"info","msg":"hello","ts":0}\n'


def document(value: object) -> Document:
    return Document(value, json.dumps(value))


def run(code: int | None, stdout: str = "", stderr: str = "") -> Run:
    return Run(("tool",), code, stdout.encode(), stderr.encode())


def test_the_envelopes_of_the_contract_have_nothing_wrong_with_them() -> None:
    assert envelopes.success(document(SUCCESS | {"tool_version": "1", "total": 3})) == []
    assert envelopes.error(ERROR, 1) == []
    assert envelopes.refusal(run(1, stderr=json.dumps(ERROR, indent=2) + "\n")) == []
    assert envelopes.failure(run(1, stdout='{"event":1}\n', stderr=LOG + json.dumps(ERROR, indent=2) + "\n")) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "is a JSON list"),
        ({"schema_version": "1.0", "status": "ok"}, "no 'result'"),
        ({"status": "ok", "result": 1, "schema_version": "1.0"}, "alphabetical"),
        (SUCCESS | {"schema_version": "0.9"}, "'0.9'"),
        (SUCCESS | {"status": "done"}, "'done'"),
    ],
)
def test_a_wrong_success_envelope_is_told_apart(value: object, said: str) -> None:
    assert said in " ".join(envelopes.success(document(value)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": 2}, "code 2, the process exited with 1"),
        ({"code": True}, "code True"),
        ({"status": "error"}, "does not know: 'status'"),
        ({"message": " "}, "message is not a non-empty string"),
        ({"suggestion": ""}, "suggestion is not a non-empty string"),
        ({"recoverable": "yes"}, "recoverable is not true or false"),
        ({"schema_version": 1}, "schema_version is 1"),
    ],
)
def test_a_wrong_error_envelope_is_told_apart(change: dict[str, Any], said: str) -> None:
    assert said in " ".join(envelopes.error(ERROR | change, 1))


def test_a_missing_key_and_a_wrong_order_are_named() -> None:
    assert envelopes.error({key: value for key, value in ERROR.items() if key != "message"}, 1) == [
        "the error envelope has no 'message'"
    ]
    assert "contract's order" in envelopes.error(dict(reversed(ERROR.items())), 1)[0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (run(0, stderr=json.dumps(ERROR) + "\n"), "exit code 0 instead of 1"),
        (run(None), "it did not end"),
        (run(1, stdout="usage\n", stderr=json.dumps(ERROR) + "\n"), "stdout is not empty"),
        (run(1, stderr=LOG + json.dumps(ERROR) + "\n"), "2 JSON documents"),
        (run(1, stderr="usage: tool\n"), "not JSON"),
        (run(1, stderr=json.dumps(ERROR | {"recoverable": False}) + "\n"), "recoverable is false"),
    ],
)
def test_a_refusal_is_one_envelope_and_nothing_else(wrong: Run, said: str) -> None:
    assert said in " ".join(envelopes.refusal(wrong))


def test_a_failure_needs_an_exit_code_of_the_taxonomy_and_one_envelope_at_the_end() -> None:
    assert "44 is not between" in " ".join(envelopes.failure(run(44, stderr=json.dumps(ERROR | {"code": 44}) + "\n")))
    assert "0 error envelopes" in " ".join(envelopes.failure(run(2, stderr=LOG)))
    assert "instead of one at its end" in " ".join(envelopes.failure(run(1, stderr=json.dumps(ERROR) + "\n" + LOG)))


def test_a_partial_result_on_stdout_may_explain_itself() -> None:
    assert envelopes.failure(run(3, stdout=json.dumps(SUCCESS) + "\n")) == []
    assert envelopes.failure(run(3)) != []


def test_a_successful_run_has_only_minified_lines_on_stderr() -> None:
    assert envelopes.side_stream(run(0, stderr=LOG + '{"percent":50.0}\n')) == []
    assert "although the run succeeded" in envelopes.side_stream(run(0, stderr=json.dumps(ERROR) + "\n"))[0]
    assert "not a minified JSON object" in envelopes.side_stream(run(0, stderr='{"level": "info"}\n'))[0]
    assert "not JSON" in envelopes.side_stream(run(0, stderr="warning\n"))[0]
