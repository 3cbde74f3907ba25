"""A large file under kill -9: of the peer that shares it, of the broker, and of the peer that fetches it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.mesh.local_api import RefusedCall
from lab.mesh.outcome import Outcome
from lab.mesh.stage import open_stage

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.processes import PeerVictim
    from lab.mesh.stage import MeshStage

PIECE = 1 << 22
LIMIT_S = 1800.0
KILLS = 4
"""Of the peer, in each direction; the broker is killed half as often."""
LOOK_S = 0.05
MB = 1 << 20


async def files(megabytes: int, seed: int, progress: Progress) -> Outcome:
    """Share and fetch a file of this size while what carries it is killed, then delete it."""
    outcome = Outcome("files")
    chance = random.Random(seed)  # noqa: S311 - repeatable
    async with open_stage(members=("bob",)) as stage:
        bob = stage.peers["bob"]
        path = stage.folder / "large.bin"
        wanted = await asyncio.to_thread(_make, path, megabytes * MB, seed)
        carl = await stage.join("carl")  # it joins when the file exists, and reads it all the same
        watch = _Watch(stage, chance, progress)
        before = _stored(stage)

        shared = await watch.carried(bob, "POST", "/v1/file/share", {"path": str(path)}, "shared")
        outcome.require(f"the file was shared: {shared['reason']}", holds=shared["state"] == "done")
        out = stage.folder / "out"
        out.mkdir()
        target = f"/v1/file/get?id={shared['id']}&out={out}/got.bin"
        got = await watch.carried(carl, "GET", target, None, "fetched")
        outcome.require(f"the file was fetched: {got['reason']}", holds=got["state"] == "done")
        there = out / "got.bin"
        same = there.exists() and await asyncio.to_thread(_hash, there) == wanted
        outcome.require("what was fetched is what was shared", holds=same)
        outcome.require("nothing else is left in the folder", holds=[one.name for one in out.iterdir()] == ["got.bin"])
        full = _stored(stage)
        chunks = await _freed(stage, bob, shared["id"], before + (full - before) // 20)
        outcome.require("the broker's disk is free again", holds=chunks)
        outcome.figures |= {
            "megabytes": megabytes,
            "kills of peers": watch.peers,
            "kills of the broker": watch.brokers,
            "seconds to share": watch.took["shared"],
            "seconds to fetch": watch.took["fetched"],
            "times half a file had its name": watch.halves,
            "most memory of a peer (MB)": watch.memory_mb,
            "broker's disk before, full, after (MB)": [one // MB for one in (before, full, _stored(stage))],
        }
        outcome.require("there was never half a file", holds=watch.halves == 0)
    return outcome


class _Watch:
    """Asks how far a transfer is, and kills meanwhile."""

    def __init__(self, stage: MeshStage, chance: random.Random, progress: Progress) -> None:
        self.peers = self.brokers = self.halves = 0
        self.memory_mb = 0
        self.took: dict[str, float] = {}
        self._stage = stage
        self._chance = chance
        self._progress = progress

    async def carried(self, peer: PeerVictim, method: str, target: str, document: Any, what: str) -> dict[str, Any]:
        """Return a transfer when it has ended, after kills of the peer and of the broker at random places."""
        began = time.monotonic()
        found: dict[str, Any] = await peer.api.call(method, target, document)
        transfer, size = found["transfer"], found["size"]
        kills = [(self._chance.random(), "peer") for _ in range(KILLS)]
        kills += [(self._chance.random(), "broker") for _ in range(KILLS // 2)]
        kills.sort()
        async with asyncio.timeout(LIMIT_S):
            while found["state"] not in ("done", "failed"):
                self._see(peer, found)
                if kills and found["done_bytes"] >= kills[0][0] * size:
                    await self._kill(peer, kills.pop(0)[1])
                await asyncio.sleep(LOOK_S)
                with contextlib.suppress(OSError, RefusedCall, TimeoutError):
                    told = await peer.api.call("GET", f"/v1/file/status?transfer={transfer}")
                    (found,) = told["items"]
                self._progress(f"{what}: {found['state']}", found["done_bytes"], size)
        self.took[what] = time.monotonic() - began
        return found

    def _see(self, peer: PeerVictim, found: dict[str, Any]) -> None:
        """Note the memory of the peer, and whether there is something under the final name already."""
        with contextlib.suppress(OSError, IndexError):
            text = Path(f"/proc/{peer.pid}/status").read_text(encoding="utf-8")
            self.memory_mb = max(self.memory_mb, int(text.partition("VmHWM:")[2].split()[0]) // 1024)
        place = Path(found["path"])
        if found["direction"] == "down" and place.exists() and place.stat().st_size != found["size"]:
            self.halves += 1

    async def _kill(self, peer: PeerVictim, which: str) -> None:
        if which == "peer":
            self.peers += 1
            peer.kill()
            await peer.start(connected=False)
            return
        assert self._stage.broker is not None
        self.brokers += 1
        self._stage.broker.kill()
        await self._stage.broker.start()


async def _freed(stage: MeshStage, owner: PeerVictim, id_: str, most: int) -> bool:
    """Delete the file, and return whether the broker's disk was free soon after."""
    for peer in stage.peers.values():
        await peer.ready()
    await owner.api.call("POST", "/v1/file/delete", {"id": id_})
    for _ in range(1200):
        if _stored(stage) <= most:
            return True
        await asyncio.sleep(LOOK_S)
    return False


def _stored(stage: MeshStage) -> int:
    """Return the bytes of the broker's files with messages."""
    assert stage.broker is not None
    found = 0
    for one in stage.broker.files.directory.rglob("*.blk"):
        with contextlib.suppress(FileNotFoundError):
            found += one.stat().st_size
    return found


def _make(path: Path, size: int, seed: int) -> str:
    """Write a file of random bytes, and return its hash."""
    digest, chance = hashlib.sha256(), random.Random(seed)  # noqa: S311 - repeatable
    with path.open("wb") as file:
        while size > 0:
            piece = chance.randbytes(min(PIECE, size))
            digest.update(piece)
            file.write(piece)
            size -= len(piece)
    return digest.hexdigest()


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
