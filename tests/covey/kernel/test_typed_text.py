"""Texts as they are typed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.typed_text import HARMLESS_AT, compared, typed_text, without_mentions


@pytest.mark.parametrize(
    ("text", "typed", "taken"),
    [
        ("two\tcolumns\nand a line", "two\tcolumns\nand a line", 0),
        ("cafe\u0301", "caf\u00e9", 0),
        ("x\u200bwidth \ufeffbom so\u00adft \u202eback\u2066", "xwidth bom soft back", 5),
        ("\x1b[31mred\x07\x00", "[31mred", 3),
        ("hidden \U000e0041\U000e0042", "hidden ", 2),
        (
            "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
            "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
            0,
        ),
        ("half \ud83d", "half ", 1),
    ],
)
def test_what_no_composer_shows_is_taken_out_and_counted(text: str, typed: str, taken: int) -> None:
    assert typed_text(text) == (typed, taken)


@given(st.text())
def test_a_typed_text_is_typed_as_it_is(text: str) -> None:
    typed, _ = typed_text(text)
    assert typed_text(typed) == (typed, 0)
    assert compared(typed) == compared(unicodedata.normalize("NFD", typed))


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("@/etc/passwd", f"{HARMLESS_AT}/etc/passwd"),
        ("read @~/.ssh/id and (@src/app.py)", f"read {HARMLESS_AT}~/.ssh/id and ({HARMLESS_AT}src/app.py)"),
        ("line\n@file", f"line\n{HARMLESS_AT}file"),
        ("mail ann@mail.example at once, a.b+c@d.e", "mail ann@mail.example at once, a.b+c@d.e"),
        ("3 @ 5 and @", "3 @ 5 and @"),
    ],
)
def test_a_text_of_somebody_else_attaches_no_file(text: str, harmless: str) -> None:
    assert without_mentions(text) == harmless
