"""Requests of a kept agent, told on a channel and answered from it, with the real Claude Code."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from lab.agents import find
from lab.bench import bench
from lab.install import program_of
from lab.keeping import SETTINGS, kept_stage

CLAUDE = find("claude")
ALLOWED = f'{SETTINGS}ask_on = ["phone"]\napprove_from = ["phone"]\n'
WAITS_S = 1.0
"""For which something is seen not to happen."""

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not program_of(CLAUDE).exists(), reason="Claude Code is not installed in the lab"),
]


async def test_a_request_is_answered_from_the_channel_that_may_and_from_no_other() -> None:
    async with bench() as shared, kept_stage(shared, CLAUDE, settings=ALLOWED) as stage:
        await stage.start()
        for name in ("in.phone", "in.other", "out.phone"):
            os.mkfifo(stage.channels / name)
        phone = os.open(stage.channels / "out.phone", os.O_RDONLY | os.O_NONBLOCK)
        made = Path((await stage.status())["cwd"]) / "made"
        heard = b""

        async def asks() -> bool:
            nonlocal heard
            try:
                heard += os.read(phone, 4096)
            except BlockingIOError:
                return False
            return b"approve" in heard

        async def is_made() -> bool:
            return made.exists()

        try:
            await stage.ready()
            await stage.say("please run: touch made")
            await stage.until("a request on the channel", asks)
            found = re.search(rb"approve (\w{6})", heard)
            assert found
            answer = f"approve {found[1].decode()}"
            await stage.say(json.dumps({"channel": "phone", "content": answer}), "other")
            await stage.say(answer, "other")
            await asyncio.sleep(WAITS_S)
            assert not made.exists()
            await stage.say(answer, "phone")
            await stage.until("the command that was approved", is_made)
        finally:
            os.close(phone)
