"""Control mode as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.tmux.errors import TmuxProtocolError
from covey.tmux.protocol import Block, Notice, Parser, line, quote

PRINTED = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))
GUARDS = st.tuples(st.integers(0, 2**31), st.integers(0, 2**31), st.integers(0, 1))


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[Block | Notice]]:
    """What tmux could send, and what it means."""
    sent, meant = "", list[Block | Notice]()
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            rest = draw(PRINTED)
            sent += f"%window-add {rest}\n"
            meant.append(Notice("window-add", rest))
            continue
        time, number, flags = draw(GUARDS)
        guard = f"{time} {number} {flags}"
        others = st.builds("%{} {} {} 1".format, st.sampled_from(["end", "error", "begin"]), st.just(time), st.integers(number + 1, number + 99))
        lines = draw(st.lists(PRINTED | others, max_size=4))
        lines = [text for text in lines if text not in (f"%end {guard}", f"%error {guard}")]
        ok = draw(st.booleans())
        sent += "".join(f"{text}\n" for text in (f"%begin {guard}", *lines, f"{'%end' if ok else '%error'} {guard}"))
        meant.append(Block(ok, flags == 1, lines))
    return sent.encode(), meant


@given(streams(), st.lists(st.integers(1, 40), max_size=30))
def test_a_stream_is_understood_in_whatever_pieces_it_comes(stream: tuple[bytes, list[Block | Notice]], pieces: list[int]) -> None:
    sent, meant = stream
    parser, found = Parser(), list[Block | Notice]()
    for length in [*pieces, len(sent)]:
        found += parser.feed(sent[:length])
        sent = sent[length:]
    assert found == meant


@pytest.mark.parametrize("stray", [b"hello\n", b"\n", b"%end 1 2 1\n", b"%error 1 2 1\n"])
def test_a_line_out_of_place_is_an_error(stray: bytes) -> None:
    with pytest.raises(TmuxProtocolError):
        Parser().feed(stray)


def test_bytes_that_are_no_text_are_kept_readable() -> None:
    assert Parser().feed(b"%begin 1 2 1\n\xff\n%end 1 2 1\n") == [Block(ok=True, ours=True, lines=["\\xff"])]


def test_a_line_break_in_a_word_does_not_break_the_line() -> None:
    assert line(("set-buffer", "a\n\n'b'")) == b"'set-buffer' 'a'\"\\n\\n\"''\\''b'\\'''\n"


def test_what_would_detach_or_truncate_is_refused() -> None:
    with pytest.raises(ValueError, match="detach"):
        line(())
    with pytest.raises(ValueError, match="NUL"):
        quote("a\0b")
