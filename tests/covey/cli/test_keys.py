from __future__ import annotations

import pytest

from covey.cli.keys import keys


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (b"q", ["q"]),
        (b"jjk", ["down", "down", "up"]),
        (b"\x1b[A\x1b[B", ["up", "down"]),
        (b"\x1bOA\x1bOB\r", ["up", "down", "enter"]),
        (b"\x1b", ["escape"]),
        (b"\x1b[5~\x1b[6~", ["page up", "page down"]),
        (b"\x1b[200~", []),
        (b"\x1b[1;5C", []),
        (b"\x1b[", []),
        ("ü?".encode(), ["ü", "?"]),
        (b"\xff\xfe", []),
        (b"", []),
    ],
)
def test_bytes_become_keys(typed: bytes, expected: list[str]) -> None:
    assert list(keys(typed)) == expected
