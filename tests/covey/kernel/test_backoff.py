"""Pauses between attempts."""

from __future__ import annotations

from covey.kernel.backoff import LEAST_JITTER, BackOff


def test_the_pause_doubles_up_to_the_longest_and_begins_again_after_a_success() -> None:
    back_off = BackOff(1.0, 10.0, jitter=False)
    assert [back_off.fail() for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    assert back_off.failures == 6
    back_off.succeed()
    assert back_off.failures == 0
    assert back_off.fail() == 1


def test_jitter_shortens_a_pause_by_half_at_most_and_not_always_alike() -> None:
    pauses = [BackOff(8.0, 60.0).fail() for _ in range(200)]
    assert all(8.0 * LEAST_JITTER <= pause <= 8.0 for pause in pauses)
    assert len(set(pauses)) > 100


def test_the_longest_pause_is_kept_however_often_it_fails() -> None:
    back_off = BackOff(0.5, 30.0, jitter=False)
    assert [back_off.fail() for _ in range(5000)][-1] == 30.0


def test_a_first_pause_that_is_longer_than_the_longest_is_cut() -> None:
    assert BackOff(5.0, 2.0, jitter=False).fail() == 2.0
