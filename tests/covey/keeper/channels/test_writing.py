"""Messages to real FIFOs, with readers that read, sleep or are not there."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvloop

from covey.adapter import Channel
from covey.keeper.channels.writing import outgoing_channels, write_message
from murli import AgentError
from tests.covey.keeper.channels.scene import LIMIT_S, until

SHORT_S = 0.2
LOOPS = pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
Loop = Callable[[], asyncio.AbstractEventLoop]


def run(loop: Loop, body: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(body)


async def failure(folder: Path, channel: str, message: str = "m", deadline_s: float = SHORT_S) -> AgentError:
    with pytest.raises(AgentError) as caught:
        await write_message(folder, channel, message, deadline_s=deadline_s)
    return caught.value


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[int]:
    """A reader of `out.x` that has it open and does not read."""
    os.mkfifo(tmp_path / "out.x")
    reader = os.open(tmp_path / "out.x", os.O_RDONLY | os.O_NONBLOCK)
    yield reader
    os.close(reader)


def has_read(reader: int) -> bool:
    """Read a piece, if there is one."""
    try:
        return bool(os.read(reader, 1 << 16))
    except BlockingIOError:
        return False


@contextlib.asynccontextmanager
async def reader_in_shell(folder: Path, script: str) -> AsyncIterator[asyncio.StreamReader]:
    """A shell that reads `out.x` as its descriptor 3; yields what it prints."""
    os.mkfifo(folder / "out.x")
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", f"exec 3<> out.x; echo ready; {script}", cwd=folder, stdout=asyncio.subprocess.PIPE, limit=1 << 20
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            await process.stdout.readline()
            yield process.stdout
    finally:
        process.kill()
        await process.communicate()


@LOOPS
def test_a_shell_reads_messages_line_by_line(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        async with reader_in_shell(tmp_path, 'while read -r line; do echo "<$line>"; done <&3') as printed:
            await write_message(tmp_path, "x", "one")
            await write_message(tmp_path, "x", "two\nthree\n")
            await write_message(tmp_path, "x", "four")
            lines = [(await printed.readline()).decode() for _ in range(4)]
        assert lines == ["<one>\n", "<two>\n", "<three>\n", "<four>\n"]

    run(loop, body())


async def test_an_adapter_gets_each_message_whole(tmp_path: Path) -> None:
    sent = ["one line", "two\nlines", "  indented\n\n\nand more", "ä" * 50_000, "x\n" * 20_000 + "end"]
    with Channel("x", folder=tmp_path) as channel:
        received = asyncio.create_task(asyncio.to_thread(lambda: list(channel.messages(timeout=1))))
        for message in sent:
            await write_message(tmp_path, "x", message)
        async with asyncio.timeout(LIMIT_S):
            assert await received == sent


@LOOPS
def test_long_messages_of_several_writers_are_not_mixed(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        sizes = [10, 5_000, 70_000, 300_000] * 5
        sent = [f"{number} " + chr(97 + number) * size for number, size in enumerate(sizes)]
        async with reader_in_shell(tmp_path, "exec cat <&3 3>&-") as printed:
            sending = asyncio.gather(*(write_message(tmp_path, "x", one, deadline_s=LIMIT_S) for one in sent))
            lines = [(await printed.readline()).decode() for _ in sizes]
            await sending
        assert sorted(lines) == sorted(f"{one}\n" for one in sent)

    run(loop, body())


async def test_a_channel_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.phone")
    os.mkfifo(tmp_path / "out.telegram")
    (tmp_path / "out.file").write_text("")
    (tmp_path / "out.link").symlink_to(tmp_path / "out.phone")
    assert outgoing_channels(tmp_path) == ["phone", "telegram"]
    assert outgoing_channels(tmp_path / "missing") == []
    for channel in ("nowhere", "file", "link", "../out.phone", "", "a\0b"):
        error = await failure(tmp_path, channel)
        assert error.error == "channel_not_found"
        assert error.valid_values == ["phone", "telegram"]
        assert "phone, telegram" in error.message
    assert (tmp_path / "out.file").read_text() == ""


async def test_a_channel_that_nobody_reads_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.x")
    error = await failure(tmp_path, "x")
    assert (error.error, error.recoverable, error.valid_values) == ("channel_not_read", True, [])


@LOOPS
@pytest.mark.parametrize("size", [10, 3_000, 50_000])
def test_a_reader_that_does_not_read_makes_the_channel_stuck_and_gets_no_part_of_a_message(
    tmp_path: Path, silent: int, loop: Loop, size: int
) -> None:
    async def body() -> None:
        message = "m" * (size - 1)
        sent = 0

        async def send_without_end() -> None:
            nonlocal sent
            while True:
                await write_message(tmp_path, "x", message, deadline_s=SHORT_S)
                sent += 1

        with pytest.raises(AgentError) as caught:
            await send_without_end()
        assert caught.value.error == "channel_stuck"
        assert f"0 of {size} bytes" in caught.value.message
        assert sent
        data = b""
        while len(data) < sent * size:
            data += os.read(silent, 1 << 20)
        assert data == (message + "\n").encode() * sent
        await write_message(tmp_path, "x", message)  # it is read again

    run(loop, body())


@LOOPS
def test_a_reader_that_goes_away_while_we_write_is_an_error(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        os.mkfifo(tmp_path / "out.x")
        reader = os.open(tmp_path / "out.x", os.O_RDONLY | os.O_NONBLOCK)
        sending = asyncio.create_task(failure(tmp_path, "x", "m" * 20_000_000, LIMIT_S))
        async with asyncio.timeout(LIMIT_S):
            await until(partial(has_read, reader))
            os.close(reader)
            error = await sending
        assert error.error == "channel_not_read"
        assert re.search(r"after \d+ of 20000001 bytes", error.message)

    run(loop, body())


@pytest.mark.parametrize("message", ["", " \n", "a\0b", "\ud800"])
async def test_a_message_that_no_channel_can_carry_is_refused(tmp_path: Path, silent: int, message: str) -> None:
    assert (await failure(tmp_path, "x", message)).field == "message"
    with pytest.raises((BlockingIOError, AssertionError)):
        assert os.read(silent, 1)
