"""What a run means: all is well, somebody has to look, or there is no answer.

Silence has to be earned. All is well only if the last line that is not empty, without the white space around it, is the word HEARTBEAT_OK and nothing else, or
a JSON object with `"heartbeat": "ok"`; and no line begins with ATTENTION:. The word in bold, in backticks, in a code fence or with a full stop is not that word:
a needless alarm is seen and mended in the prompt, a needless silence is not seen at all. ATTENTION: on the other hand is found in bold and in lists too.
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


class Verdict(Struct, frozen=True, kw_only=True):
    """How a run ended. There is a summary for `attention` and a failure for `error`."""

    outcome: Outcome
    summary: str = ""
    failure: Failure | None = None


def classify(report: Report) -> Verdict:
    """The verdict on a run."""
    if report.failure:
        return Verdict(outcome="error", failure=report.failure)
    # Only a line feed ends a line here: whatever else may count as a line's end must not make a last line of its own.
    last = next((line.strip() for line in reversed(report.text.split("\n")) if line.strip()), "")
    said = _structured(last)
    warning = _warning(report.text)
    if warning is None and (last == OK or said.get("heartbeat") == "ok"):
        return Verdict(outcome="ok")
    own = said.get("summary")
    candidates = (warning or "", own if isinstance(own, str) else "", report.text)
    return Verdict(outcome="attention", summary=next((text for text in map(_short, candidates) if text), NO_ANSWER))


def _warning(text: str) -> str | None:
    """What follows the first ATTENTION: that begins a line; None if no line begins so."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        plain = line.strip().lstrip(_MARKUP)
        if plain.startswith(ATTENTION):
            return "\n".join([plain[len(ATTENTION) :].lstrip(_MARKUP), *lines[at + 1 :]])
    return None


def _structured(line: str) -> dict[str, Any]:
    """The JSON object of a line, if it is one and says nothing twice."""
    if not line.startswith("{"):
        return {}
    try:
        read = json.loads(line, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _short(text: str) -> str:
    """On one line, without what a terminal would act upon, and not too long."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())[
        :SUMMARY_LENGTH
    ].rstrip()
