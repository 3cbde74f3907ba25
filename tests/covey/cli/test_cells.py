from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.cli.cells import clean, cut, cut_middle, hanging, hint, padded, width, wrapped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;ZXZpbA==", ""),
        ("\x1bP+q\x1b\\x", "x"),
        ("\x9b2Jx", "x"),
        ("a\x1b", "a"),
        ("two\nlines\tand\r more", "two lines and more"),
        ("bell\x07 and \x00 null", "bell and null"),
        ("left\u202eright", "leftright"),
        ("half\ud83d", "half\ufffd"),
        ("  日本語  ", "日本語"),
    ],
)
def test_only_what_can_be_seen_is_left(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "cells"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("🚀", 2), ("👩\u200d💻", 4), ("▲●○✗", 4), ("", 0)]
)
def test_width_is_counted_in_cells(text: str, cells: int) -> None:
    assert width(text) == cells


def test_a_wide_character_is_not_cut_in_half() -> None:
    assert cut("日本語", 6) == "日本語"
    assert cut("日本語", 5) == "日本…"
    assert cut("日本語", 4) == "日…"
    assert padded("日本語", 4) == "日… "
    assert cut("abc", 0) == ""


@given(st.text(), st.integers(0, 40))
def test_whatever_it_is_it_fits_and_does_nothing_to_the_terminal(text: str, cells: int) -> None:
    shown = clean(text)
    assert not any(letter < " " or "\x7f" <= letter <= "\x9f" for letter in shown)
    assert clean(shown) == shown
    assert width(cut(shown, cells)) <= cells
    assert width(padded(shown, cells)) == cells


def test_the_middle_is_left_out_and_both_ends_are_kept() -> None:
    assert cut_middle("session:0.0", 11, 3) == "session:0.0"
    assert cut_middle("session:0.0", 8, 3) == "ses…:0.0"
    assert cut_middle("session:0.0", 5, 0) == "…:0.0"
    assert cut_middle("日本語:0.0", 7, 2) == "日…:0.0"


def test_a_word_that_is_longer_than_a_line_is_broken_and_not_cut() -> None:
    assert wrapped("rm -rf /srv/build/output", 10) == ["rm -rf", "/srv/build", "/output"]
    assert hanging("  because", "a " + "b" * 30, 30) == [
        "  because a",
        "          " + "b" * 20,
        "          " + "b" * 10,
    ]


@given(st.text(), st.integers(2, 40))
def test_wrapped_lines_fit_and_lose_nothing(text: str, cells: int) -> None:
    shown = clean(text)
    lines = wrapped(shown, cells)
    assert all(width(line) <= cells for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())


@pytest.mark.parametrize("columns", [30, 40, 58, 80])
def test_a_hint_breaks_between_words_and_loses_none(columns: int) -> None:
    text = "changes where Covey looks for servers of tmux -S"
    lines = hint("covey config set", text, columns)
    assert all(width(line) <= columns for line in lines)
    assert " ".join(" ".join(lines).split()) == f"covey config set {text}"
