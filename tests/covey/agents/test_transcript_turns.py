"""Turns are delivered once each, however a file grows, is replaced, or the daemon is started again."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.agents.blocks import FinishedTurn
from covey.agents.signals.sources import CHUNK, LONGEST_LINE
from covey.agents.transcript_turns import Position, TranscriptTurns, follow_turns
from tests.captured import FOLDER

AGENTS = ("claude", "codex", "copilot", "gemini")


def content(agent: str) -> bytes:
    (file,) = FOLDER.glob(f"{agent}/*/turns/transcript.jsonl")
    return file.read_bytes()


def whole(agent: str, path: Path) -> list[FinishedTurn]:
    """All turns of a file that is read at once."""
    path.write_bytes(content(agent))
    source = TranscriptTurns(agent, str(path))
    return [*source.read(), *source.end(math.inf)]


def grown(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def stored(position: Position) -> Position:
    """A position as it comes back from where it was stored."""
    return msgspec.json.decode(msgspec.json.encode(position), type=Position)


@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=30)
@given(data=st.data())
def test_turns_do_not_depend_on_how_the_file_grew_or_when_reading_was_started_again(
    agent: str, data: st.DataObject
) -> None:
    written = content(agent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=8)))
    with tempfile.TemporaryDirectory() as folder:
        expected = whole(agent, Path(folder, "whole"))
        path = Path(folder, "growing")
        source = TranscriptTurns(agent, str(path))
        found: list[FinishedTurn] = []
        for start, stop in zip([0, *cuts], [*cuts, len(written)], strict=True):
            grown(path, written[start:stop])
            found += source.read()
            if data.draw(st.booleans()):
                source = TranscriptTurns(agent, str(path), position=stored(source.position))
        assert [*found, *source.end(math.inf)] == expected


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_has_the_turns_of_its_capture(agent: str, tmp_path: Path) -> None:
    prompts = [turn.prompt for turn in whole(agent, tmp_path / "file")]
    assert prompts == ["Look around", "Count to a million", "Say hello", "Carry on"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_file_that_is_replaced_is_read_anew_and_nothing_is_delivered_twice(agent: str, tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    lines = content(agent).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    source = TranscriptTurns(agent, str(path))
    found = source.read()
    other.write_bytes(b"".join(lines))
    other.replace(path)
    found += source.read()
    assert [*found, *source.end(math.inf)] == whole(agent, tmp_path / "whole")


def test_a_file_that_is_cut_off_and_written_again_longer_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = content("claude").splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:18]))
    source = TranscriptTurns("claude", str(path))
    (first,) = source.read()
    path.write_bytes(b"{}  \n" + b"".join(lines))
    assert [turn.prompt for turn in source.read()] == ["Count to a million", "Say hello", "Carry on"]
    assert source.read() == []
    path.write_bytes(b"")
    assert source.read() == []
    path.write_bytes(b"".join(lines))
    assert source.read() == []
    assert first.prompt == "Look around"


def test_an_unfinished_turn_is_delivered_whole_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = content("claude").splitlines(keepends=True)
    (middle,) = [place for place, line in enumerate(lines) if b'"I will look."' in line]
    path.write_bytes(b"".join(lines[: middle + 1]))
    before = TranscriptTurns("claude", str(path))
    assert before.read() == []
    assert before.open
    after = TranscriptTurns("claude", str(path), position=stored(before.position))
    grown(path, b"".join(lines[middle + 1 :]))
    turn = after.read()[0]
    assert [block["type"] for block in turn.blocks][:2] == ["thinking", "text"]
    assert not after.open


def test_without_a_mark_in_the_file_the_turn_ends_when_a_hook_says_so(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = content("gemini").splitlines(keepends=True)
    (second,) = [place for place, line in enumerate(lines) if line.startswith(b'{"id"') and b"Count to a" in line]
    path.write_bytes(b"".join(lines[:second]))
    source = follow_turns("gemini", str(path))
    assert not source.marks_end
    assert source.read() == []
    (turn,) = source.end(math.inf)
    assert (turn.prompt, turn.interrupted) == ("Look around", False)
    grown(path, b"".join(lines[second:]))
    assert [turn.prompt for turn in source.read()] == ["Count to a million", "Say hello"]
    assert source.open


def test_a_line_that_is_too_long_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = content("claude").splitlines(keepends=True)
    long = json.dumps({"type": "assistant", "message": "x" * (LONGEST_LINE * 2)}).encode() + b"\n"
    path.write_bytes(b"".join([*lines[:4], long, *lines[4:]]))
    source = TranscriptTurns("claude", str(path))
    found = source.read()
    while source.behind:
        found += source.read()
    assert found == whole("claude", tmp_path / "whole")


def test_a_long_line_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = content("claude").splitlines(keepends=True)
    long = json.dumps({"type": "mode", "mode": "x" * (CHUNK * 2)}).encode()
    path.write_bytes(b"".join(lines[:4]) + long)
    source = TranscriptTurns("claude", str(path))
    assert source.end(1.0) == []
    grown(path, b"\n" + b"".join(lines[4:]))
    found = source.read()
    while source.behind:
        found += source.read()
    assert found == whole("claude", tmp_path / "whole")


def test_a_missing_file_and_a_pipe_in_its_place_have_no_turns(tmp_path: Path) -> None:
    path = tmp_path / "file"
    source = TranscriptTurns("claude", str(path))
    assert source.read() == []
    os.mkfifo(path)
    assert source.read() == []
    assert source.end(1.0) == []
    path.unlink()
    assert [turn.prompt for turn in whole("claude", path)] == [turn.prompt for turn in source.read()]


def test_an_agent_without_conversations_is_not_followed() -> None:
    with pytest.raises(KeyError):
        follow_turns("cursor", "file")
