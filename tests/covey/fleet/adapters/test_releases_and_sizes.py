"""Captures of older releases, and of terminals of other sizes, are read as the state that was true when they were made."""

from __future__ import annotations

import pytest

from tests.captured import Capture, all_captures
from tests.covey.fleet.adapters.adapters_seen import at_rest, read

AGENTS = ("copilot", "gemini", "opencode")
LIVE = [capture for agent in AGENTS for capture in all_captures(agent) if capture.state != "gone"]
VARIANTS = [capture for capture in LIVE if "size" in capture.about]
"""Those that say the size of their terminal: made release by release and size by size."""
DETAILS = {"approval-shell": "touch marker && sleep 3", "approval-write": "notes.txt", "question": "Which of the two ways should it be?"}


@pytest.mark.parametrize("capture", VARIANTS, ids=str)
def test_a_screen_of_any_release_and_size_shows_the_true_state(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert at_rest(reading.state) == at_rest(capture.state), reading
    assert not reading.caveat


@pytest.mark.parametrize("capture", [capture for capture in VARIANTS if capture.about["case"] in DETAILS], ids=str)
def test_what_is_asked_is_told_at_any_size(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    wanted = DETAILS[capture.about["case"]]
    assert wanted in reading.detail or wanted not in capture.screen
    assert reading.dialog


@pytest.mark.parametrize("capture", [capture for capture in VARIANTS if capture.state == "error"], ids=str)
def test_an_error_is_told_in_words_at_any_size(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert reading.detail
    assert "{" not in reading.detail
    assert "scripted failure" in reading.detail or "scripted failure" not in capture.screen
