"""Real FIFOs, written to by real programs, read on both event loops."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from covey.keeper.channels.fifo import QUIET_S, FifoReader, NotAChannel, open_fifo
from covey.kernel.clock import SystemClock
from tests.covey.keeper.channels.scene import LIMIT_S, LONGEST, Taker, shell, until, write_at_once

WRITERS, EACH = 8, 200
LOOPS = pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
Loop = Callable[[], asyncio.AbstractEventLoop]


def run(loop: Loop, body: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(body)


def ready_to_read(reader: FifoReader) -> bool:
    """Whether an event loop that waits for the FIFO is woken up now."""
    states = select.poll()
    states.register(reader._descriptor, select.POLLIN)
    return bool(states.poll(0))


@contextlib.asynccontextmanager
async def reading(path: Path, taker: Taker, channel: str = "x", quiet_s: float = QUIET_S) -> AsyncIterator[FifoReader]:
    if not path.exists():
        os.mkfifo(path, 0o600)
    reader = FifoReader(
        path,
        channel,
        take=taker.take,
        refused=taker.refuse,
        clock=SystemClock(),
        longest=LONGEST,
        quiet_s=quiet_s,
    )
    task = asyncio.create_task(reader.run())
    try:
        yield reader
        reader.stop()
        async with asyncio.timeout(LIMIT_S):
            await task
    finally:
        task.cancel()
        await asyncio.wait({task})
        reader.close()  # not before: libuv aborts the process if a descriptor is closed that it waits for


@LOOPS
def test_shells_write_lines_objects_and_texts_of_several_lines(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        taker = Taker()
        async with reading(tmp_path / "in.x", taker):
            for number, (script, expected) in enumerate(
                [
                    ('echo "Check my homework" > in.x', "Check my homework"),
                    ("""echo '{"channel":"t","content":"an object","ts":1740000000,"meta":{}}' > in.x""", "an object"),
                    ("printf 'no line break' > in.x", "no line break"),
                    (r"printf '\0line one\nline two\0' > in.x", "line one\nline two"),
                    (r"env printf 'line 1\nline 2\0' > in.x", "line 1\nline 2"),  # bash's own writes line by line
                    (r"{ printf '\0'; echo slow; sleep 0.7; echo work; printf '\0'; } > in.x", "slow\nwork"),
                    ("printf abc | cat - > in.x", "abc"),
                    (r"{ printf 'slow \303'; sleep 1.2; printf '\274ber\n'; } > in.x", "slow über"),
                ]
            ):
                await shell(script, tmp_path)
                await taker.until(number + 1)
                assert taker.contents[number:] == [expected]
            assert [(one.claimed, one.at) for one in taker.messages[1:2]] == [("t", 1_740_000_000.0)]
            assert not taker.refused

    run(loop, body())


@LOOPS
def test_a_text_without_a_line_break_arrives_while_another_writer_has_the_fifo_open(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        taker = Taker()
        async with reading(tmp_path / "in.x", taker, quiet_s=0.05):
            other = os.open(tmp_path / "in.x", os.O_WRONLY | os.O_NONBLOCK)
            try:
                write_at_once(tmp_path / "in.x", b"unfinished")
                await until(lambda: taker.messages)
                assert taker.contents == ["unfinished"]
            finally:
                os.close(other)

    run(loop, body())


@LOOPS
def test_messages_of_many_writers_at_once_are_neither_lost_nor_doubled_nor_mixed(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        taker = Taker()
        padding = "p" * 700
        async with reading(tmp_path / "in.x", taker) as reader:
            plain = f"for i in $(seq {EACH}); do echo writer $W message $i {padding} > in.x; done"
            held = f"for i in $(seq {EACH}); do echo writer $W message $i {padding}; done > in.x"
            await asyncio.gather(*(shell(f"W={one}; {plain if one % 2 else held}", tmp_path) for one in range(WRITERS)))
            await taker.until(WRITERS * EACH)
            assert reader.messages_taken == WRITERS * EACH
        assert not taker.refused
        expected = {f"writer {one} message {i} {padding}" for one in range(WRITERS) for i in range(1, EACH + 1)}
        assert Counter(taker.contents) == Counter(dict.fromkeys(expected, 1))
        for one in range(WRITERS):
            mine = [text for text in taker.contents if text.startswith(f"writer {one} ")]
            assert mine == [f"writer {one} message {i} {padding}" for i in range(1, EACH + 1)]

    run(loop, body())


async def test_a_long_message_arrives_whole_and_a_longer_one_is_refused_once(tmp_path: Path) -> None:
    taker = Taker()
    async with reading(tmp_path / "in.x", taker):
        (tmp_path / "long").write_text(json.dumps({"content": "l" * (LONGEST - 100)}) + "\n")
        (tmp_path / "longer").write_text("m" * 1_000_000 + "\n")
        await shell("cat long > in.x; cat longer > in.x; echo after > in.x", tmp_path)
        await taker.until(2)
    assert taker.contents == ["l" * (LONGEST - 100), "after"]
    assert [refused.why for _, refused in taker.refused] == [f"it is longer than {LONGEST} bytes"]


async def test_nothing_more_is_read_before_the_messages_are_stored(tmp_path: Path) -> None:
    taker = Taker()
    taker.let_in.clear()
    async with reading(tmp_path / "in.x", taker):
        write_at_once(tmp_path / "in.x", b"first\n")
        await until(lambda: taker.attempts)
        writer = os.open(tmp_path / "in.x", os.O_WRONLY | os.O_NONBLOCK)
        try:
            written = 0
            with contextlib.suppress(BlockingIOError):
                while True:
                    written += os.write(writer, b"more\n" * 800)
                    await asyncio.sleep(0)
            assert written < 2_000_000  # the FIFO is full, and stays so
            assert taker.attempts == 1
            taker.let_in.set()
            await until(lambda: len(taker.messages) == 1 + written // 5)
        finally:
            os.close(writer)


async def test_messages_that_cannot_be_stored_are_stored_later_in_order(tmp_path: Path) -> None:
    taker = Taker()
    taker.failures = 2
    async with reading(tmp_path / "in.x", taker):
        await shell("for i in 1 2 3 4 5; do echo $i > in.x; done", tmp_path)
        await taker.until(5)
    assert taker.contents == ["1", "2", "3", "4", "5"]
    assert not taker.failures


async def test_what_was_written_before_the_end_is_stored_at_the_end(tmp_path: Path) -> None:
    taker = Taker()
    async with reading(tmp_path / "in.x", taker):
        write_at_once(tmp_path / "in.x", b"one\n" * 10_000 + b"unfinished")
    assert taker.contents == ["one"] * 10_000 + ["unfinished"]


@LOOPS
def test_a_writer_that_never_ends_leaves_room_for_the_others(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        endless, others = Taker(), Taker()
        async with reading(tmp_path / "in.e", endless, "e"), reading(tmp_path / "in.o", others, "o"):
            process = await asyncio.create_subprocess_shell("exec yes endless > in.e", cwd=tmp_path)
            try:
                await until(lambda: endless.messages)
                for number in range(20):
                    write_at_once(tmp_path / "in.o", b"my turn\n")
                    await others.until(number + 1)
                    endless.messages.clear()
            finally:
                process.kill()
                await process.wait()

    run(loop, body())


@LOOPS
def test_a_fifo_whose_writers_have_gone_does_not_wake_the_event_loop(tmp_path: Path, loop: Loop) -> None:
    async def body() -> None:
        taker = Taker()
        async with reading(tmp_path / "in.x", taker) as reader:
            write_at_once(tmp_path / "in.x", b"a\n")
            await until(lambda: taker.messages)
            await until(lambda: not ready_to_read(reader))
            assert taker.contents == ["a"]

    run(loop, body())


def test_what_is_not_a_fifo_of_ours_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name, reason in {"file": "not a FIFO", "link": "symbolic link", "folder": "not a FIFO"}.items():
        with pytest.raises(NotAChannel, match=reason):
            open_fifo(tmp_path / name, os.O_RDONLY)
    with pytest.raises(FileNotFoundError):
        open_fifo(tmp_path / "missing", os.O_RDONLY)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a FIFO away")
def test_a_fifo_of_another_user_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    os.chown(tmp_path / "fifo", 12_345, -1)
    with pytest.raises(NotAChannel, match="12345"):
        open_fifo(tmp_path / "fifo", os.O_RDONLY)
