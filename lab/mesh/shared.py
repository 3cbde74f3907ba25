"""Shared values under `kill -9` of peers and broker: what was acknowledged is there, and all replicas are equal."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any

from lab.mesh.kills import all_up, kill_once, victims
from lab.mesh.local_api import LocalApi, RefusedCall
from lab.mesh.outcome import Outcome
from lab.mesh.stage import SETTLE_S, open_stage

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.processes import PeerVictim
    from lab.mesh.stage import MeshStage

LONGEST_LIFE_S = 1.0
PAUSE_S = 0.01
KEYS = 20
"""Of each writer."""
COUNTER = "counter"
CONFLICT = 409


class SharedWriter:
    """Sets values of its own and counts up one that all count up, over the socket of one peer."""

    def __init__(self, peer: PeerVictim, chance: random.Random) -> None:
        self.acknowledged: dict[str, int] = {}
        """By key: the last value that was acknowledged."""
        self.attempted: dict[str, int] = {}
        self.counted = self.doubtful = self.overtaken = self.writes = 0
        self._peer = peer
        self._chance = chance
        self._api = LocalApi(peer.api._path)  # noqa: SLF001 - a connection of its own to the same socket

    async def run(self) -> None:
        """Write until cancelled."""
        number = 0
        try:
            while True:
                number += 1
                key = f"{self._peer.name}/{self._chance.randrange(KEYS)}"
                self.attempted[key] = number
                if await self._set({"key": key, "value": number}) is not None:
                    self.acknowledged[key] = number
                    self.writes += 1
                await self._count()
                await asyncio.sleep(PAUSE_S)
        finally:
            self._api.close()

    async def _count(self) -> None:
        """Add one to the value that all add to, if nobody has been quicker."""
        try:
            found = await self._api.call("GET", f"/v1/state/get?key={COUNTER}")
            before, revision = found["value"], found["revision"]
        except RefusedCall as error:
            if error.status != 404:  # noqa: PLR2004 - not found
                return
            before = revision = 0
        except (OSError, TimeoutError):
            return
        if await self._set({"key": COUNTER, "value": before + 1, "expect": revision}, counts=True) is not None:
            self.counted += 1

    async def _set(self, document: dict[str, Any], *, counts: bool = False) -> Any:
        try:
            return await self._api.call("POST", "/v1/state/set", document)
        except RefusedCall as error:
            if counts and error.status == CONFLICT:
                self.overtaken += 1
            elif counts:
                self.doubtful += 1
        except (OSError, TimeoutError):
            self.doubtful += counts
        except asyncio.CancelledError:  # the end of the run: what was sent may count
            self.doubtful += counts
            raise
        return None


async def shared(amount: int, seed: int, progress: Progress) -> Outcome:
    """Kill so many times in all, let one more peer join, and compare what all have with what was acknowledged."""
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    outcome = Outcome(f"shared values, {amount} kills, seed {seed}")
    async with open_stage(members=["b", "c"]) as stage:
        writers = [SharedWriter(peer, chance) for peer in stage.peers.values()]
        began = time.monotonic()
        writing = [asyncio.create_task(writer.run()) for writer in writers]
        try:
            for number in range(1, amount + 1):
                await asyncio.sleep(chance.uniform(0.0, LONGEST_LIFE_S))
                await kill_once(stage, chance.choice(victims(stage)), chance)
                progress(f"killed, {sum(writer.writes for writer in writers)} values set", number, amount)
            await all_up(stage)
        finally:
            for task in writing:
                task.cancel()
            await asyncio.gather(*writing, return_exceptions=True)
        await stage.join("late")
        digests = await settled_digests(stage)
        values = await _values(stage.peers["late"])
        lost = [
            key
            for writer in writers
            for key, least in writer.acknowledged.items()
            if not least <= values.get(key, -1) <= writer.attempted[key]
        ]
        counted, doubtful = sum(one.counted for one in writers), sum(one.doubtful for one in writers)
        total = values.get(COUNTER, 0)
        outcome.figures = {
            "values set": sum(writer.writes for writer in writers),
            "counted up, by compare-and-set": counted,
            "of which others were quicker": sum(one.overtaken for one in writers),
            "not known whether counted": doubtful,
            "the counter at the end": total,
            "acknowledged values lost": len(lost),
            "different replicas": len(digests),
            "seconds": round(time.monotonic() - began),
        }
        outcome.require(f"values that were acknowledged are lost: {lost[:5]}", holds=not lost)
        outcome.require(f"replicas differ: {digests}", holds=len(digests) == 1)
        outcome.require(
            f"the counter is {total} after {counted} to {counted + doubtful} increments",
            holds=counted <= total <= counted + doubtful,
        )
    return outcome


async def settled_digests(stage: MeshStage) -> set[str]:
    """Return the digests of all replicas, when they are one, or after a long time."""
    deadline = time.monotonic() + SETTLE_S
    while True:
        digests = {(await peer.api.call("GET", "/v1/services"))["digest"] for peer in stage.peers.values()}
        if len(digests) == 1 or time.monotonic() > deadline:
            return digests
        await asyncio.sleep(0.2)


async def _values(peer: PeerVictim) -> dict[str, Any]:
    """Return all values that a peer has."""
    found: dict[str, Any] = {}
    after = ""
    while True:
        page = await peer.api.call("GET", f"/v1/state/list?limit=1000&after={after}")
        found |= {item["key"]: item["value"] for item in page["items"]}
        if page["next"] is None:
            return found
        after = page["next"]
