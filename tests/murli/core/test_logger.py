"""Logs on standard error."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import count, groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli._core.logger import Logger, strip_ansi
from tests.murli.core.conftest import Terminal, golden, new_stream, written

NOON = 1_767_268_800.25
"""2026-01-01, 12:00 UTC and a quarter of a second."""


class Clock:
    """Time that passes only when the test says so."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def stream() -> Iterator[io.TextIOWrapper[io.BytesIO]]:
    with new_stream() as opened:
        yield opened


def entries(stream: io.TextIOWrapper[io.BytesIO]) -> list[Any]:
    return [json.loads(line) for line in written(stream).splitlines()]


def test_an_entry_is_the_one_of_the_contract(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.log('größer als <b>&"rot"</b>')
    logger.flush()
    assert written(stream) == golden("log.ndjson")


def test_repeats_are_written_once_with_the_number_of_extra_repeats(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    clock = Clock()
    logger = Logger(stream, agent=True, clock=clock)
    for _ in range(4):
        logger.log("still waiting", "warn")
        clock.now += 1
    logger.flush()
    assert written(stream) == golden("log_repeated.ndjson")


def test_an_entry_is_held_back_until_the_next_message_differs(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.log("one")
    assert entries(stream) == []
    logger.log("two")
    assert [entry["msg"] for entry in entries(stream)] == ["one"]
    logger.flush()
    assert [entry["msg"] for entry in entries(stream)] == ["one", "two"]


def test_the_time_is_that_of_the_first_of_the_repeats(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    clock = Clock()
    logger = Logger(stream, agent=True, clock=clock)
    logger.log("tick")
    clock.now += 60
    logger.log("tick")
    logger.flush()
    assert entries(stream) == [{"level": "info", "msg": "tick", "repeated": 1, "ts": "2026-01-01T12:00:00.250Z"}]


def test_messages_that_take_turns_are_not_repeats(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    for message in ("a", "b", "a", "b", "b"):
        logger.log(message)
    logger.flush()
    assert [(entry["msg"], entry.get("repeated")) for entry in entries(stream)] == [
        ("a", None),
        ("b", None),
        ("a", None),
        ("b", 1),
    ]


def test_the_same_message_at_another_level_is_no_repeat(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.log("disk", "info")
    logger.log("disk", "warn")
    logger.log("disk", "warn")
    logger.flush()
    assert [(entry["level"], entry.get("repeated")) for entry in entries(stream)] == [("info", None), ("warn", 1)]


def test_messages_that_differ_only_in_colour_are_repeats(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.log("\x1b[31mhot\x1b[0m")
    logger.log("hot")
    logger.flush()
    assert [(entry["msg"], entry["repeated"]) for entry in entries(stream)] == [("hot", 1)]


@given(st.lists(st.tuples(st.sampled_from(["info", "warn"]), st.sampled_from(["a", "b"]))))
def test_the_counts_add_up_to_what_was_logged_and_keep_its_order(messages: list[tuple[str, str]]) -> None:
    stream = new_stream()
    logger = Logger(stream, agent=True, clock=Clock())
    for level, message in messages:
        logger.log(message, level)
    logger.flush()
    expected = [(key, len(list(group)) - 1) for key, group in groupby(messages)]
    assert [((entry["level"], entry["msg"]), entry.get("repeated", 0)) for entry in entries(stream)] == expected


def test_flush_writes_nothing_twice(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.flush()
    logger.log("once")
    logger.flush()
    logger.flush()
    assert len(entries(stream)) == 1


def test_after_a_flush_the_same_message_is_a_new_entry(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.log("again")
    logger.flush()
    logger.log("again")
    logger.flush()
    assert [entry.get("repeated") for entry in entries(stream)] == [None, None]


@pytest.mark.parametrize("message", ["two\nlines", "", "tab\tand\x00nul", 'quote " and \\', "caf\udce9", "🐦"])
def test_every_message_is_one_line_of_json(message: str, stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.log(message)
    logger.flush()
    assert [entry["msg"] for entry in entries(stream)] == [message]


def test_people_read_plain_lines_at_once(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=False)
    logger.log("one")
    logger.log("one")
    assert written(stream) == b"one\none\n"
    logger.flush()
    assert written(stream) == b"one\none\n"


def test_progress_is_a_level_of_its_own_for_agents(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=Clock())
    logger.progress("half way")
    logger.flush()
    assert [(entry["level"], entry["msg"]) for entry in entries(stream)] == [("progress", "half way")]


def test_progress_for_people_overwrites_one_line_of_a_terminal(terminal: Terminal) -> None:
    Logger(terminal.stream, agent=False).progress("half way")
    assert terminal.seen() == "\r\x1b[Khalf way"


def test_progress_for_people_is_not_written_into_a_file(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    Logger(stream, agent=False).progress("half way")
    assert written(stream) == b""


def test_lines_from_many_threads_stay_whole_and_none_is_lost(stream: io.TextIOWrapper[io.BytesIO]) -> None:
    logger = Logger(stream, agent=True, clock=count(int(NOON)).__next__)
    start = threading.Barrier(8)

    def talk(name: int) -> None:
        start.wait()
        for number in range(50):
            logger.log(f"{name} {number}")
            logger.log("same")

    threads = [threading.Thread(target=talk, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logger.flush()
    found = entries(stream)
    assert sum(entry.get("repeated", 0) + 1 for entry in found if entry["msg"] == "same") == 400
    assert len({entry["msg"] for entry in found}) == 401


@given(st.floats(0, 4e9))
def test_a_time_is_utc_to_the_millisecond_and_never_in_the_future(now: float) -> None:
    stream = new_stream()
    logger = Logger(stream, agent=True, clock=lambda: now)
    logger.log("now")
    logger.flush()
    (entry,) = entries(stream)
    assert entry["ts"].endswith("Z")
    assert len(entry["ts"]) == len("2026-01-01T12:00:00.250Z")
    assert -0.000_01 <= now - datetime.fromisoformat(entry["ts"]).timestamp() < 0.001_01


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_entry_is_utf8_json_whatever_the_encoding_of_the_stream(encoding: str) -> None:
    stream = new_stream(encoding, errors="backslashreplace")  # as standard error is under LC_ALL=C
    logger = Logger(stream, agent=True, clock=Clock())
    logger.log("é ✗")
    logger.flush()
    assert json.loads(written(stream).decode("utf-8"))["msg"] == "é ✗"


@pytest.mark.parametrize("agent", [True, False])
def test_a_log_that_cannot_be_written_does_not_stop_the_command(agent: bool) -> None:  # noqa: FBT001
    raw = io.FileIO("/dev/full", "w")
    stream = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
    logger = Logger(stream, agent=agent)
    try:
        logger.log("lost")
        logger.flush()
    finally:
        raw.close()  # first, so that what is left in the buffer has nowhere to fail
        stream.close()


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;200mbold\x1b[m", "bold"),
        ("\x1b[2K\x1b[1Gline", "line"),
        ("\x1b[?25lhidden\x1b[?25h", "hidden"),
        ("\x1b[>4;2mx", "x"),
        ("\x1b[0 qcursor", "cursor"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://x.example/?a=b\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]8;;https://x.example\x07link\x1b]8;;\x07", "link"),
        ("\x1bP1$r0m\x1b\\dcs", "dcs"),
        ("\x1b_apc\x1b\\a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"),
        ("\x1b(Bcharset", "charset"),
        ("\x1b7save\x1b8restore\x1bc", "saverestore"),
        ("\x9b31mred\x9b0m", "red"),
        ("größe \x1b[1m🐦\x1b[22m", "größe 🐦"),
        ("[31m is no escape", "[31m is no escape"),
        ("two\n\x1b[32mlines\x1b[0m\n", "two\nlines\n"),
    ],
)
def test_terminal_escapes_are_removed_and_the_text_stays(text: str, bare: str) -> None:
    assert strip_ansi(text) == bare


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("\x9d8;;https://x.example\x9clink\x9d8;;\x9c", "link"),
        ("\x9d0;title\x07text", "text"),
        ("\x1b]8;;https://x.example\x9clink", "link"),
        ("\x90q#1\x9csixel", "sixel"),
        ("a\x84b\x9c", "ab"),
    ],
)
def test_escapes_that_start_with_a_c1_control_are_removed_too(text: str, bare: str) -> None:
    assert strip_ansi(text) == bare


def test_a_device_control_string_over_several_lines_is_removed() -> None:
    assert strip_ansi("\x1bP1;2\nq#\n\x1b\\after") == "after"


@given(st.text(st.sampled_from("\x1b\x9b\x9d\x9c\x07\\[](PX^_031;m K?ab\né")))
def test_no_escape_character_is_ever_left(text: str) -> None:
    assert not set(strip_ansi(text)) & set("\x1b\x9b\x9d\x9c")


@given(st.text(st.characters(exclude_categories=["Cc"])))
def test_text_without_control_characters_is_never_changed(text: str) -> None:
    assert strip_ansi(text) == text


@pytest.mark.parametrize("opening", ["\x1bP", "\x1b]", "\x1b[", "\x9b", "\x9d", "\x1b"])
def test_text_full_of_unfinished_escapes_is_read_in_one_go(opening: str) -> None:
    started = time.process_time()
    strip_ansi(opening * 20_000)
    assert time.process_time() - started < 1
