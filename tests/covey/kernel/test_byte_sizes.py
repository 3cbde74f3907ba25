"""Numbers of bytes as people read them."""

from __future__ import annotations

import pytest

from covey.kernel.byte_sizes import compared_sizes, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (4_100_000, "4.1 MB"),
        (2_000_000_000, "2.0 GB"),
        (10**16, "10000.0 TB"),
    ],
)
def test_a_size_is_in_the_unit_that_fits(size: int, text: str) -> None:
    assert size_text(size) == text


def test_sizes_that_differ_are_never_said_to_be_the_same() -> None:
    assert compared_sizes(4_100_000, 3_000_000) == ("4.1 MB", "3.0 MB")
    assert compared_sizes(3_000_001, 3_000_000) == ("3,000,001 bytes", "3,000,000 bytes")
    assert compared_sizes(3_000_000, 3_000_000) == ("3.0 MB", "3.0 MB")
