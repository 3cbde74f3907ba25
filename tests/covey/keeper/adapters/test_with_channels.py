"""Adapters together with the daemon's side of the channels."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from covey.keeper.channels.directory import ChannelDirectory
from covey.keeper.channels.message import Message
from covey.keeper.channels.writing import write_message
from covey.kernel.clock import SystemClock
from covey.kernel.metrics import Metrics
from tests.covey.keeper.adapters.conftest import LIMIT_S, Session, Start, Web
from tests.covey.keeper.adapters.test_webhook import ENV, ISSUE, address, github, post

SHORT = """
import sys
from covey.adapter import Channel
with Channel(sys.argv[2], folder=sys.argv[1]) as channel:
    channel.send("short")
    channel.send("long" * 50_000)
    channel.send("last")
"""


@asynccontextmanager
async def reading(folder: Path, taken: list[Message]) -> AsyncIterator[ChannelDirectory]:
    async def take(_channel: str, messages: list[Message]) -> None:
        taken.extend(messages)

    async with ChannelDirectory(
        folder, take=take, on_change=lambda: None, clock=SystemClock(), metrics=Metrics(), longest=4 << 20
    ) as directory:
        yield directory


async def eventually(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110 - messages, files and requests have no event
            await asyncio.sleep(0.01)


async def test_programs_that_end_right_after_they_sent_lose_nothing(session: Session) -> None:
    taken: list[Message] = []
    names = [f"c{number % 4}" for number in range(8)]  # two at a time share a channel
    async with reading(session.folder, taken) as directory:
        processes = [
            subprocess.Popen([sys.executable, "-c", SHORT.replace("sys.argv[1])", "sys.argv[1], receives=False)"),
                              str(session.folder), name])
            for name in names
        ]  # fmt: skip
        await asyncio.gather(*(asyncio.to_thread(process.wait) for process in processes))
        await eventually(lambda: len(taken) == 24)
        assert sorted((message.channel, message.content[:5], len(message.content)) for message in taken) == sorted(
            (name, text[:5], len(text)) for name in names for text in ("short", "long" * 50_000, "last")
        )
        await eventually(lambda: [channel.name for channel in directory.channels()] == ["default"])
        assert directory.channels()[0].messages_refused == 0


async def test_a_daemon_that_starts_again_gets_what_was_sent_meanwhile(session: Session) -> None:
    taken: list[Message] = []
    script = SHORT.replace('channel.send("short")', 'print(channel.send("short"), flush=True)')
    async with reading(session.folder, taken):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(session.folder), "x"], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
    async with reading(session.folder, taken):
        await asyncio.to_thread(process.wait)
        await eventually(lambda: len(taken) == 3)
    process.stdout.close()
    assert [len(message.content) for message in taken] == [5, 200_000, 4]


async def test_programs_find_the_longest_message_in_the_folder(session: Session) -> None:
    async with reading(session.folder, []):
        assert (session.folder / "message_bytes").read_text() == f"{4 << 20}\n"


async def test_a_webhook_wakes_the_agent_and_its_answer_arrives(session: Session, start: Start, web: Web) -> None:
    taken: list[Message] = []
    async with reading(session.folder, taken):
        start("webhook", env=ENV, secret="HOOK_SECRET", reply_url=f"http://127.0.0.1:{web.port}/answer")
        url = await asyncio.to_thread(address, session)
        body = json.dumps(ISSUE).encode()
        assert (await asyncio.to_thread(post, url, body, github(body)))[0] == 202
        await eventually(lambda: taken)
        assert taken[0].content.startswith("GitHub acme/shop: issues opened")
        await write_message(session.folder, "webhook", "I looked:\nit is mended")
        await write_message(session.folder, "webhook", "and more")
        await eventually(lambda: len(web.posted) == 2)
        assert web.posted[0] == ("/answer", {"message": "I looked:\nit is mended"})
