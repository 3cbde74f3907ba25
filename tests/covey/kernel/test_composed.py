"""Composed forms of Unicode, in linear time."""

from __future__ import annotations

import time
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.composed import PIECE, composed

pytestmark = pytest.mark.once  # the release of tmux makes no difference

MARKS = "\u0315\u0300"
LETTERS = st.text("ae1 \u0300\u0315\u0323\u00e9\u1100\u1161\u11a8\u09c7\u09be\u4e2d\ufb01\u212b", max_size=20)


@given(LETTERS, st.lists(LETTERS, max_size=4), st.sampled_from(["NFC", "NFKC"]))
def test_texts_are_composed_as_the_standard_says(first: str, more: list[str], form: Literal["NFC", "NFKC"]) -> None:
    long = "".join(one + "中x" * (PIECE // 4) for one in (first, *more))
    for text in (first, long):
        assert composed(text, form) == unicodedata.normalize(form, text)


def test_marks_without_end_are_composed_in_linear_time() -> None:
    half, whole = (min(_seconds("a" + MARKS * count) for _ in range(3)) for count in (20_000, 40_000))
    assert whole < 3.5 * half


def _seconds(text: str) -> float:
    began = time.thread_time()
    composed(text)
    return time.thread_time() - began
