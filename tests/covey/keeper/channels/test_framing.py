"""Messages out of the bytes of a FIFO, however they are cut into pieces."""

from __future__ import annotations

import json
import select

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.keeper.channels.framing import Framing, Refused
from covey.keeper.channels.message import Message

NOW = 1_740_000_000.0
LONGEST = 10_000

contents = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(lambda text: text.strip())
lines = st.lists(st.builds(lambda text: json.dumps({"content": text, "channel": "x"}), contents), max_size=12)
cuts = st.lists(st.integers(0, 2000), max_size=12)


def pieces(data: bytes, at: list[int]) -> list[bytes]:
    ends = sorted({min(one, len(data)) for one in at} | {len(data)})
    return [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False) if begin < end]


def found(*data: bytes, longest: int = LONGEST, ended: bool = True) -> list[Message | Refused]:
    framing = Framing("x", longest=longest)
    taken = [one for piece in data for one in framing.feed(piece, NOW)]
    return taken + (framing.end(NOW) if ended else [])


def texts(*data: bytes, longest: int = LONGEST, ended: bool = True) -> list[str]:
    """The contents of the messages; what was refused is REFUSED."""
    taken = found(*data, longest=longest, ended=ended)
    return [one.content if isinstance(one, Message) else "REFUSED" for one in taken]


def why(data: bytes) -> str:
    [one] = found(data)
    assert isinstance(one, Refused)
    return one.why


def test_each_line_is_a_message_of_the_channel_at_this_time() -> None:
    assert found(b"Check my homework\n\n  \nagain\r\n") == [
        Message(channel="x", content="Check my homework", at=NOW),
        Message(channel="x", content="again", at=NOW),
    ]


def test_a_json_line_says_its_time_and_more_and_claims_a_channel() -> None:
    line = b'{"channel":"telegram","content":"a\\nb","ts":1740000001,"meta":{"chat":7},"unknown":[]}\n'
    at, meta = 1_740_000_001.0, {"chat": 7}
    assert found(line) == [Message(channel="x", claimed="telegram", content="a\nb", at=at, meta=meta)]
    own = line.replace(b"telegram", b"x")
    assert found(own) == [Message(channel="x", content="a\nb", at=at, meta=meta)]
    assert found(b'{"content":"a"}\n') == [Message(channel="x", content="a", at=NOW)]
    assert found(b'{"content":"a","channel":null,"ts":null,"meta":null}\n') == found(b'{"content":"a"}\n')


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"content":"torn', "not a JSON object"),
        (b"{so it goes}", "not a JSON object"),
        (b'{"content":"a"} and more', "not a JSON object"),
        (b'{"content":"a","meta":' + b'{"a":' * 1900, "not a JSON object"),
        (b'{"text":"a"}', "missing required field `content`"),
        (b'{"content":1}', "$.content"),
        (b'{"content":" "}', "content is empty"),
        (b'{"content":"a","channel":"../x"}', "not a name"),
        (b'{"content":"a","channel":""}', "not a name"),
        (b'{"content":"a","ts":"now"}', "$.ts"),
        (b'{"content":"a","ts":1740000000000}', "seconds since 1970"),
        (b'{"content":"a","ts":-1}', "seconds since 1970"),
        (b'{"content":"a","meta":[]}', "$.meta"),
        (b"a\xff", "not UTF-8"),
        (b'{"content":"\xc3"}', "not UTF-8"),
        (b"\0begun", "NUL"),
    ],
)
def test_what_is_not_a_message_is_refused_with_a_reason(line: bytes, reason: str) -> None:
    assert reason in why(line)


def test_a_refusal_shows_how_the_message_began() -> None:
    [one] = found(b"{" + "ä".encode() * 5000)
    assert isinstance(one, Refused)
    assert one.beginning == "{" + "ä" * 199


def test_control_characters_are_left_in() -> None:
    assert texts(b"\x1b[31mred\x07\n") == ["\x1b[31mred\x07"]


def test_several_lines_between_nuls_are_one_message() -> None:
    assert texts(b"\0line one\n\nline two\n\0") == ["line one\n\nline two"]
    assert texts(b"before\n\0a\nb\0\0c\nd\0after\n") == ["before", "a\nb", "c\nd", "after"]
    assert texts(b'\0{"content":\n"a"}\0') == ["a"]
    assert texts(b"\0\0\0 \0\n") == []


