"""Durations as people read them."""

from __future__ import annotations

import pytest

from covey.kernel.durations import seconds_text


@pytest.mark.parametrize(
    ("length", "text"),
    [(2.49996, "2.5 s"), (3.0, "3 s"), (25.0, "25 s"), (119.96, "120 s"), (0.05, "0.05 s"), (0.9999, "1 s")],
)
def test_seconds_are_rounded_for_people(length: float, text: str) -> None:
    assert seconds_text(length) == text
