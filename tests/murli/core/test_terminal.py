"""What a terminal would obey is spelt out; what it only shows stays."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from murli import Writer, terminal_safe
from murli._core.terminal import CONTROLS, DIRECTIONS
from murli._core.wire import encode

ACTING = {chr(code) for code in (*CONTROLS, *DIRECTIONS)} - {"\t", "\n"}


def test_sequences_are_spelt_out_and_colours_stay() -> None:
    assert terminal_safe("a\x1b]52;c;aGk=\x07\x1b[2Jb") == "a\\x1b]52;c;aGk=\\x07\\x1b[2Jb"
    assert (
        terminal_safe("\x1b[31mred\x1b[0m \x1b[1;38;5;4mblue\x1b[m\tx\ny")
        == "\x1b[31mred\x1b[0m \x1b[1;38;5;4mblue\x1b[m\tx\ny"
    )
    assert terminal_safe("\x9b2J\u202eabc\u2066\x7f\r") == "\\x9b2J\\u202eabc\\u2066\\x7f\\r"
    assert terminal_safe("مرحبا שלום 👩‍💻 naïve") == "مرحبا שלום 👩‍💻 naïve"
    assert terminal_safe("\x1b[8mhidden") == "\\x1b[8mhidden"


@given(st.text(alphabet=st.one_of(st.sampled_from("\x1b[]0;m\x9b\x07\u202e\n\t\r"), st.characters(codec="utf-8"))))
def test_nothing_acts_whatever_the_text(text: str) -> None:
    shown = terminal_safe(text)
    for sequence in shown.split("\x1b")[1:]:
        assert sequence.startswith("[")
        assert sequence.partition("m")[0].strip("[0123456789;") == ""
    assert not set(shown.replace("\x1b", "")) & ACTING


@given(st.text())
def test_json_means_the_same_and_holds_nothing_that_acts(text: str) -> None:
    data = encode({"text": text})
    assert not set(data.decode()) & ACTING
    assert json.loads(data) == {"text": text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")}


def test_everything_that_a_writer_says_to_a_person_passes_through_it() -> None:
    hostile = "\x1b]0;title\x07\u202e"
    stdout, stderr = io.StringIO(), io.StringIO()
    stderr.isatty = lambda: True  # type: ignore[method-assign]
    writer = Writer(stdout, stderr, output="text")
    writer.line(hostile)
    writer.log(hostile)
    writer.progress(hostile)
    writer.success(lambda _: hostile, None)
    assert "\x1b" not in stdout.getvalue()
    assert "\x1b]" not in stderr.getvalue()
    assert not set(stdout.getvalue() + stderr.getvalue()) & (ACTING - {"\x1b", "\r"})
