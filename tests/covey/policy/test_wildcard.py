"""Texts with wildcards, compared with what fnmatch says, and with every text that unknown parts can stand for."""

from __future__ import annotations

import fnmatch
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.policy.wildcard import UNKNOWN, Wildcard

pytestmark = pytest.mark.once  # the release of tmux makes no difference


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=10))
def test_it_matches_what_fnmatch_matches(pattern: str, text: str) -> None:
    assert Wildcard(pattern).matches(text) == fnmatch.fnmatchcase(text, pattern)


@given(st.text(alphabet="ab*?", max_size=4), st.text(alphabet=f"ab{UNKNOWN}", max_size=4))
def test_an_unknown_part_may_be_anything(pattern: str, text: str) -> None:
    """Compared with all texts that come of putting up to four letters for each unknown part."""
    letters = ["".join(one) for length in range(5) for one in product("ab", repeat=length)]
    known = text.split(UNKNOWN)
    if len(known) > 2:
        return
    filled = [one.join(known) for one in letters] if len(known) == 2 else [text]
    assert Wildcard(pattern).may_match(text) == any(fnmatch.fnmatchcase(one, pattern) for one in filled)
    if Wildcard(pattern).matches(text):
        assert all(fnmatch.fnmatchcase(one, pattern) for one in filled)


def test_a_hostile_text_takes_no_longer_than_its_length() -> None:
    begin = time.process_time()
    assert not Wildcard("*a" * 30 + "*b").matches("a" * 100_000)
    assert time.process_time() - begin < 10
