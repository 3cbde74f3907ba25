"""Scripts: steps are read from words, and a request finds its place in them from its own contents."""

from __future__ import annotations

import pytest

from lab.script import (
    ALWAYS,
    CALLS,
    Call,
    Cut,
    Fail,
    Position,
    Say,
    Script,
    ScriptError,
    Step,
    Think,
    Wait,
    step,
    words,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("say Hello there.", Say("Hello there.")),
        ("stream 3 Reading the files.", Say("Reading the files.", 3.0)),
        ("stream 0.5 x", Say("x", 0.5)),
        ("think 2", Think(2.0)),
        ("wait 0.25", Wait(0.25)),
        ("fail 529", Fail(529, ALWAYS)),
        ("fail 529 2", Fail(529, 2)),
        ("limit 60", Fail(429, ALWAYS, 60.0)),
        ("limit 60 1", Fail(429, 1, 60.0)),
        ("cut", Cut()),
        ("  say   spaces around  ", Say("spaces around")),
    ],
)
def test_every_verb_reads(line: str, expected: Step) -> None:
    assert step(line) == expected


@pytest.mark.parametrize("kind", CALLS)
def test_every_kind_of_call_keeps_its_whole_argument(kind: str) -> None:
    assert step(f"{kind} touch 'a b' && ls") == Call(kind, "touch 'a b' && ls")


def test_a_flood_is_about_as_long_as_it_says() -> None:
    flood = step("flood 200")
    assert isinstance(flood, Say)
    assert 200 * 1024 * 0.95 < len(flood.text) < 200 * 1024 * 1.05
    assert flood.text.endswith("\n")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "dance",
        "say",
        "stream",
        "stream fast text",
        "think",
        "wait long",
        "fail",
        "fail teapot",
        "fail 529 often",
        "limit",
        "flood",
        *CALLS,
    ],
)
def test_nonsense_is_refused_with_how_steps_are_written(line: str) -> None:
    with pytest.raises(ScriptError, match="does not read; write one of: say TEXT; stream SECONDS TEXT") as caught:
        step(line)
    assert repr(line) in str(caught.value)


SCRIPT = Script.parse(
    {
        "tidy up": ["think 1", "say Looking.", "shell ls", "say Now this.", "approval rm x", "say All tidy."],
        "tidy up the attic": ["say Dusty."],
        "flaky": ["wait 0.1", "fail 529 2", "say Recovered.", "shell ls", "fail 500 1", "say Done after all."],
    }
)


def test_a_request_without_a_known_prompt_has_no_position() -> None:
    assert SCRIPT.position([]) is None
    assert SCRIPT.position(["You are an agent.", None]) is None


def test_the_last_prompt_wins_and_only_results_after_it_count() -> None:
    items = ["please tidy up", None, None, "now be flaky", None]
    assert SCRIPT.position(items[:1]) == Position("tidy up", 0)
    assert SCRIPT.position(items[:3]) == Position("tidy up", 2)
    assert SCRIPT.position(items[:4]) == Position("flaky", 0)
    assert SCRIPT.position(items) == Position("flaky", 1)


def test_texts_that_are_not_prompts_change_nothing() -> None:
    assert SCRIPT.position(["tidy up", None, "<system-reminder>", None]) == Position("tidy up", 2)


def test_the_longest_prompt_in_a_text_is_meant() -> None:
    assert SCRIPT.position(["tidy up the attic"]) == Position("tidy up the attic", 0)


def test_a_prompt_given_again_starts_again() -> None:
    assert SCRIPT.position(["tidy up", None, "tidy up"]) == Position("tidy up", 0)


def test_an_answer_ends_with_its_tool_call_and_the_next_goes_on_from_there() -> None:
    assert SCRIPT.reply(Position("tidy up", 0), 0) == [Think(1.0), Say("Looking."), Call("shell", "ls")]
    assert SCRIPT.reply(Position("tidy up", 1), 0) == [Say("Now this."), Call("approval", "rm x")]
    assert SCRIPT.reply(Position("tidy up", 2), 0) == [Say("All tidy.")]


def test_after_the_end_the_model_just_says_it_is_done() -> None:
    assert SCRIPT.reply(Position("tidy up", 3), 0) == [Say("Done.")]
    assert Script.parse({"empty": []}).reply(Position("empty", 0), 0) == [Say("Done.")]


def test_a_failure_comes_for_its_first_attempts_and_then_gives_way() -> None:
    for attempt in (0, 1):
        assert SCRIPT.reply(Position("flaky", 0), attempt) == [Wait(0.1), Fail(529, 2)]
    assert SCRIPT.reply(Position("flaky", 0), 2) == [Wait(0.1), Say("Recovered."), Call("shell", "ls")]


def test_a_failure_belongs_to_its_own_answer_only() -> None:
    assert SCRIPT.reply(Position("flaky", 1), 0) == [Fail(500, 1)]
    assert SCRIPT.reply(Position("flaky", 1), 1) == [Say("Done after all.")]


def test_a_prompt_that_the_model_gives_to_a_helper_is_known_as_one() -> None:
    script = Script.parse(
        {"delegate": ["subagent please count the files", "say Counted."], "count the files": ["say Three."]}
    )
    assert script.helper("count the files")
    assert not script.helper("delegate")


def test_words_lose_nothing() -> None:
    text = "One  two\nthree."
    assert words(text) == ["One  ", "two\n", "three."]
    assert words("") == [""]
