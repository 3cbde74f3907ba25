"""Lines out of pieces of any size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from covey.agents.line_buffer import LineBuffer


@given(st.lists(st.binary(max_size=20)))
def test_lines_do_not_depend_on_the_pieces_and_empty_ones_are_left_out(pieces: list[bytes]) -> None:
    buffer = LineBuffer(1000)
    lines = [line for piece in pieces for line in buffer.feed(piece)]
    *whole, rest = b"".join(pieces).split(b"\n")
    assert [*lines, buffer.flush()] == [*(line for line in whole if line), rest]
    assert buffer.flush() == b""


def test_a_line_that_is_too_long_is_left_out_and_the_next_one_is_not() -> None:
    buffer = LineBuffer(5)
    assert buffer.feed(b"one\nmuch too") == [b"one"]
    assert buffer.feed(b" long") == []
    assert buffer.feed(b" a line\ntwo\nthr") == [b"two"]
    assert buffer.flush() == b"thr"


def test_the_rest_of_a_line_that_began_earlier_is_left_out() -> None:
    buffer = LineBuffer(100, inside_line=True)
    assert buffer.feed(b"of a line") == []
    assert buffer.feed(b"\none\n") == [b"one"]
