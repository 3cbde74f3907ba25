"""The SDK for adapters, on real FIFOs and with real processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.adapter import Channel, ChannelClosed, MessageTooLong, find_folder
from tests.covey.keeper.adapters.conftest import LIMIT_S, Session, until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    folder = tmp_path / "session"
    folder.mkdir(mode=0o700)
    found = Session(folder)
    yield found
    found.close()


def in_background(channel: Channel, *texts: str) -> threading.Thread:
    def send() -> None:
        for text in texts:
            channel.send(text)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def test_a_channel_is_two_fifos_for_its_owner_that_go_when_it_ends(session: Session) -> None:
    with Channel("x", folder=session.folder):
        for name in ("in.x", "out.x"):
            assert (session.folder / name).stat().st_mode == stat.S_IFIFO | 0o600
    assert list(session.folder.iterdir()) == []
    with Channel("x", folder=session.folder, receives=False) as channel:
        assert [path.name for path in session.folder.iterdir()] == ["in.x"]
        with pytest.raises(ValueError, match="receives=False"):
            next(channel.messages())
    with Channel("x", folder=session.folder, sends=False) as channel:
        assert [path.name for path in session.folder.iterdir()] == ["out.x"]
        with pytest.raises(ValueError, match="sends=False"):
            channel.send("text")


def test_a_message_that_the_session_would_refuse_is_not_sent(session: Session) -> None:
    (session.folder / "message_bytes").write_text("100\n")
    with Channel("x", folder=session.folder) as channel:
        session.read("x")
        with pytest.raises(MessageTooLong, match="the session takes 100"):
            channel.send("x" * 100)
        channel.send("short")
        assert session.message("x")["content"] == "short"
        assert session.silent("x")


def test_a_message_is_one_line_of_json_whatever_is_in_it(session: Session) -> None:
    with Channel("x", folder=session.folder) as channel:
        session.read("x")
        channel.send('two\nlines, "quoted", \0 and ü', {"id": 7}, at=12.5)
        channel.send("a lone \udc80")
        first = session.message("x")
        assert first == {"channel": "x", "content": 'two\nlines, "quoted", \0 and ü', "ts": 12.5, "meta": {"id": 7}}
        assert session.message("x")["content"] == "a lone ?"
        with pytest.raises(ValueError, match="needs a text"):
            channel.send(" \n")


def test_messages_of_any_length_from_several_processes_are_whole(session: Session) -> None:
    script = """
import sys
from covey.adapter import Channel
channel = Channel("x", folder=sys.argv[1])
for number in range(20):
    channel.send(sys.argv[2] * (1 if number % 2 else 30_000))
