from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.versions import compare, parse, version

VERSIONS = st.lists(st.integers(0, 300), min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.1.325", (2, 1, 325)), ("v0.61.0-nightly.2", (0, 61, 0)), ("codex-cli 0.166.0", (0, 166, 0)), ("next", ())],
)
def test_a_version_is_the_first_number_in_a_text(text: str, numbers: tuple[int, ...]) -> None:
    assert version(text) == numbers


@pytest.mark.parametrize(
    ("when", "inside", "outside"),
    [
        (">=2.1", "2.1.0", "2.0.9"),
        (">=1.0, <2.1", "2.0.99", "2.1"),
        ("==2.1", "2.1.0", "2.1.1"),
        ("<=2", "2.0", "2.0.1"),
        (">2", "2.0.1", "2.0.0"),
    ],
)
def test_a_range_holds_what_its_terms_allow(when: str, inside: str, outside: str) -> None:
    assert version(inside) in parse(when)
    assert version(outside) not in parse(when)


@given(one=VERSIONS, other=VERSIONS)
def test_versions_have_an_order(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert (compare(one, other) > 0) == (compare(other, one) < 0)
    assert compare(one, one) == 0
    assert one in parse("")


def test_what_is_no_range_is_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match=r"write for example '>=2.1'"):
        parse("~2.1")
