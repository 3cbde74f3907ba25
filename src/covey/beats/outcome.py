"""Classifies the answer of an agent: all is well, somebody has to look, or there is no answer.

All is well only if the last line that is not empty, without the white space around it, is HEARTBEAT_OK and nothing
else, or a JSON object with `"heartbeat": "ok"`; and no line begins with ATTENTION:. HEARTBEAT_OK in bold, in backticks,
in a code fence or with a full stop does not count: a needless alarm is seen and the prompt is corrected, a needless
silence is not seen at all. ATTENTION: on the other hand is found in bold and in lists too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from covey.agents.headless.report import Failure, Report
    from covey.beats.beat import Outcome

OK = "HEARTBEAT_OK"
ATTENTION = "ATTENTION:"
SUMMARY_LENGTH = 200
NO_ANSWER = "The agent ended without an answer."
_MARKUP = " \t*_#>`~-+"


class RunOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of a run. There is a summary for `attention` and a failure for `error`."""

    outcome: Outcome
    summary: str = ""
    failure: Failure | None = None


def classify(report: Report) -> RunOutcome:
    """Return the outcome of a run."""
    if report.failure:
        return RunOutcome(outcome="error", failure=report.failure)
    # Only a line feed ends a line here: other separators must not create a last line of their own.
    last = next((line.strip() for line in reversed(report.text.split("\n")) if line.strip()), "")
    answer = _json_object(last)
    warning = _warning(report.text)
    if warning is None and (last == OK or answer.get("heartbeat") == "ok"):
        return RunOutcome(outcome="ok")
    summary = answer.get("summary")
    candidates = (warning or "", summary if isinstance(summary, str) else "", report.text)
    return RunOutcome(outcome="attention", summary=next(filter(None, map(_one_line, candidates)), NO_ANSWER))


def _warning(text: str) -> str | None:
    """Return what follows the first ATTENTION: at the beginning of a line, or None."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        unmarked = line.strip().lstrip(_MARKUP)
        if unmarked.startswith(ATTENTION):
            return "\n".join([unmarked[len(ATTENTION) :].lstrip(_MARKUP), *lines[at + 1 :]])
    return None


def _json_object(line: str) -> dict[str, Any]:
    """Return the JSON object of a line; empty if the line is not one, or has a name twice."""
    if not line.startswith("{"):
        return {}
    try:
        value = json.loads(line, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict. Raises `ValueError` if a name occurs twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _one_line(text: str) -> str:
    """Return a text on one line, printable, and at most SUMMARY_LENGTH long."""
    printable = "".join(character for character in " ".join(text.split()) if character.isprintable())
    return printable[:SUMMARY_LENGTH].rstrip()
