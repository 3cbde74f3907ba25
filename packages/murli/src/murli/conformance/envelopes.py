"""Judges envelopes against the wire contract.

Every function returns a list of sentences that say what is wrong; it is empty if nothing is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance.documents import Document, ImpureError, only_object, pure, stream
from murli.conformance.runner import Run, excerpt

if TYPE_CHECKING:
    from collections.abc import Collection

SCHEMA_VERSION = "1.0"
FAILURES = range(1, 10)
PARTIAL = 3
ERROR_KEYS = (
    "code",
    "error",
    "message",
    "suggestion",
    "recoverable",
    "valid_values",
    "retry_after_ms",
    "doc_url",
    "field",
    "schema_version",
    "tool_version",
)
_REQUIRED = ("code", "error", "message", "recoverable", "schema_version")
_TEXTS = ("error", "message", "suggestion", "doc_url", "field", "tool_version")


def success(document: Document, statuses: Collection[str] = ("ok", "plan")) -> list[str]:
    """A success or plan envelope: the keys, their order, their values."""
    value = document.value
    if not isinstance(value, dict):
        return [f"the closing document is a JSON {type(value).__name__}, not an envelope"]
    found = [f"the envelope has no {key!r}" for key in ("result", "schema_version", "status") if key not in value]
    if found:
        return found
    if list(value) != sorted(value):
        found.append(f"the keys are not in alphabetical order: {', '.join(value)}")
    if value["schema_version"] != SCHEMA_VERSION:
        found.append(f"schema_version is {value['schema_version']!r}, not {SCHEMA_VERSION!r}")
    if value["status"] not in statuses:
        found.append(f"status is {value['status']!r}, not {' or '.join(map(repr, statuses))}")
    return found


def error(value: object, code: int | None) -> list[str]:
    """An error envelope: the keys, their order, their types, and the exit code it belongs to."""
    if not isinstance(value, dict):
        return [f"a JSON {type(value).__name__} instead of an error envelope"]
    found = [f"the error envelope has no {key!r}" for key in _REQUIRED if key not in value]
    found += [
        f"the error envelope has a key that the contract does not know: {key!r}"
        for key in value
        if key not in ERROR_KEYS
    ]
    if found:
        return found
    if list(value) != [key for key in ERROR_KEYS if key in value]:
        found.append(f"the keys are not in the contract's order: {', '.join(value)}")
    if value["code"] != code or isinstance(value["code"], bool):
        found.append(f"the envelope says code {value['code']!r}, the process exited with {code}")
    for key in _TEXTS:
        if key in value and not (isinstance(value[key], str) and value[key].strip()):
            found.append(f"{key} is not a non-empty string")
    if not isinstance(value["recoverable"], bool):
        found.append("recoverable is not true or false")
    if value["schema_version"] != SCHEMA_VERSION:
        found.append(f"schema_version is {value['schema_version']!r}, not {SCHEMA_VERSION!r}")
    return found


def is_error(value: object) -> bool:
    """Whether a document on standard error is meant as an error envelope rather than a log line or progress."""
    return isinstance(value, dict) and "error" in value and "code" in value


def refusal(run: Run) -> list[str]:
    """Check a run that was refused before the tool's own work began.

    Expected are nothing on stdout and exactly one error envelope, code 1, recoverable.
    """
    found = []
    if run.code != 1:
        found.append(f"exit code {run.code} instead of 1" if run.code is not None else "it did not end")
    if run.stdout:
        found.append("stdout is not empty")
    try:
        value = only_object(run.stderr)
    except ImpureError as impure:
        return [*found, f"stderr is not exactly one error envelope: {impure}"]
    found += error(value, run.code)
    if value.get("recoverable") is False:
        found.append("recoverable is false, although another invocation would work")
    return found


def failure(run: Run) -> list[str]:
    """Check a run that failed, at whatever point.

    Expected are an exit code of the taxonomy, and stderr that ends with the one envelope that explains it.
    """
    found = []
    if run.code not in FAILURES:
        found.append(f"exit code {run.code} is not between 1 and 9" if run.code is not None else "it did not end")
    try:
        pure(run.stdout)
        documents = stream(run.stderr)
    except ImpureError as impure:
        return [*found, str(impure)]
    errors = [document for document in documents if is_error(document.value)]
    if run.code == PARTIAL and not errors and run.stdout:
        return found
    if len(errors) != 1 or documents[-1] is not errors[0]:
        return [*found, f"{len(errors)} error envelopes on stderr instead of one at its end"]
    return [*found, *_side_lines(documents[:-1]), *error(errors[0].value, run.code)]


def side_stream(run: Run) -> list[str]:
    """The stderr of a run that succeeded: only log and progress lines, no error envelope."""
    try:
        documents = stream(run.stderr)
    except ImpureError as impure:
        return [str(impure)]
    found = ["an error envelope, although the run succeeded" for document in documents if is_error(document.value)]
    return [*found, *_side_lines(documents)]


def _side_lines(documents: Collection[Document]) -> list[str]:
    return [
        f"a line that is not a minified JSON object: {excerpt(document.text, 80)}"
        for document in documents
        if not (document.one_line and document.minified and isinstance(document.value, dict))
        and not is_error(document.value)
    ]
