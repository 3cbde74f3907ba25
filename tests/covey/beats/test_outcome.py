"""Silence has to be earned."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.headless.report import Failure, Report
from covey.beats.outcome import NO_ANSWER, SUMMARY_LENGTH, RunOutcome, classify

WHITE = st.text(alphabet=" \t\r\n", max_size=5)


def judged(text: str) -> RunOutcome:
    return classify(Report(text=text))


@pytest.mark.parametrize(
    "text",
    [
        "HEARTBEAT_OK",
        " \n HEARTBEAT_OK \r\n\n",
        "I looked at everything.\n\nHEARTBEAT_OK",
        "no need for ATTENTION: here\nHEARTBEAT_OK\n",
        '{"heartbeat": "ok"}',
        'All fine.\n{"heartbeat": "ok", "summary": "nothing new"}\n',
    ],
)
def test_all_is_well_if_the_last_line_says_so_and_nothing_else(text: str) -> None:
    assert judged(text) == RunOutcome(outcome="ok")


@pytest.mark.parametrize(
    "text",
    [
        "not HEARTBEAT_OK",
        "HEARTBEAT_OK is not what I can say",
        "HEARTBEAT_OK.",
        "`HEARTBEAT_OK`",
        "**HEARTBEAT_OK**",
        "```\nHEARTBEAT_OK\n```",
        "heartbeat_ok",
        "HEARTBEAT_OK\nbut two tests fail",
        "Two tests fail.\u2028HEARTBEAT_OK",
        "Two tests fail.\rHEARTBEAT_OK",
        "ATTENTION: two tests fail\nHEARTBEAT_OK",
        "- **ATTENTION:** two tests fail\nHEARTBEAT_OK",
        "  ATTENTION: two tests fail\n" + '{"heartbeat": "ok"}',
        '{"heartbeat": "okay"}',
        '{"heartbeat": true}',
        '{"heartbeat": "attention", "heartbeat": "ok"}',
        '{"heartbeat": {"heartbeat": "ok"}}',
        '["heartbeat", "ok"]',
        '{"heartbeat": "ok"',
        '{"heartbeat":\n"ok"}',
        '{"heartbeat": "ok"} or so',
        '{"a":' * 100_000,
        "two tests fail",
    ],
)
def test_everything_else_needs_attention_and_says_why(text: str) -> None:
    verdict = judged(text)
    assert verdict.outcome == "attention"
    assert verdict.summary
    assert verdict.failure is None


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("ATTENTION: 2 tests failing in auth.test.ts", "2 tests failing in auth.test.ts"),
        ("I ran them.\n\n**ATTENTION:** 2 tests\n  failing\n", "2 tests failing"),
        ("## ATTENTION: disk is full", "disk is full"),
        ("ATTENTION:", "ATTENTION:"),
        ("ATTENTION:\n- one\n- two", "- one - two"),
        ('{"heartbeat": "attention", "summary": "disk is full"}', "disk is full"),
        ('Hm.\n{"heartbeat": "attention"}', 'Hm. {"heartbeat": "attention"}'),
        ("x" * 1000, "x" * SUMMARY_LENGTH),
        ("red \x1b[31malert\x1b[0m\x00 \udc80here", "red [31malert[0m here"),
        ("", NO_ANSWER),
        (" \n\t\n", NO_ANSWER),
        ("\x00\x01", NO_ANSWER),
    ],
)
def test_the_summary_is_what_was_said_on_one_line(text: str, summary: str) -> None:
    assert judged(text) == RunOutcome(outcome="attention", summary=summary)


def test_a_failure_is_an_error_whatever_was_said() -> None:
    failure = Failure(kind="max_turns", message="Reached max turns (3)")
    assert classify(Report(text="HEARTBEAT_OK", failure=failure)) == RunOutcome(outcome="error", failure=failure)


@given(st.text(), WHITE, WHITE)
def test_only_white_space_and_line_feeds_may_stand_around_the_word(text: str, before: str, after: str) -> None:
    answer = f"{text}\n{before}HEARTBEAT_OK{after}"
    warned = any("ATTENTION:" in line for line in text.splitlines())
    assert judged(answer).outcome == "ok" or warned


@given(st.text(min_size=1).filter(lambda text: "\n" not in text and text.strip()), st.booleans())
def test_a_word_on_the_same_line_is_enough_to_need_attention(word: str, before: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    assert judged(word + "HEARTBEAT_OK" if before else "HEARTBEAT_OK" + word).outcome == "attention"


@given(st.text())
def test_an_answer_is_quiet_only_if_its_last_line_is_one_of_the_two_forms(text: str) -> None:
    verdict = judged(text)
    last = [line.strip() for line in text.split("\n") if line.strip()][-1:]
    assert (verdict.outcome == "attention") == (last != ["HEARTBEAT_OK"])  # no drawn text is the JSON form by chance
    assert len(verdict.summary) <= SUMMARY_LENGTH
    assert verdict.summary.isprintable()


@given(
    st.sampled_from(["ok", "attention", "error", ""]),
    st.text(),
    st.dictionaries(st.text(), st.none() | st.booleans() | st.text()),
)
def test_a_json_answer_may_say_more_but_only_ok_is_ok(word: str, summary: str, more: dict[str, object]) -> None:
    verdict = judged(json.dumps({**more, "heartbeat": word, "summary": summary}))
    assert verdict.outcome == ("ok" if word == "ok" else "attention")
