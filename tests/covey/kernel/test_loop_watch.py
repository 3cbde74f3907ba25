"""What keeps the event loop from running is measured and named."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from typing import Any

import pytest

from covey.kernel.doctor.doctor import findings_of
from covey.kernel.doctor.finding import WARN
from covey.kernel.loop_watch import BLOCKED, LOG_EVERY_S, OFTEN, RECENT_S, Blocked, LoopWatch
from covey.kernel.metrics import Metrics

pytestmark = pytest.mark.once  # the release of tmux makes no difference


class Watched:
    """A watch with a clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.metrics = Metrics()
        self.watch = LoopWatch(self.metrics, lambda: self.now)

    def keep(self, seconds: float) -> None:
        assert self.watch.sample(None)
        self.now += seconds
        assert not self.watch.sample(inspect.currentframe())
        self.watch.answer()

    @property
    def count(self) -> str:
        lines = self.metrics.text().splitlines()
        return next((line for line in lines if line.startswith(f"{BLOCKED}_count")), "")


def hog(seconds: float) -> None:
    """Compute without a pause."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def test_a_loop_that_is_kept_by_a_computation_is_measured_with_what_ran(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    watch = LoopWatch(metrics)
    with watch.watching(asyncio.get_running_loop()):
        hog(0.3)
        await asyncio.sleep(0.01)
    assert f"{BLOCKED}_count " in metrics.text()
    record: Any = next(one for one in caplog.records if one.getMessage() == "the event loop was blocked")
    assert "test_loop_watch.py" in record.ran
    assert " hog" in record.ran


def test_a_short_delay_is_not_counted(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    watched.keep(0.049)
    assert not watched.count
    assert not caplog.records


def test_it_is_logged_once_in_a_while_with_how_often_it_was(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    watched = Watched()
    watched.keep(0.1)
    watched.keep(0.1)
    watched.now += LOG_EVERY_S
    watched.keep(0.2)
    records: list[Any] = caplog.records
    assert [(record.times, record.seconds) for record in records] == [(1, 0.1), (2, 0.2)]
    assert watched.count == f"{BLOCKED}_count 3"


def test_what_was_measured_within_the_last_hour_is_told() -> None:
    watched = Watched()
    watched.keep(1.5)
    watched.keep(0.1)
    assert watched.watch.recent == (2, 1.5)
    watched.now += RECENT_S + 1
    assert watched.watch.recent == (0, 0.0)
    assert watched.watch.longest_s == 1.5


@pytest.mark.parametrize(("times", "found"), [(OFTEN - 1, 0), (OFTEN, 1)])
def test_the_doctor_warns_of_what_happens_often(times: int, found: int) -> None:
    config = {"generation": 1, "problems": [], "needs_restart": []}
    status = {"problems": [], "config": config, "loop": Blocked(times, 0.5)._asdict()}
    findings = [one for one in findings_of(status, []) if one.name == "event loop"]
    assert len(findings) == found
    assert all(f"{OFTEN} times" in one.detail and one.status == WARN for one in findings)
