"""Log lines about refusals: few of each source, and not too many in all."""

from __future__ import annotations

import logging

import pytest

from covey.keeper.channels.refusal_log import RefusalLog
from covey.kernel.clock import ManualClock


def test_each_source_has_its_own_few_lines_a_minute_and_all_together_a_limit(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "covey.keeper")
    clock = ManualClock()
    refusals = RefusalLog(clock)

    def logged(source: str) -> int:
        return sum(record.__dict__.get("channel") == source for record in caplog.records)

    for number in range(30):
        refusals.warn("message refused", "loud", channel="loud", number=number)
    refusals.warn("message refused", "quiet", channel="quiet")
    assert (logged("loud"), logged("quiet")) == (20, 1)
    for number in range(1000):
        refusals.warn("message refused", f"other {number}", channel="other")
    assert logged("other") == 200 - 21
    clock.advance(60.0)
    refusals.warn("message refused", "loud", channel="loud")
    refusals.warn("message refused", "quiet", channel="quiet")
    assert [record.__dict__.get("left_out") for record in caplog.records[-2:]] == [10, None]
