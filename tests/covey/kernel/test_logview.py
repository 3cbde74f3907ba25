"""The log view: aligned for people, harmless for their terminal, and followed through rotation and truncation."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.logs.log_file import LogFile
from covey.kernel.logs.view import follow, last_lines, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def in_nepal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A time zone that nobody's machine is set to, so that local time is seen to be local."""
    monkeypatch.setenv("TZ", "NPT-5:45")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


# --- rendering ---


def test_a_line_is_shown_with_local_time_level_message_and_values() -> None:
    line = json.dumps(
        {
            "ts": "2026-01-31T08:20:11.123Z",
            "level": "info",
            "msg": "ready",
            "logger": "covey.daemon",
            "pid": 7,
            "why": "two words",
            "at": "a=b",
            "pane": "%14",
            "no": None,
        }
    )
    assert render(line) == '01-31 14:05:11  info      ready  pid=7 why="two words" at="a=b" pane=%14 no=null'


def test_levels_and_messages_are_aligned() -> None:
    shown = [
        render(json.dumps({"ts": "2026-01-31T08:20:11.123Z", "level": level, "msg": "x"}))
        for level in ("debug", "info", "warning", "error", "critical")
    ]
    assert {text.index("x") for text in shown} == {len("01-31 14:05:11  critical  ")}


def test_a_traceback_stands_below_its_line() -> None:
    shown = render(
        json.dumps(
            {
                "ts": "2026-01-31T08:20:11.123Z",
                "level": "error",
                "msg": "failed",
                "error": "Traceback\n  File x\nValueError: y",
            }
        )
    )
    assert shown.splitlines() == [
        "01-31 14:05:11  error     failed",
        "                Traceback",
        "                  File x",
        "                ValueError: y",
    ]


def test_colour_marks_what_matters_and_only_on_request() -> None:
    line = json.dumps({"ts": "2026-01-31T08:20:11.123Z", "level": "warning", "msg": "x", "k": 1})
    assert "\x1b[33mwarning" in render(line, colour=True)
    assert "\x1b" not in render(line)
    assert "\x1b[31merror" in render(line.replace("warning", "error"), colour=True)


def test_nothing_in_a_line_reaches_the_terminal_as_a_command() -> None:
    evil = "\x1b]0;owned\x07 \x9b31m \u202e \r\n"
    shown = render(json.dumps({"ts": evil, "level": evil, "msg": evil, evil: evil, "list": [evil], "error": evil}))
    assert shown.replace("\n", "").isprintable()
    assert render(evil + "not json").isprintable()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "not json",
        "[1, 2]",
        "null",
        '{"level": "info"}',
        '{"ts": "2026',
        "[" * 10_000,
        "{}\n",
        '"text"',
        "\ufffd\ufffd",
    ],
)
def test_a_text_that_is_not_a_log_line_is_shown_as_it_is(line: str) -> None:
    assert render(line) == line.rstrip("\n")


@pytest.mark.parametrize("ts", ["", "yesterday", 17, None, ["x"], "99999-01-01", "0001-01-01T00:00:00Z", "2026-01-31"])
def test_a_time_that_makes_no_sense_does_not_hide_the_line(ts: object) -> None:
    shown = render(json.dumps({"ts": ts, "level": "info", "msg": "still here"}))
    assert shown.index("info") == len("01-31 14:05:11  ")
    assert "still here" in shown


@given(
    st.text()
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.dictionaries(st.sampled_from(["ts", "level", "msg", "error", "x"]), inner),
    ).map(json.dumps),
    st.booleans(),
)
def test_any_line_can_be_shown(line: str, colour: bool) -> None:  # noqa: FBT001 - hypothesis passes it by name
    shown = render(line, colour=colour)
    for code in ("\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"):
        shown = shown.replace(code, "") if colour else shown
    assert shown.replace("\n", "").replace("\t", "").isprintable()


# --- following ---


class Scene:
    """A log to which something happens each time the reader has nothing left to read."""

    def __init__(self, path: Path, *events: Callable[[], object]) -> None:
        self.path = path
        self._events = list(events)

    def wait(self) -> bool:
        if self._events:
            self._events.pop(0)()
            return True
        return False

    def seen(self, last: int = 10) -> list[str]:
        return list(follow(str(self.path), self.wait, last=last))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "daemon.log"


def add(path: Path, text: str) -> Callable[[], object]:
    def act() -> None:
        with path.open("a") as file:
            file.write(text)

    return act


