"""Every capture of a real agent is read as the state that was true when it was made."""

from __future__ import annotations

import re

import pytest

from tests.captured import Capture, all_captures
from tests.covey.agents.screens.adapters_seen import REGISTRY, at_rest, processes, read

ALL = all_captures()
LIVE = [capture for capture in ALL if capture.state != "gone"]
BY_NAME = {str(capture): capture for capture in ALL}

LYING_SCREENS = {"gemini/0.61.0/flood": "it goes on saying that it works while it draws an answer that has long ended"}
LYING_TITLES = {
    "flood": "as the screen",
    "trust": "it says Ready while it asks for trust",
    "compacting": "it says Ready while it compresses",
    "error-auth": "it says Ready, which an agent at rest after an error is",
    "error-rate-limit": "it says Working behind the dialog about the limit",
    "loop": "it says Ready while it asks what to do about a loop",
    "picker": "it says Ready behind an open list",
    "signed-out": "it says Ready while it asks how to sign in",
}
"""Cases of Gemini CLI in which its title tells another state."""
DETAILS = {
    "approval-shell": "touch marker && sleep 3",
    "approval-write": "notes.txt",
    "approval-edit": "notes.txt",
    "approval-fetch": "http://127.0.0.1:9/manual.html",
    "approval-mcp": "ping",
    "approval-path": "../../..",
    "question": "Which of the two ways should it be?",
}
SHELL = {
    "claude": "Bash",
    "codex": "Shell",
    "gemini": "Shell",
    "copilot": "Shell",
    "opencode": "Shell",
    "cursor": "Shell",
}


@pytest.mark.parametrize("capture", [capture for capture in LIVE if str(capture) not in LYING_SCREENS], ids=str)
def test_a_screen_shows_the_true_state(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert at_rest(reading.state) == at_rest(capture.state), reading
    assert reading.reason
    assert reading.evidence.pattern
    assert not reading.caveat


def test_screens_that_lie_are_still_there_and_still_lie() -> None:
    for name in LYING_SCREENS:
        reading = read(BY_NAME[name])
        assert reading
        assert reading.state == "running"


def test_a_screen_under_copy_mode_is_not_read() -> None:
    for capture in LIVE:
        adapter = REGISTRY.adapters[capture.about["agent"]]
        assert adapter.read_screen(capture.screen, capture.escapes, in_mode=True) is None, capture


def test_an_agent_is_found_among_the_processes_of_its_pane() -> None:
    for capture in LIVE:
        found = {REGISTRY.identify(process) for process in processes(capture)} - {None}
        assert found == {capture.about["agent"]}, capture


def test_no_process_is_an_agent_once_it_is_gone() -> None:
    for capture in [one for one in ALL if one.state == "gone"]:
        assert {REGISTRY.identify(process) for process in processes(capture)} == {None}, capture


@pytest.mark.parametrize(
    "capture", [capture for capture in LIVE if capture.about["agent"] in {"codex", "gemini"}], ids=str
)
def test_a_title_that_tells_a_state_tells_the_true_one(capture: Capture) -> None:
    reading = REGISTRY.adapters[capture.about["agent"]].read_title(capture.pane["pane_title"])
    told = reading.state if reading else None
    if capture.about["agent"] == "gemini" and capture.about["case"] in LYING_TITLES:
        assert told in {"idle", "running"}
    elif capture.state.startswith("waiting") and reading:
        assert (told, reading.reason) == ("waiting_approval", "action_required"), (
            "a title does not tell an approval from a question"
        )
    elif reading:
        assert told == at_rest(capture.state)
    else:
        assert capture.about["agent"] == "codex", "Gemini's title always tells"
        assert capture.state != "running" or capture.about["version"] == "0.101.0", "only older releases set no title"


def test_other_titles_tell_nothing() -> None:
    for capture in [one for one in LIVE if one.about["agent"] not in {"codex", "gemini"}]:
        assert REGISTRY.adapters[capture.about["agent"]].read_title(capture.pane["pane_title"]) is None, capture


@pytest.mark.parametrize("capture", LIVE, ids=str)
def test_the_composer_is_read(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert reading.composer
    case = capture.about["case"]
    if case in {"draft", "pasted"}:
        assert reading.composer.state == "draft"
        assert not reading.composer.free
        assert reading.composer.text.startswith(("rename the function but first", "[Past"))
    elif case == "slash-popup":
        assert (reading.composer.state, reading.composer.text) == ("draft", "/mod")
    elif capture.state.startswith("waiting") or reading.dialog:
        assert reading.composer.state == "absent"
        assert not reading.composer.free
    elif case == "error-auth" and capture.about["agent"] == "cursor":
        assert reading.composer.state == "draft", "a refused prompt goes back into the composer"
    else:
        assert reading.composer.free, reading.composer


def test_a_suggestion_is_told_from_a_draft_by_its_faint_letters_only() -> None:
    capture = BY_NAME["claude/2.1.325/suggestion"]
    seen = [read(capture), read(capture, escapes="")]
    assert [reading.composer and (reading.composer.state, reading.composer.text) for reading in seen if reading] == [
        ("suggestion", "run the tests"),
        ("draft", "run the tests"),
    ]


@pytest.mark.parametrize("capture", [capture for capture in LIVE if capture.state.startswith("waiting")], ids=str)
def test_what_is_waited_for_is_told(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert reading.dialog
    case = capture.about["case"]
    wanted = DETAILS.get(case, "")
    if wanted not in " ".join(re.sub("[│┃]", "", capture.screen).split()):
        return  # a small pane has no room for it
    assert wanted.lower() in reading.detail.lower()
    if case == "approval-shell":
        assert reading.detail == f"{SHELL[capture.about['agent']]}: touch marker && sleep 3"
    if case == "question":
        assert reading.detail == DETAILS[case]


@pytest.mark.parametrize("capture", [capture for capture in LIVE if capture.state == "error"], ids=str)
def test_an_error_is_told_in_the_words_of_the_agent(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert reading.detail


# A list in the middle of the screen is cut out with what it covers.
@pytest.mark.parametrize(
    "capture", [one for one in LIVE if str(one) not in LYING_SCREENS and one.about["case"] != "picker"], ids=str
)
def test_a_screen_that_is_cut_is_read_rightly_or_not_at_all(capture: Capture) -> None:
    squeezed = re.sub(
        r"\n{3,}", "\n\n", capture.screen.rstrip()
    )  # a smaller screen has less room between what was said and the composer
    out_of_sight = {"idle"} if capture.state == "error" else set()  # at rest it is in any case
    for columns, rows in [(80, 24), (80, 40), (120, 24), (60, 15)]:
        cut = "\n".join(line[:columns] for line in squeezed.split("\n")[-rows:])
        reading = read(capture, cut, "")
        right = {at_rest(capture.state), *out_of_sight}
        assert reading is None or at_rest(reading.state) in right, (columns, rows, reading)


@pytest.mark.parametrize("capture", [capture for capture in LIVE if str(capture) not in LYING_SCREENS], ids=str)
def test_blanks_around_a_screen_change_nothing(capture: Capture) -> None:
    lines = capture.screen.rstrip().split("\n")
    padded = "\n".join([*(line.ljust(200) for line in lines), *[" " * 200] * 20])
    assert read(capture, padded) == read(capture)
