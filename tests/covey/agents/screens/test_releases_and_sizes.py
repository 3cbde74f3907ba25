"""There are captures of several releases and sizes; test_captures.py reads them like all others."""

from __future__ import annotations

import pytest

from tests.captured import Capture, all_captures
from tests.covey.agents.screens.adapters_seen import read

AGENTS = ("copilot", "gemini", "opencode")
VARIANTS = [capture for agent in AGENTS for capture in all_captures(agent) if "size" in capture.about]
"""Those that say the size of their terminal: made release by release and size by size."""


def test_there_are_captures_of_several_releases_and_sizes() -> None:
    for agent in AGENTS:
        own = [capture for capture in VARIANTS if capture.about["agent"] == agent]
        assert len({capture.about["version"] for capture in own}) == 3
        assert {"120x40", "80x24", "58x18", "240x50", "44x16"} <= {capture.about["size"] for capture in own}


@pytest.mark.parametrize("capture", [capture for capture in VARIANTS if capture.state == "error"], ids=str)
def test_an_error_is_told_in_words_at_any_size(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert reading.detail
    assert "{" not in reading.detail
    assert "scripted failure" in reading.detail or "scripted failure" not in capture.screen
