"""Many claimants of many tasks over several peers, which are killed meanwhile: each task is done by exactly one."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from lab.mesh.kills import all_up, kill_once, victims
from lab.mesh.local_api import LocalApi, RefusedCall
from lab.mesh.outcome import Outcome
from lab.mesh.shared import settled_digests
from lab.mesh.stage import SETTLE_S, open_stage

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.processes import PeerVictim
    from lab.mesh.stage import MeshStage

CLAIMANTS, PEERS, IN_FLIGHT = 50, 5, 20
TTL = "10m"
NOTHING_S = 0.2
CONFLICT = 409


class Claimant:
    """One of many who take tasks and complete them, over the socket of a peer."""

    def __init__(self, peer: PeerVictim, name: str) -> None:
        self.name = name
        self.won: list[tuple[str, int]] = []
        """Tasks that the peer has said are its own, and which claim of the task that was."""
        self.done: list[str] = []
        self.late = 0
        self._api = LocalApi(peer.api._path)  # noqa: SLF001 - a connection of its own to the same socket

    async def run(self, open_tasks: set[str]) -> None:
        """Take and complete tasks until none is open."""
        try:
            while open_tasks:
                task = await self._take()
                if task is None:
                    await asyncio.sleep(NOTHING_S)
                    continue
                self.won.append((task["id"], task["claims"]))
                if await self._complete(task["id"]):
                    self.done.append(task["id"])
                    open_tasks.discard(task["id"])
        finally:
            self._api.close()

    async def _take(self) -> dict[str, Any] | None:
        try:
            taken = await self._api.call("POST", "/v1/task/take", {"as_agent": self.name, "ttl": TTL})
        except (OSError, TimeoutError, RefusedCall):
            return await self._claimed_before()
        found: dict[str, Any] | None = taken["task"]
        return found or await self._claimed_before()

    async def _claimed_before(self) -> dict[str, Any] | None:
        """Return a task that was claimed although its answer was lost, as an agent finds it after a restart."""
        try:
            listed = await self._api.call("GET", "/v1/task/list?status=claimed&mine=true&limit=1000")
        except (OSError, TimeoutError, RefusedCall):
            return None
        return next((one for one in listed["items"] if one["claimed_by"]["agent"] == self.name), None)

    async def _complete(self, id_: str) -> bool:
        while True:
            try:
                await self._api.call(
                    "POST", "/v1/task/complete", {"id": id_, "result": self.name, "as_agent": self.name}
                )
            except RefusedCall as error:
                if error.status != CONFLICT:
                    await asyncio.sleep(NOTHING_S)
                    continue
                shown = await self._shown(id_)  # by us, in a call whose answer was lost?
                self.late += shown != self.name
                return shown == self.name
            except (OSError, TimeoutError):
                await asyncio.sleep(NOTHING_S)
            else:
                return True

    async def _shown(self, id_: str) -> str | None:
        while True:
            try:
                found = await self._api.call("GET", f"/v1/task/show?id={id_}")
            except (OSError, TimeoutError, RefusedCall):
                await asyncio.sleep(NOTHING_S)
            else:
                result: str | None = found["result"]
                return result


async def claims(tasks: int, kills: int, seed: int, progress: Progress, at: int = PEERS) -> Outcome:
    """Let 50 claimants at some peers do so many tasks, kill so many times meanwhile, and count who did which."""
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    outcome = Outcome(f"{CLAIMANTS} claimants, {tasks} tasks, {kills} kills, seed {seed}")
    async with open_stage(members=[f"p{number}" for number in range(1, at)]) as stage:
        peers = list(stage.peers.values())
        made = await _created(peers[0], tasks)
        await _all_know(stage, tasks)
        claimants = [Claimant(peers[number % at], f"agent-{number}") for number in range(CLAIMANTS)]
        open_tasks, began = set(made), time.monotonic()
        async with asyncio.TaskGroup() as group:
            working = [group.create_task(one.run(open_tasks)) for one in claimants]
            for number in range(1, kills + 1):
                await asyncio.sleep(chance.uniform(0.0, 1.0))
                await kill_once(stage, chance.choice(victims(stage)), chance)
                progress(f"killed, {len(made) - len(open_tasks)} tasks done", number, kills)
            await all_up(stage)
            while open_tasks:
                progress("working", tasks - len(open_tasks), tasks)
                await asyncio.sleep(NOTHING_S)
            await asyncio.wait(working)
        took = time.monotonic() - began
        won = Counter(claim for one in claimants for claim in set(one.won))
        done = Counter(id_ for one in claimants for id_ in one.done)
        digests = await settled_digests(stage)
        outcome.figures = {
            "tasks completed": len(done),
            "claims that were won": sum(won.values()),
            "claims that two have won": sum(1 for count in won.values() if count > 1),
            "tasks that two have completed": sum(1 for count in done.values() if count > 1),
            "completed too late, and refused": sum(one.late for one in claimants),
            "different replicas": len(digests),
            "tasks per second": tasks / took,
            "seconds": round(took, 1),
        }
        outcome.require("a claim was won twice", holds=all(count == 1 for count in won.values()))
        outcome.require("a task was completed twice", holds=all(count == 1 for count in done.values()))
        outcome.require("a task was not completed", holds=set(done) == set(made))
        outcome.require(f"replicas differ: {digests}", holds=len(digests) == 1)
    return outcome


async def _created(peer: PeerVictim, count: int) -> list[str]:
    """Create tasks over some connections at once, and return their ids."""
    numbers, made = iter(range(count)), list[str]()

    async def create() -> None:
        api = LocalApi(peer.api._path)  # noqa: SLF001 - as above
        try:
            for number in numbers:
                made.append((await api.call("POST", "/v1/task/create", {"title": f"task {number}"}))["id"])
        finally:
            api.close()

    await asyncio.gather(*(create() for _ in range(IN_FLIGHT)))
    return made


async def _all_know(stage: MeshStage, count: int) -> None:
    async with asyncio.timeout(SETTLE_S):
        for peer in stage.peers.values():
            while (await peer.api.call("GET", "/v1/services"))["documents"] < count:
                await asyncio.sleep(0.05)
