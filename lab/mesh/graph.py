"""The graph of a mesh: statements by chance thrown at its engine, and writes of several peers under kill -9."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.kernel.clock import SystemClock
from covey.kernel.processes.process import parent_of
from covey.mesh.services.graph.child_engine import MODULE, ChildEngine
from covey.mesh.services.graph.engine import ENGINE, EngineCrashedError, EngineError, Queued
from covey.mesh.services.graph.statement import is_read
from lab.mesh.cypher import Statements
from lab.mesh.local_api import LocalApi, RefusedCall
from lab.mesh.outcome import Outcome
from lab.mesh.stage import open_stage
from murli import AgentError

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.processes import PeerVictim

SECRET = "the-secret-of-this-file"  # noqa: S105 - it is to be found if it is read
SHOW_EVERY = 500
LIMIT_S = 3600.0
READS = 300
FAN_OUT = 16
PAUSES_S = (1.0, 6.0)
"""Between two kills: a process needs a moment to start, and something has to be done in between."""
CALL_S = 180.0
UNCHECKED_SHARE = 0.01
DEADLINE_S = 0.3
ANEW_EVERY = 1000
"""Statements on one graph: they would take ever longer on one that grows."""
SEEDS = [
    "CREATE (:A {x: 1, name: 'a'})-[:R {w: 1}]->(:B {x: 2})",
    "CREATE (:Person {name: 'p'})",
    "CREATE (:Task {x: 3})",
]


async def cypher(count: int, seed: int, progress: Progress) -> Outcome:
    """Execute so many statements made by chance, as a peer would: reads are read, the others are tried out and applied.

    One in a hundred goes to the engine although its words are refused: the process itself must not read files either.
    """
    outcome = Outcome("cypher")
    chance = random.Random(seed)  # noqa: S311 - repeatable
    with tempfile.TemporaryDirectory(prefix="cv-") as folder:
        secret = Path(folder) / "secret.csv"
        secret.write_text(f"{SECRET}\n")
        thrower = _Thrower(ChildEngine(Path(folder) / "graph.db", SystemClock()), Statements(chance, str(secret)))
        for number in range(count):
            if number % ANEW_EVERY == 0:
                await thrower.begin()
            await thrower.throw(str(secret), unchecked=chance.random() < UNCHECKED_SHARE)
            if number % SHOW_EVERY == 0:
                progress("statements", number, count)
        facts = await thrower.engine.facts()
        bare, ours = await _latencies(thrower.engine)
        await thrower.engine.rest()
    outcome.figures = {
        **thrower.counts,
        "nodes at the end": facts.nodes,
        "read of a node, bare graphqlite, p50 (us)": bare,
        "read of a node, in its process, p50 (us)": ours,
    }
    outcome.require("no statement reads a file", holds=thrower.counts["files read"] == 0)
    outcome.require("every other failure is an answer", holds=thrower.counts["faults"] == 0)
    return outcome


class _Thrower:
    """Throws statements at an engine, and counts what becomes of them."""

    def __init__(self, engine: ChildEngine, statements: Statements) -> None:
        self.engine = engine
        self.counts = dict.fromkeys(
            ("statements", "refused by their words", "executed", "refused by the engine", "engine ended", "faults",
             "files read"), 0)  # fmt: skip
        self._statements = statements
        self._sequence = 0

    async def begin(self) -> None:
        """Begin a graph with something to match."""
        await self.engine.start_anew()
        await self.engine.apply([self._entry(text, {}) for text in SEEDS], answer_for=[], limit=1)

    async def throw(self, secret: str, *, unchecked: bool) -> None:
        """Execute one statement."""
        text = self._statements.make()
        self.counts["statements"] += 1
        said = ""
        try:
            said = await self._executed(text, {"p": 7, "file": secret}, unchecked=unchecked)
            self.counts["executed"] += 1
        except AgentError:
            self.counts["refused by their words"] += 1
        except EngineCrashedError:
            self.counts["engine ended"] += 1
        except EngineError as error:
            said = str(error)
            self.counts["refused by the engine" if type(error).__name__ != "EngineFaultError" else "faults"] += 1
        self.counts["files read"] += SECRET in said

    async def _executed(self, text: str, params: dict[str, Any], *, unchecked: bool) -> str:
        if unchecked or is_read(text):
            return repr(await self.engine.read(text, params, limit=100, deadline_s=DEADLINE_S))
        entry = self._entry(text, {**params, "__now": "2026-01-01T00:00:00Z"})
        await self.engine.try_out(entry, deadline_s=DEADLINE_S)
        return repr(await self.engine.apply([entry], answer_for=[entry.id], limit=100))

    def _entry(self, text: str, params: dict[str, Any]) -> Queued:
        self._sequence += 1
        return Queued(
            sequence=self._sequence,
            digest=b"",
            id=f"entry-{self._sequence}",
            author="lab",
            at=1.0,
            engine=ENGINE,
            statement=text,
            params=params,
            now_ms=1_800_000_000_000,
        )


async def _latencies(engine: ChildEngine) -> tuple[float, float]:
    """Return the p50 of one read on bare graphqlite in this process, and on the engine, in turn; microseconds."""
    import apsw  # noqa: PLC0415 - only here: it is not to be imported by a peer
    import graphqlite  # type: ignore[import-untyped] # noqa: PLC0415 - as above

    connection = apsw.Connection(str(engine.path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.enable_load_extension(enable=True)
    connection.load_extension(graphqlite.loadable_path())
    text = "MATCH (n:Task) RETURN n LIMIT 1"
    bare, ours = [], []
    for _ in range(READS):
        began = time.perf_counter()
        connection.execute("SELECT cypher(?, '{}')", (text,)).fetchall()
        bare.append(time.perf_counter() - began)
        began = time.perf_counter()
        await engine.read(text, {}, limit=1, deadline_s=5)
        ours.append(time.perf_counter() - began)
    connection.close()
    return statistics.median(bare) * 1e6, statistics.median(ours) * 1e6


async def graph(writes: int, kills: int, seed: int, progress: Progress) -> Outcome:
    """Let two peers write so many statements in all while the engine of one is killed; then a third one joins."""
    outcome = Outcome("graph")
    chance = random.Random(seed)  # noqa: S311 - repeatable
    async with open_stage(members=("anna", "bob")) as stage:
        peers = [stage.peers["anna"], stage.peers["bob"]]
        began = time.monotonic()
        killing = asyncio.create_task(_kill(peers[1], kills, chance))
        done = [0]
        await asyncio.gather(
            *(_write(peer, list(range(index, writes, 2 * FAN_OUT)), done, writes, progress)
              for index, peer in ((2 * one + side, peers[side]) for one in range(FAN_OUT) for side in (0, 1)))
        )  # fmt: skip
        took = time.monotonic() - began
        killing.cancel()
        killed = 0
        with contextlib.suppress(asyncio.CancelledError):
            killed = await killing
        peers[0].kill()
        await peers[0].start()
        began = time.monotonic()
        stage.peers["a"].api.close()  # it was idle, and the peer may have closed it
        late = await stage.join("carl")
        found = [await _status(peer) for peer in (*peers, late)]
        outcome.figures = {
            "writes": writes,
            "writes a second": writes / took,
            "kill -9 of an engine": killed,
            "seconds until a late peer has all": time.monotonic() - began,
            "nodes": [one["nodes"] for one in found],
            "entries": [one["entries"] for one in found],
        }
        outcome.require("all graphs are equal", holds=len({one["digest"] for one in found}) == 1)
        counted = await _count(late)
        outcome.require(f"every write is there once: {counted} of {writes}", holds=counted == writes)
        outcome.require("no entry has failed", holds=all(not one["failed"] and not one["not_applied"] for one in found))
    return outcome


async def _write(peer: PeerVictim, numbers: list[int], done: list[int], total: int, progress: Progress) -> None:
    api = LocalApi(Path(peer.seat.socket))
    for number in numbers:
        document = {"cypher": "CREATE (:N {number: $number, by: $by})", "params": {"number": number, "by": peer.name}}
        while True:  # only what was certainly not written is written again
            try:
                await api.call("POST", "/v1/graph/query", document, timeout_s=CALL_S)
                break
            except RefusedCall:
                await asyncio.sleep(0.05)
        done[0] += 1
        if done[0] % SHOW_EVERY == 0:
            progress("writes", done[0], total)
    api.close()


async def _kill(peer: PeerVictim, kills: int, chance: random.Random) -> int:
    killed = 0
    try:
        while killed < kills:
            await asyncio.sleep(chance.uniform(*PAUSES_S))
            for pid in _engines(peer.pid):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    except asyncio.CancelledError:
        return killed
    return killed


def _engines(parent: int) -> list[int]:
    found = []
    for name in [one.name for one in Path("/proc").iterdir()]:
        if name.isdigit() and parent_of(int(name)) == parent:
            with contextlib.suppress(OSError):
                if MODULE.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                    found.append(int(name))
    return found


async def _status(peer: PeerVictim) -> dict[str, Any]:
    api = LocalApi(Path(peer.seat.socket))
    async with asyncio.timeout(LIMIT_S):
        while True:
            found: dict[str, Any] = await api.call("GET", "/v1/graph/status")
            if found["caught_up"]:
                return found


async def _count(peer: PeerVictim) -> int:
    document = {"cypher": "MATCH (n:N) RETURN count(DISTINCT n.number) AS different, count(n) AS nodes"}
    rows = (await LocalApi(Path(peer.seat.socket)).call("POST", "/v1/graph/query", document))["rows"]
    return int(rows[0]["different"]) if rows[0]["different"] == rows[0]["nodes"] else -int(rows[0]["nodes"])