def rotate(path: Path, *then: str) -> Callable[[], object]:
    """What the writer does: move the files up, begin a new one."""

    def act() -> None:
        for number in (3, 2):
            if path.with_name(f"{path.name}.{number - 1}").exists():
                path.with_name(f"{path.name}.{number - 1}").rename(path.with_name(f"{path.name}.{number}"))
        path.rename(path.with_name(f"{path.name}.1"))
        for text in then:
            add(path, text)()

    return act


def test_new_lines_come_as_they_are_written_and_only_when_they_are_whole(path: Path) -> None:
    path.write_text("a\nb\n")
    assert Scene(path, add(path, "c\nd"), add(path, "D"), add(path, "\ne\n")).seen() == ["a", "b", "c", "dD", "e"]


@pytest.mark.parametrize(
    ("last", "seen"), [(0, []), (1, ["d"]), (2, ["c", "d"]), (4, ["a", "b", "c", "d"]), (99, ["a", "b", "c", "d"])]
)
def test_the_last_lines_come_first(path: Path, last: int, seen: list[str]) -> None:
    path.write_text("a\nb\nc\nd\n")
    assert last_lines(str(path), last) == seen


def test_the_last_lines_are_found_in_a_large_file_and_in_the_files_before(path: Path) -> None:
    path.write_text("".join(f"{number} {'x' * 500}\n" for number in range(1000)))
    assert [line.split()[0] for line in last_lines(str(path), 300)] == [str(number) for number in range(700, 1000)]
    rotate(path, "new\n")()
    rotate(path, "newer\n")()
    assert last_lines(str(path), 3)[0].startswith("999 ")
    assert [line.split()[0] for line in last_lines(str(path), 4)] == ["998", "999", "new", "newer"]
    assert len(last_lines(str(path), 5000)) == 1002


def test_a_rotation_loses_nothing_and_repeats_nothing(path: Path) -> None:
    path.write_text("a\n")
    written_and_rotated = [add(path, "b\n"), lambda: (add(path, "c\n")(), rotate(path, "d\n")())]
    assert Scene(path, *written_and_rotated, add(path, "e\n")).seen() == ["a", "b", "c", "d", "e"]


def test_several_rotations_between_two_looks_lose_nothing(path: Path) -> None:
    path.with_name("daemon.log.1").write_text("old\n")
    path.write_text("a\n")

    def much() -> None:
        for text in ("b\n", "c\n"):
            rotate(path, text)()
        rotate(path, "d\n")()

    assert Scene(path, much, add(path, "e\n")).seen(1) == ["a", "b", "c", "d", "e"]


def test_more_rotations_than_files_are_kept_lose_only_what_is_gone(path: Path) -> None:
    path.write_text("a\n")

    def much() -> None:
        for number in range(6):
            rotate(path, f"{number}\n")()

    assert Scene(path, much).seen() == ["a", "2", "3", "4", "5"]


def test_the_moment_between_moving_and_beginning_is_waited_out(path: Path) -> None:
    path.write_text("a\n")
    assert Scene(path, rotate(path), add(path, "b\n")).seen() == ["a", "b"]


def test_a_deleted_file_that_comes_back_is_read_from_its_start_and_old_ones_are_not_read_again(path: Path) -> None:
    path.with_name("daemon.log.1").write_text("old\n")
    path.write_text("a\n")
    assert Scene(path, path.unlink, add(path, "b\n"), add(path, "c\n")).seen(1) == ["a", "b", "c"]


def test_a_truncated_file_is_read_from_its_start(path: Path) -> None:
    path.write_text("a long first line\nhalf")
    assert Scene(path, lambda: os.truncate(path, 0), add(path, "b\n")).seen() == ["a long first line", "b"]


def test_a_file_that_does_not_exist_yet_is_waited_for_and_read_from_its_start(path: Path) -> None:
    assert Scene(path, lambda: None, add(path, "a\nb\n")).seen(1) == ["a", "b"]
    assert last_lines(str(path.parent / "no" / "such"), 5) == []


def test_garbage_does_not_stop_the_reader(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00\n" + b"x" * 3_000_000)
    seen = Scene(path, add(path, "y\nz\n")).seen()
    assert seen[0] == "\ufffd\ufffd\0"
    assert sum(map(len, seen[1:-1])) == 3_000_001
    assert seen[-1] == "z"


def test_the_writer_and_the_reader_agree(path: Path) -> None:
    file = LogFile(str(path), max_bytes=100, max_files=8)
    wanted = [f"{number:05d} {'x' * (number % 50)}" for number in range(300)]
    events = [
        lambda start=start: file.write([f"{text}\n".encode() for text in wanted[start : start + 5]], 0)
        for start in range(0, 300, 5)
    ]
    assert Scene(path, *events).seen() == wanted
    file.close()
