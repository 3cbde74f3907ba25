from __future__ import annotations

import pytest

from lab.size import MEASURED, Size


def test_a_size_is_written_and_read_alike() -> None:
    assert Size.parse("58x18") == Size(58, 18)
    assert [Size.parse(str(size)) for size in MEASURED] == list(MEASURED)


@pytest.mark.parametrize("text", ["", "80", "80x", "x24", "80X24", "-80x24", "80x24x2", "1000x24", "5x5"])
def test_a_text_that_is_not_a_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="for example 80x24"):
        Size.parse(text)