"""
    with Channel("x", folder=session.folder, receives=False):
        session.read("x")
        writers = [subprocess.Popen([sys.executable, "-c", script, str(session.folder), letter]) for letter in "abcd"]
        got = [session.message("x")["content"] for _ in range(80)]
        assert [writer.wait(LIMIT_S) for writer in writers] == [0] * 4
    assert sorted((text[0], len(text)) for text in got) == sorted(
        (letter, length) for letter in "abcd" for length in [1, 30_000] * 10
    )
    assert all(len(set(text)) == 1 for text in got)


def test_send_waits_for_the_daemon_and_says_what_to_do_if_it_does_not_come(session: Session) -> None:
    with Channel("x", folder=session.folder) as channel:
        with pytest.raises(ChannelClosed, match="covey up"):
            channel.send("nobody", wait_s=0.1)
        sending = in_background(channel, "waits")
        assert session.message("x")["content"] == "waits"
        sending.join()


def test_what_a_killed_daemon_has_not_read_is_read_by_the_next(session: Session) -> None:
    with Channel("x", folder=session.folder) as channel:
        session.read("x")
        channel.send("one")
        session.stop_reading("x")
        sending = in_background(channel, "two")
        assert [session.message("x")["content"] for _ in range(2)] == ["one", "two"]
        sending.join()


def test_a_long_message_that_a_killed_daemon_read_in_part_is_sent_again_whole(session: Session) -> None:
    with Channel("x", folder=session.folder) as channel:
        session.read("x")
        (reader,) = session.readers["x"]
        sending = in_background(channel, "z" * 1_000_000)
        until(lambda: not session.silent("x"))
        os.read(reader, 100)
        session.stop_reading("x")
        assert session.message("x")["content"] == "z" * 1_000_000
        sending.join()


def test_a_long_message_that_is_not_read_in_time_leaves_nothing_behind(session: Session) -> None:
    with Channel("x", folder=session.folder) as channel:
        session.read("x")
        with pytest.raises(ChannelClosed):
            channel.send("z" * 1_000_000, wait_s=0.3)
        session.stop_reading("x")
        sending = in_background(channel, "next")
        assert session.message("x")["content"] == "next"
        sending.join()


def test_a_channel_comes_back_when_the_folder_was_made_anew(session: Session) -> None:
    with Channel("x", folder=session.folder) as channel:
        for path in session.folder.iterdir():
            path.unlink()
        session.folder.rmdir()
        sending = in_background(channel, "still here")
        session.folder.mkdir(mode=0o700)
        assert session.message("x")["content"] == "still here"
        sending.join()


def test_messages_are_lines_or_stand_between_nuls(session: Session) -> None:
    with Channel("x", folder=session.folder) as channel:
        writer = os.open(session.folder / "out.x", os.O_WRONLY | os.O_NONBLOCK)
        os.write(writer, b"one\n\0two\nlines\0three\n\n\0four\n\0\nfi")
        assert list(channel.messages(timeout=0)) == ["one", "two\nlines", "three", "four\n"]
        os.write(writer, "ve ü\n".encode())
        os.close(writer)
        assert list(channel.messages(timeout=0)) == ["five ü"]
        assert list(channel.messages(timeout=0.05)) == []


def test_messages_of_several_lines_over_pipe_buf_are_put_together(session: Session) -> None:
    text = "line\n" * 100_000
    with Channel("x", folder=session.folder) as channel:

        def write() -> None:
            with (session.folder / "out.x").open("wb") as fifo:
                fifo.write(b"\0" + text.encode() + b"\0")

        writing = threading.Thread(target=write)
        writing.start()
        assert next(channel.messages()) == text
        writing.join()


def test_closing_ends_what_waits_in_other_threads(session: Session) -> None:
    ended: list[Any] = []

    def send() -> None:
        try:
            channel.send("nobody reads this")
        except ChannelClosed as error:
            ended.append(str(error))

    with Channel("x", folder=session.folder) as channel:
        thread = threading.Thread(target=send)
        thread.start()
        channel.close()
        thread.join(LIMIT_S)
        assert "closed" in ended[0]
        assert list(channel.messages()) == []


def test_what_is_in_the_way_is_not_touched(session: Session) -> None:
    (session.folder / "in.x").write_text("a file")
    with pytest.raises(ChannelClosed, match="not a FIFO of yours"):
        Channel("x", folder=session.folder).__enter__()
    assert (session.folder / "in.x").read_text() == "a file"
    with pytest.raises(ChannelClosed, match="keep list"):
        Channel("x", folder=session.folder / "missing").__enter__()
    with pytest.raises(ValueError, match="cannot be the name"):
        Channel("../x", folder=session.folder)


def test_a_fifo_that_was_left_behind_is_taken_over_and_one_in_use_is_not(session: Session) -> None:
    os.mkfifo(session.folder / "out.x")
    with Channel("x", folder=session.folder):
        with pytest.raises(ChannelClosed, match="another program reads"), Channel("x", folder=session.folder):
            pass
        assert (session.folder / "out.x").exists()
    assert not (session.folder / "out.x").exists()


def test_sigterm_removes_the_fifos(session: Session) -> None:
    script = (
        'import sys; from covey.adapter import Channel\nwith Channel("x", folder=sys.argv[1]) as c: list(c.messages())'
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(session.folder)])
    until((session.folder / "out.x").exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_S) == 128 + signal.SIGTERM
    assert list(session.folder.iterdir()) == []


def test_a_message_that_was_sent_just_before_the_end_can_still_be_read(session: Session) -> None:
    got: list[str] = []
    with Channel("x", folder=session.folder) as channel:
        session.read("x")
        channel.send("last words")
        reading = threading.Thread(target=lambda: got.append(session.message("x")["content"]))
        reading.start()
    assert not (session.folder / "in.x").exists()
    reading.join()
    assert got == ["last words"]


@pytest.mark.parametrize("form", ["{path}", '{{"result": {{"path": "{path}"}}}}'])
def test_the_folder_is_found_by_the_environment_or_by_asking_covey(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    command = tmp_path / "bin" / "covey"
    command.parent.mkdir()
    answer = form.format(path=session.folder)
    command.write_text(f"#!/bin/sh\n[ \"$1 $2 $3\" = 'keep path work' ] && echo '{answer}' && exit\n"
                       "echo '{\"message\": \"there is no kept session\"}' >&2; exit 3\n")  # fmt: skip
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    monkeypatch.delenv("COVEY_RUNTIME_DIR", raising=False)
    assert find_folder("work") == session.folder
    with pytest.raises(ChannelClosed, match="there is no kept session"):
        find_folder()
    monkeypatch.setenv("COVEY_RUNTIME_DIR", "/run/somewhere")
    assert find_folder() == Path("/run/somewhere")
    assert find_folder("work") == session.folder


def test_the_sdk_needs_nothing_but_the_standard_library() -> None:
    script = "import json, sys, covey.adapter; print(json.dumps(sorted(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    ours = {name for name in json.loads(printed) if name.partition(".")[0] == "covey"}
    assert ours == {"covey", "covey.adapter"}
    assert not {"msgspec", "murli", "mcp"} & set(json.loads(printed))


def test_the_example_in_shell_is_a_channel(session: Session) -> None:
    script = ROOT / "examples" / "adapters" / "echo.sh"
    process = subprocess.Popen([script], env={**os.environ, "COVEY_RUNTIME_DIR": str(session.folder)})
    try:
        session.say("echo", "hello  \\n world")
        reader = os.open(session.folder / "in.echo", os.O_RDONLY)
        assert os.read(reader, 1000) == b"echo: hello  \\n world\n"
        os.close(reader)
        ended = None
        until = time.monotonic() + LIMIT_S
        while ended is None and time.monotonic() < until:
            process.send_signal(signal.SIGTERM)  # a shell that is just about to read notices the next one
            with contextlib.suppress(subprocess.TimeoutExpired):
                ended = process.wait(0.2)
        assert ended == 143
    finally:
        process.kill()
        process.wait()
    assert list(session.folder.iterdir()) == []
