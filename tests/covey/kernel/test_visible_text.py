"""What a person decides on is spelt out where it could deceive; what a person reads does nothing to the terminal."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.visible_text import shown, shown_values, visible, visible_line

HIDDEN = (
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA1)),
    *"\u00ad\u034f\u061c\u115f\u1160\u180e\u2000\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u202f",
    *"\u2060\u2064\u2066\u2069\u2800\u3000\u3164\ufe00\ufe0f\ufeff\uffa0\ud800\udfff\ue000\uffff",
    *"\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef\U0010fffd",
)


@pytest.mark.parametrize("letter", [one for one in HIDDEN if one not in "\n\t"], ids=ascii)
def test_what_cannot_be_seen_is_spelt_out_wherever_it_is(letter: str) -> None:
    code = ord(letter)
    spelt = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    assert visible(f"rm{letter} -rf{letter}") == f"rm{spelt} -rf{spelt}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g\u0456t push", r"g\u0456t push"),
        ("\u0430pt g\u03bfogle.com", r"\u0430pt g\u03bfogle.com"),
        ("\u0441\u0440 /etc/x", r"\u0441\u0440 /etc/x"),
        ("\u0441\u0440\n\u043f\u0440\u0438\u0432\u0435\u0442", "\\u0441\\u0440\n\u043f\u0440\u0438\u0432\u0435\u0442"),
        ("\uff52\uff4d -rf", r"\uff52\uff4d -rf"),
        ("\U0001d42b\U0001d426 \u0280\u1d0d", r"\U0001d42b\U0001d426 \u0280\u1d0d"),
        ("\u212aill \u037e \u1fef", r"\u212aill \u037e \u1fef"),
        ("a\u2215b\u2044c\uff1bd\uff5ce\u2010f\u2212g\u2024h", r"a\u2215b\u2044c\uff1bd\uff5ce\u2010f\u2212g\u2024h"),
        ("echo \u2018x; rm y\u2019 \u201cz\u201d", r"echo \u2018x; rm y\u2019 \u201cz\u201d"),
        ("\u13a1\u13ac", r"\u13a1\u13ac"),
        ("-\u0301 =\u0338 a\u0336 \u0301", r"-\u0301 =\u0338 a\u0336 \u0301"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + r"\u0301\u0301"),
        ("\t\r\n", "    \\x0d\n"),
    ],
)
def test_what_looks_like_something_else_is_spelt_out(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Grüße aus Zürich — das heißt",
        "日本語、これは；テスト（１つ）。Pythonで書く",  # noqa: RUF001 - ambiguous on purpose
        "Привет, а он с git в отпуске, и оса тоже",  # noqa: RUF001 - ambiguous on purpose
        "Γεια σου, το αρχείο και ο φάκελος",  # noqa: RUF001 - ambiguous on purpose
        "हिन्दी में लिखा", "ไทย ที่นี่", "שלום עולם", "한국어로 쓴 글", "Tiếng Việt: e\u0301",
        "5 µs · 3 m² · ▲ ● ✗ → 🚀 ©",
    ],
)  # fmt: skip
def test_texts_in_peoples_own_scripts_stay_as_they_are(text: str) -> None:
    assert visible(text) == text


SPELT = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
ANY = st.text(st.one_of(st.characters(), st.sampled_from("\n\u200b\u0430\u0436\u03b1aé一\uff52 \u0301\\ux;·•")))


@given(ANY)
def test_whatever_it_is_nothing_hides_and_nothing_is_left_out(text: str) -> None:
    found = visible(text)
    assert visible(found) == found
    assert found.count("\n") == text.count("\n")
    for letter in found.replace("\n", ""):
        assert letter == " " or unicodedata.category(letter)[0] not in "CZ"
    assert "\n" not in visible_line(text)
    without = text.replace("\\", "")
    restored = SPELT.sub(lambda one: chr(int(one[1] or one[2] or one[3], 16)), visible(without))
    assert restored == without.replace("\t", "    ")


@given(ANY)
def test_what_is_only_read_does_nothing_to_a_terminal(text: str) -> None:
    found = shown(text)
    assert shown(found) == found
    for letter in found.replace("\n", "").replace("\t", ""):
        assert unicodedata.category(letter) not in {"Cc", "Cs", "Zl", "Zp"}
        assert letter in " \u200c\u200d" or unicodedata.category(letter) not in {"Cf", "Zs"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b]52;c;ZXZpbA==\x07b\x1b[2Jc\x9b31md\u202ee", "bcde"),
        ("h\u3164i\u2800\u00a0j\U000e0041k\ufe0f\u200bl", "h i  jkl"),
        ("👩\u200d💻 ❤\ufe0f a\u200db", "👩\u200d💻 ❤\ufe0f ab"),
        ("half\ud83d", "half\ufffd"),
        ("a" + "\u0301" * 60, "a" + "\u0301" * 4),
        ("two\r\nlines\tof text", "two\nlines\tof text"),
    ],
)
def test_what_a_terminal_would_obey_or_not_show_is_left_out_of_what_is_read(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_the_texts_of_a_json_value_are_made_so_too() -> None:
    given = {"a\u202eb": ["x\U000e0041\u200by", 1, None], "c": {"d": "\x1b[2Je"}}
    assert shown_values(given) == {r"a\u202eb": ["xy", 1, None], "c": {"d": "e"}}
