from __future__ import annotations

import pytest

from lab.observer import Claim
from lab.score import Score, percentile, score
from lab.timeline import UNDECIDED, Span

TRUTH = [Span(0, 10, "idle"), Span(10, 11, UNDECIDED), Span(11, 21, "running"), Span(21, 31, "waiting_approval")]
RIGHT = [Claim(0, "idle"), Claim(10.5, "running"), Claim(21, "waiting_approval")]


def test_a_perfect_observer_has_all_the_time_right_and_no_delay() -> None:
    result = score(TRUTH, RIGHT)
    assert (result.accuracy, result.wrong, result.decided) == (1.0, [], 30)
    assert result.delays == {("start", "idle"): [0], ("idle", "running"): [0], ("running", "waiting_approval"): [0]}


def test_undecided_time_counts_for_nobody() -> None:
    assert (
        score(
            TRUTH, [Claim(0, "idle"), Claim(10, "error"), Claim(11, "running"), Claim(21, "waiting_approval")]
        ).accuracy
        == 1.0
    )


def test_completed_is_an_idle_agent() -> None:
    assert score([Span(0, 5, "idle")], [Claim(0, "completed")]).accuracy == 1.0


def test_a_late_claim_costs_its_delay_and_is_a_wrong_spell() -> None:
    result = score(TRUTH, [Claim(0, "idle"), Claim(13, "running"), Claim(21.5, "waiting_approval")])
    assert result.wrong == pytest.approx([2, 0.5])
    assert result.delays["idle", "running"] == [2]
    assert result.accuracy == pytest.approx(27.5 / 30)
    assert result.confusion["running", "idle"] == pytest.approx(2)


def test_unknown_is_not_right_but_not_a_lie_either() -> None:
    result = score(TRUTH, [Claim(0, "unknown")])
    assert (result.accuracy, result.wrong) == (0.0, [])


def test_a_wrong_guess_with_low_confidence_is_not_a_confidently_wrong_spell() -> None:
    result = score(TRUTH, [Claim(0, "running", "low")])
    assert result.accuracy == pytest.approx(10 / 30)
    assert result.wrong == []


def test_a_spell_goes_on_while_the_wrong_claim_changes() -> None:
    assert score([Span(0, 10, "idle")], [Claim(0, "running"), Claim(4, "error"), Claim(6, "idle")]).wrong == [6]


def test_what_was_never_claimed_is_missed_and_lowers_recall() -> None:
    result = score(TRUTH, [Claim(0, "idle")])
    assert result.missed == {("idle", "running"): 1, ("running", "waiting_approval"): 1}
    assert (result.recall("waiting_approval"), result.recall("idle")) == (0.0, 1.0)


def test_before_its_first_claim_an_observer_knows_nothing() -> None:
    assert score([Span(0, 10, "idle")], [Claim(5, "idle")]).confusion == {("idle", "unknown"): 5, ("idle", "idle"): 5}


def test_scores_add_up_over_runs() -> None:
    total = Score()
    total.add(score(TRUTH, RIGHT))
    total.add(score(TRUTH, [Claim(0, "idle")]))
    assert total.decided == 60
    assert total.accuracy == pytest.approx(40 / 60)
    assert total.recall("waiting_approval") == 0.5
    assert total.confusion["running", "idle"] == 10


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile([], 0.5) is None
    assert percentile([3.0], 0.95) == 3.0
    assert percentile(map(float, range(1, 101)), 0.95) == 96.0
