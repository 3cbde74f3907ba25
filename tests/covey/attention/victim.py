"""A daemon with the attention queue that asks and settles until it is killed: `python victim.py <home> <seed>`."""

from __future__ import annotations

import asyncio
import random
import sys
from itertools import count

from covey.attention.operations import ATTENTION
from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home

KEYS = 5


async def live(home: Home, chance: random.Random) -> None:
    async with Daemon.running(home.node, subsystems=(ATTENTION,)) as daemon:
        print("ready", flush=True)
        for number in count():
            key = f"key:{chance.randrange(KEYS)}"
            if chance.random() < 0.4:
                await daemon.events.append(ATTENTION_SETTLED, subject=key, data={"why": "seen"}, source="victim")
            else:
                title = f"title {chance.randrange(3)}"
                await daemon.events.append(
                    ATTENTION_ASKED, subject=key, data={"title": title, "detail": str(number % 2)}, source="victim"
                )


if __name__ == "__main__":
    asyncio.run(live(Home(sys.argv[1]), random.Random(int(sys.argv[2]))))
