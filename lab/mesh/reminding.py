"""Reminders while peers and broker are killed: each comes to everybody it is for, once, with one event."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from lab.mesh.kills import all_up, kill_once, victims
from lab.mesh.outcome import Outcome
from lab.mesh.stage import SETTLE_S, open_stage

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.stage import MeshStage

PER_KILL = 4
"""Reminders for each kill: they are due all the time while it is killed."""
SECONDS_A_KILL = 1.2
FIRST_S = 5.0


async def reminders(kills: int, seed: int, progress: Progress) -> Outcome:
    """Make reminders to one and to all, kill so many times, start everything anew, and count what has come."""
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    count = PER_KILL * kills
    outcome = Outcome(f"{count} reminders, {kills} kills, seed {seed}")
    async with open_stage(members=["b", "c"]) as stage:
        wanted: Counter[tuple[str, str]] = Counter()
        for number in range(count):
            to = chance.choice(["@b", "@c", "*"])
            due = FIRST_S + number * kills * SECONDS_A_KILL / count
            text = f"reminder {number}"
            await stage.authority.api.call(
                "POST", "/v1/scheduling/remind", {"message": text, "in": f"{due:.2f}s", "to": to}
            )
            names = stage.peers if to == "*" else [to[1:]]
            wanted.update((name, text) for name in names)
        async with asyncio.timeout(SETTLE_S):
            for peer in stage.peers.values():
                while (await peer.api.call("GET", "/v1/services"))["documents"] < count:
                    await asyncio.sleep(0.05)
        began = time.monotonic()
        for number in range(1, kills + 1):
            await asyncio.sleep(chance.uniform(0.0, 1.0))
            await kill_once(stage, chance.choice(victims(stage)), chance)
            progress("killed", number, kills)
        for victim in victims(stage):
            victim.kill()
        await all_up(stage)
        came, told = await _settled(stage, wanted, began + FIRST_S + kills * SECONDS_A_KILL)
        outcome.figures = {
            "reminders to come": sum(wanted.values()),
            "came": sum(came.values()),
            "lost": sum((wanted - came).values()),
            "doubled": sum((came - wanted).values()),
            "events lost or doubled": sum((wanted - told).values()) + sum((told - wanted).values()),
            "seconds": round(time.monotonic() - began),
        }
        outcome.require(f"lost: {list(wanted - came)[:5]}", holds=not wanted - came)
        outcome.require(f"doubled: {list(came - wanted)[:5]}", holds=not came - wanted)
        outcome.require("an event was lost or doubled", holds=told == wanted)
    return outcome


async def _settled(
    stage: MeshStage, wanted: Counter[tuple[str, str]], due: float
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return what has come and what was told, when it is all, or long after all was due."""
    while True:
        came: Counter[tuple[str, str]] = Counter()
        told: Counter[tuple[str, str]] = Counter()
        for name, peer in stage.peers.items():
            came.update((name, text) for (text,) in await asyncio.to_thread(stage.rows, name, "inbox.db", _MESSAGES))
            journal = str(Path(peer.seat.database).relative_to(peer.folder))
            told.update((name, text) for (text,) in await asyncio.to_thread(stage.rows, name, journal, _EVENTS))
        if (time.monotonic() > due and sum(told.values()) >= sum(wanted.values())) or time.monotonic() > due + SETTLE_S:
            return came, told
        await asyncio.sleep(0.2)


_MESSAGES = "SELECT substr(text || char(10), 1, instr(text || char(10), char(10)) - 1) FROM inbox_message"
_EVENTS = "SELECT json_extract(data, '$.message') FROM event WHERE kind = 'reminder_fired'"
