"""`kill -9` of sender, broker and recipient at random moments, under steady traffic in both directions."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

from lab.mesh.outcome import Outcome
from lab.mesh.stage import open_stage
from lab.mesh.traffic import Traffic

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.processes import Victim
    from lab.mesh.stage import MeshStage

LONGEST_LIFE_S, LONGEST_DOWN_S = 2.0, 0.5
CAUGHT_COMING_BACK = 0.3
"""The part of the kills that do not wait until the victim of the one before is back."""
PAUSE_S = 0.015


async def kills(amount: int, seed: int, progress: Progress) -> Outcome:
    """Kill so many times in all, and count what became of the messages."""
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    outcome = Outcome(f"{amount} kills, seed {seed}")
    async with open_stage(members=["b"]) as stage:
        await stage.subscribe("a", "b")
        traffic = Traffic(stage, chance)
        for writer in ("a", "b"):
            traffic.direct(writer, "b" if writer == "a" else "a")
            traffic.topic(writer)
        killed: dict[str, int] = {}
        began = time.monotonic()
        async with traffic.flowing(PAUSE_S):
            for number in range(1, amount + 1):
                victim = chance.choice(victims(stage))
                await asyncio.sleep(chance.uniform(0.0, LONGEST_LIFE_S))
                await kill_once(stage, victim, chance)
                killed[victim.name] = killed.get(victim.name, 0) + 1
                progress(f"killed {victim.name}, {traffic.accepted} messages", number, amount)
            await all_up(stage)
        await stage.settle(traffic)
        outcome.figures = {
            "kills of the broker": killed.get("broker", 0),
            "kills of peer a (the authority)": killed.get("a", 0),
            "kills of peer b": killed.get("b", 0),
            "calls, repeated ones too": sum(writer.calls for writer in traffic.writers),
            "seconds": round(time.monotonic() - began),
        }
        outcome.add(await stage.judge(traffic))
        refused = {reason: count for writer in traffic.writers for reason, count in writer.refused.items()}
        outcome.require(f"calls were refused: {refused}", holds=not refused)
    return outcome


def victims(stage: MeshStage) -> list[Victim]:
    """Return what can be killed: the broker and the peers."""
    assert stage.broker is not None
    return [stage.broker, *stage.peers.values()]


async def kill_once(stage: MeshStage, victim: Victim, chance: random.Random) -> None:
    """Kill a process and start it again; mostly wait until it is back."""
    victim.spawn()
    victim.kill()
    await asyncio.sleep(chance.uniform(0.0, LONGEST_DOWN_S))
    victim.spawn()
    if chance.random() > CAUGHT_COMING_BACK:
        await all_up(stage)


async def all_up(stage: MeshStage) -> None:
    """Wait until all run and are connected."""
    assert stage.broker is not None
    await stage.broker.start()
    for peer in stage.peers.values():
        await peer.start()
