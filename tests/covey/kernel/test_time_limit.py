"""The limit on the time of a computation."""

from __future__ import annotations

import gc
import re
import signal
import threading

import pytest

from covey.kernel.time_limit import TooLongError, limited

pytestmark = pytest.mark.once  # the release of tmux makes no difference

FOR_EVER = re.compile("(a+)+b")


def test_a_regular_expression_that_would_never_end_is_ended() -> None:
    for _ in range(2):
        with pytest.raises(TooLongError), limited(0.01):
            FOR_EVER.search("a" * 60)


def test_the_limit_is_over_with_the_block() -> None:
    with limited(0.01):
        pass
    FOR_EVER.search("a" * 20)
    assert gc.isenabled()
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0.0


def test_of_two_limits_the_outer_one_counts() -> None:
    with pytest.raises(TooLongError), limited(0.01), limited(1000):
        FOR_EVER.search("a" * 60)


def test_the_time_of_other_threads_does_not_count() -> None:
    over = threading.Event()

    def compute() -> None:
        while not over.is_set():
            sum(range(1000))

    other = threading.Thread(target=compute)
    with limited(0.05):
        other.start()
        while signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0.04:
            over.wait(0.005)
        over.set()
        other.join()


def test_in_another_thread_there_is_no_limit() -> None:
    found: list[object] = []

    def compute() -> None:
        with limited(0.001):
            found.append(FOR_EVER.search("a" * 20))

    other = threading.Thread(target=compute)
    other.start()
    other.join()
    assert found == [None]