def test_lines_written_at_once_with_a_nul_behind_them_are_one_message() -> None:
    assert texts(b"line one\nline two\0") == ["line one\nline two"]
    assert texts(b"a\nb\0c\nd\0", b"e\0\0f\ng\0") == ["a\nb", "c\nd", "e", "f\ng"]
    assert texts(b'{"content":"1"}\na\nb\0') == ["1", "a\nb"]
    assert texts(b"be", b"gun\nand ended\0") == ["begun\nand ended"]
    assert texts(b"be", b'{gun\n{"content":"2"}\0') == ["be{gun", "2"]


def test_a_text_without_a_line_break_ends_with_its_writers() -> None:
    assert texts(b"no line break") == ["no line break"]
    assert texts(b"no line", b" break", ended=False) == []


def test_a_pause_ends_a_short_text_and_nothing_that_says_where_it_ends() -> None:
    for begun, rest, message in (
        (b"\0one", b"\ntwo\0", "one\ntwo"),
        (b'{"content":', b'"a"}\n', "a"),
        (b"a" * (select.PIPE_BUF + 1), b"b\n", "a" * (select.PIPE_BUF + 1) + "b"),
    ):
        framing = Framing("x", longest=LONGEST)
        framing.feed(begun, NOW)
        assert framing.pause(NOW) == []
        assert framing.feed(rest, NOW) == [Message(channel="x", content=message, at=NOW)]
    framing = Framing("x", longest=LONGEST)
    framing.feed(b"short", NOW)
    assert framing.is_waiting
    assert framing.pause(NOW) == [Message(channel="x", content="short", at=NOW)]
    assert not framing.is_waiting


def test_what_is_unfinished_when_reading_stops_is_refused() -> None:
    framing = Framing("x", longest=LONGEST)
    framing.feed(b'a\n{"content":', NOW)
    [one] = framing.cut(NOW)
    assert isinstance(one, Refused)
    assert framing.feed(b"next\n", NOW) == [Message(channel="x", content="next", at=NOW)]


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_a_message_that_is_too_long_is_refused_once_and_reading_goes_on_after_it(size: int) -> None:
    long = b"l" * 300
    for data in (b"a\n" + long + b"\nb\n", b"a\n\0" + long + b"\n" + long + b"\0b\n", b"a\n" + long + b"\0b\n"):
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        if size == 100_000 and data.count(b"\0") == 1:
            continue  # in one piece, the line before the NUL belongs to it
        assert texts(*parts, longest=100) == ["a", "REFUSED", "b"]


def test_the_parts_of_an_object_that_was_mixed_with_others_are_refused() -> None:
    mixed = b'{"content":"aaaa' + b'{"content":"b"}\n' + b'{"content":"c"}\n' + b'aaaa"}\n' + b"plain\n"
    assert texts(mixed, ended=False) == ["REFUSED", "c", "REFUSED", "plain"]
    assert texts(b'{"content":"' + b"a" * 200 + b"\n", b'aaaa"}\nplain\n', longest=100) == [
        "REFUSED",
        "REFUSED",
        "plain",
    ]
    framing = Framing("x", longest=LONGEST)
    framing.feed(mixed, NOW)
    framing.pause(NOW)
    assert framing.feed(b"{a}"[1:] + b"\n", NOW) == [Message(channel="x", content="a}", at=NOW)]


@given(lines, cuts)
def test_json_lines_give_the_same_messages_in_any_pieces(written: list[str], at: list[int]) -> None:
    data = "".join(f"{line}\n" for line in written).encode()
    expected = [json.loads(line)["content"] for line in written]
    assert texts(*pieces(data, at), ended=False) == expected


@given(st.lists(contents.filter(lambda text: "\0" not in text)), cuts)
def test_texts_between_nuls_give_the_same_messages_in_any_pieces(written: list[str], at: list[int]) -> None:
    framed = b"".join(b"\0>" + text.encode() + b"<\0" for text in written)
    assert texts(*pieces(framed, at), ended=False) == [f">{text}<" for text in written]


@given(st.lists(st.binary(max_size=300) | st.sampled_from([b"\0", b"\n", b"{", b'{"content":"a"}\n'])), st.data())
def test_any_bytes_are_taken_within_bounds_and_what_follows_them_is_read(
    written: list[bytes], data: st.DataObject
) -> None:
    framing = Framing("x", longest=50)
    for piece in written:
        framing.feed(piece, NOW)
        assert len(framing._unfinished) <= 50
        if data.draw(st.booleans()):
            framing.pause(NOW)
    framing.end(NOW)
    assert framing.feed(b"next\n", NOW) == [Message(channel="x", content="next", at=NOW)]
