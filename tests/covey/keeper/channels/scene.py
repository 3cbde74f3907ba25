"""A real folder of channels, and what was taken from it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from covey.keeper.channels.directory import ChannelDirectory
from covey.keeper.channels.folder_watch import FolderWatch, watch_folder
from covey.keeper.channels.framing import Refused
from covey.keeper.channels.message import Message
from covey.kernel.clock import SystemClock
from covey.kernel.metrics import Metrics

LIMIT_S = 120.0
LONGEST = 200_000


class Taker:
    """Stores messages as the daemon does; raises while `failures` are left."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.refused: list[tuple[str, Refused]] = []
        self.failures = 0
        self.attempts = 0
        self.let_in = asyncio.Event()
        self.let_in.set()

    async def take(self, messages: list[Message]) -> None:
        self.attempts += 1
        await self.let_in.wait()
        if self.failures:
            self.failures -= 1
            raise OSError(28, "No space left on device")
        self.messages += messages

    def refuse(self, channel: str, refused: Refused) -> None:
        self.refused.append((channel, refused))

    async def until(self, count: int) -> None:
        """Wait until so many messages were taken; there must not be more."""
        await until(lambda: len(self.messages) >= count)
        assert len(self.messages) == count

    @property
    def contents(self) -> list[str]:
        return [message.content for message in self.messages]


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - other programs do not set events here
            await asyncio.sleep(0.005)


async def shell(script: str, folder: Path) -> None:
    """Run a script in the folder; every command of it has to succeed."""
    process = await asyncio.create_subprocess_exec("bash", "-ec", script, cwd=folder)
    async with asyncio.timeout(LIMIT_S):
        assert await process.wait() == 0


@contextlib.asynccontextmanager
async def channels_in(
    folder: Path,
    taker: Taker,
    watch: Callable[[Path, Callable[[], None]], FolderWatch | None] = watch_folder,
    on_change: Callable[[], None] = lambda: None,
) -> AsyncIterator[ChannelDirectory]:
    async with (
        asyncio.timeout(2 * LIMIT_S),
        ChannelDirectory(
            folder,
            take=lambda _, messages: taker.take(messages),
            on_change=on_change,
            clock=SystemClock(),
            metrics=Metrics(),
            longest=LONGEST,
            watch=watch,
        ) as found,
    ):
        yield found


def names(directory: ChannelDirectory) -> list[str]:
    return [channel.name for channel in directory.channels()]


def write_at_once(path: Path, data: bytes) -> None:
    """Write to a FIFO that is read, in one write."""
    writer = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    try:
        assert os.write(writer, data) == len(data)
    finally:
        os.close(writer)
