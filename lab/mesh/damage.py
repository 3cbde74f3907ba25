"""Files of a peer that were overwritten while it was down."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from lab.mesh.outcome import Outcome
from lab.mesh.stage import open_stage
from lab.mesh.traffic import Traffic

if TYPE_CHECKING:
    from pathlib import Path

    from lab.mesh.outcome import Progress

MESSAGES = 200
PAGE = 4096
WAYS = ("all", "head", "middle", "truncated")


async def damaged(seed: int, progress: Progress) -> Outcome:
    """Overwrite outbox.db and inbox.db in several ways, with what is durable already and what is not."""
    chance = random.Random(seed)  # noqa: S311 - no secrets
    outcome = Outcome(f"outbox.db and inbox.db overwritten while the peer was down, seed {seed}")
    cases = [(file, way) for file in ("outbox.db", "inbox.db") for way in WAYS]
    async with open_stage(members=["b"]) as stage:
        await stage.subscribe("a", "b")
        traffic = Traffic(stage, chance)
        writers = [traffic.direct("a", "b"), traffic.direct("b", "a"), traffic.topic("a"), traffic.topic("b")]
        said = 0
        for number, (file, way) in enumerate(cases, 1):
            for writer in writers:
                for _ in range(MESSAGES // len(writers)):
                    await writer.send()
            await stage.settle(traffic)
            victim = stage.peers["b"]
            await victim.end()
            _overwrite(victim.folder / file, way, chance)
            await victim.start()
            problems = (await victim.status())["problems"]
            said += any("damaged" in problem for problem in problems)
            progress(f"{file}: {way}", number, len(cases))
        for writer in writers:
            for _ in range(MESSAGES):
                await writer.send()
        await stage.settle(traffic)
        outcome.figures = {"files damaged": len(cases), "times that the status says so": said}
        outcome.add(await stage.judge(traffic, events=False))
        outcome.require("a damaged file was not told", holds=said == len(cases))
    return outcome


def _overwrite(path: Path, way: str, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for log in ("-wal", "-shm"):
        path.with_name(path.name + log).unlink(missing_ok=True)
    if way == "all":
        data[:] = chance.randbytes(len(data))
    elif way == "head":
        data[:PAGE] = chance.randbytes(PAGE)
    elif way == "middle":
        for page in range(1, len(data) // PAGE - 1):
            data[page * PAGE : (page + 1) * PAGE] = chance.randbytes(PAGE)
    else:
        del data[len(data) // 2 :]
    path.write_bytes(data)
