"""The verifier of the mesh's faults must be able to fail."""

from __future__ import annotations

import pytest

from lab.mesh.outcome import Outcome
from lab.mesh.verdict import Line, Sent, Verdict, judge, judge_events

DIRECT = Line("a", "b")
TOPIC = Line("a", "b", "news")
SENT = Sent(["one", "two", "three"])


def test_what_came_once_and_in_order_breaks_nothing() -> None:
    verdict = judge({DIRECT: SENT, TOPIC: SENT}, {DIRECT: SENT.accepted, TOPIC: SENT.accepted})
    assert verdict == Verdict(sent=6)


@pytest.mark.parametrize(
    ("received", "count"),
    [
        (["one", "three"], "lost"),
        ([], "lost"),
        (["one", "two", "two", "three"], "doubled"),
        (["one", "three", "two"], "out_of_order"),
        (["one", "two", "three", "four"], "invented"),
    ],
)
def test_what_is_wrong_on_a_line_is_counted_and_told(received: list[str], count: str) -> None:
    verdict = judge({DIRECT: SENT}, {DIRECT: received})
    assert getattr(verdict, count) > 0
    assert any("a -> b" in what for what in verdict.broken)


def test_a_message_to_the_wrong_inbox_is_lost_and_invented() -> None:
    verdict = judge({DIRECT: SENT}, {Line("a", "c"): SENT.accepted})
    assert (verdict.lost, verdict.invented) == (3, 3)


def test_a_message_whose_call_was_never_answered_may_have_come_or_not() -> None:
    sent = Sent(["one"], frozenset({"two"}))
    assert judge({DIRECT: sent}, {DIRECT: ["one"]}).broken == []
    assert judge({DIRECT: sent}, {DIRECT: ["one", "two"]}).broken == []
    assert judge({DIRECT: sent}, {DIRECT: ["one", "two", "two"]}).doubled == 1


def test_order_is_promised_for_direct_messages_only() -> None:
    verdict = judge({TOPIC: SENT}, {TOPIC: ["two", "one", "three"]})
    assert (verdict.topic_inversions, verdict.out_of_order, verdict.broken) == (1, 0, [])


@pytest.mark.parametrize("announced", [["x"], ["x", "y", "y"], ["x", "y", "z"]])
def test_each_message_has_one_event(announced: list[str]) -> None:
    verdict = Verdict()
    judge_events(verdict, "b", ["x", "y"], announced)
    assert verdict.announced_wrong == 1
    assert verdict.broken
    fine = Verdict()
    judge_events(fine, "b", ["x", "y"], ["y", "x"])
    assert fine == Verdict()


def test_an_outcome_shows_its_figures_and_what_was_broken() -> None:
    outcome = Outcome("kills")
    outcome.add(judge({DIRECT: SENT}, {DIRECT: ["one", "two"]}))
    outcome.require("a promise", holds=False)
    outcome.require("another", holds=True)
    assert "lost" in outcome.text
    assert "broken: a -> b: 1 lost" in outcome.text
    assert outcome.broken[-1] == "a promise"
    assert "not tried: no root" in Outcome("disk", skipped="no root").text
