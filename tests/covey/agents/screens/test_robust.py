"""Whatever stands on a screen, reading it neither fails nor takes long."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.agents.screens.adapter import Adapter
from covey.fleet.state.model import STATES
from tests.captured import captures
from tests.covey.agents.screens.adapters_seen import REGISTRY

ADAPTERS = list(REGISTRY)
PIECES = sorted(
    {
        line
        for capture in captures()
        if capture.about["case"].startswith(("approval", "question", "streaming"))
        for line in capture.screen.split("\n")
    }
)
ESCAPES = st.lists(
    st.sampled_from(
        [
            "\x1b[2m",
            "\x1b[0m",
            "\x1b[7m",
            "\x1b[38;5;2m",
            "\x1b[38;2;1",
            "\x1b[",
            "\x1b]8;;x\x1b\\",
            "text ",
            "\u276f\u00a0",
        ]
    )
).map("".join)
LINES = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=40)), max_size=40).map("\n".join)


@settings(max_examples=150)
@given(screen=st.one_of(st.text(), LINES), escapes=st.one_of(ESCAPES, LINES), title=st.text(max_size=20))
def test_any_screen_gives_a_known_state_or_none(screen: str, escapes: str, title: str) -> None:
    for adapter in ADAPTERS:
        reading = adapter.read_screen(screen, escapes, title)
        assert reading is None or reading.state in STATES
        told = adapter.read_title(title)
        assert told is None or told.state in STATES
        REGISTRY.explain(adapter.name, screen, title, escapes)


@settings(max_examples=150)
@given(screen=LINES, title=st.text(max_size=20))
def test_an_explanation_and_a_reading_agree(screen: str, title: str) -> None:
    for adapter in ADAPTERS:
        explanation = REGISTRY.explain(adapter.name, screen, title)
        reading = adapter.read_screen(screen, title=title)
        assert explanation.reading == reading
        held = [tried.rule for tried in explanation.screen_rules if not tried.why]
        assert held == ([reading.evidence.pattern] if reading else [])


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
@pytest.mark.parametrize(
    "row",
    [
        "",
        " " * 300 + "x",
        "─" * 300,
        "\u276f 1. Yes",
        "┃  x",
        "│ x",
        "  x",
        "⠋ x… (",
        "• a (1s",
        "● API Error: ",
        "■ x",
    ],
)
def test_a_huge_screen_of_hostile_rows_is_read_in_bounded_time(adapter: Adapter, row: str) -> None:
    screen = "\n".join([row] * 2000)
    adapter.read_screen(screen, screen, row)
    adapter.read_screen(f"{screen}\nx", screen, row)
    adapter.read_screen((row or "x") * 20_000)
