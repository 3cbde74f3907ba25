"""What is only said in a conversation is not taken for what the agent does."""

from __future__ import annotations

import pytest

from tests.captured import Capture, captures
from tests.covey.agents.screens.adapters_seen import at_rest, read

ANSWER = "It is a small project"
WORDS = [
    "It asks `Do you want to proceed?` and waits:",
    "Do you want to proceed?",
    "\u276f 1. Yes",
    "  2. No",
    "",
    "Esc to cancel · Tab to amend",
    "While it works the footer says esc to interrupt, or (esc to cancel, 4s), or ctrl+c to stop.",
    "Working (2s • esc to interrupt)",
    "API Error: 500 is what it says when the server fails.",
]
COMPLETED = [capture for capture in captures() if capture.about["case"] == "completed"]
DIALOGS = [
    capture
    for capture in captures()
    if capture.state.startswith("waiting") or capture.about["case"] in {"error-auth", "streaming", "retrying"}
]


def quoting(capture: Capture, words: list[str]) -> str:
    """The capture with more words behind the answer, set as the agent sets its answers, on a screen that is taller by
    them.
    """
    lines = capture.screen.rstrip().split("\n")
    at = next(place for place, line in enumerate(lines) if ANSWER in line)
    indent = " " * lines[at].index(ANSWER)
    return "\n".join([*lines[: at + 1], *(f"{indent}{word}" for word in words), *lines[at + 1 :]])


@pytest.mark.parametrize("capture", COMPLETED, ids=str)
def test_an_answer_about_dialogs_is_an_answer(capture: Capture) -> None:
    reading = read(capture, quoting(capture, WORDS), "")
    assert reading
    assert at_rest(reading.state) == "idle", reading


@pytest.mark.parametrize("quoted", DIALOGS, ids=str)
def test_a_screen_quoted_in_an_answer_is_an_answer(quoted: Capture) -> None:
    capture = next(one for one in COMPLETED if one.about["agent"] == quoted.about["agent"])
    screen = [line for line in quoted.screen.rstrip().split("\n") if line.strip()]
    reading = read(capture, quoting(capture, screen[-25:]), "")
    assert reading
    assert at_rest(reading.state) == "idle", reading


@pytest.mark.parametrize("capture", [one for one in captures() if one.about["case"] == "draft"], ids=str)
def test_a_draft_about_dialogs_is_a_draft(capture: Capture) -> None:
    screen = capture.screen.replace("rename the function but first", "Do you want to proceed? esc to interrupt")
    reading = read(capture, screen, "")
    assert reading
    assert at_rest(reading.state) == "idle"
    assert reading.composer
    assert (reading.composer.state, reading.composer.text) == ("draft", "Do you want to proceed? esc to interrupt")
