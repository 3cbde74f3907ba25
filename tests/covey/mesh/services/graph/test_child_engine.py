"""The engine in its process: what it does is whole or not done, it reads no files, and two come to the same graph."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from covey.kernel.clock import SystemClock
from covey.mesh.services.graph.child_engine import ChildEngine
from covey.mesh.services.graph.engine import ENGINE, EngineCrashedError, Queued, StatementError
from lab.mesh.graph import cypher
from tests.covey.mesh.peers.mesh_of_peers import until

SECRET = "the secret of this file"


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[ChildEngine]:
    engine = ChildEngine(path, SystemClock())
    try:
        yield engine
    finally:
        await engine.rest()


def entry(sequence: int, statement: str, **params: Any) -> Queued:
    return Queued(
        sequence=sequence,
        digest=b"digest",
        id=f"id-{sequence}",
        author="anna",
        at=float(sequence),
        engine=ENGINE,
        statement=statement,
        params=params,
        now_ms=1_767_225_600_000 + sequence,
    )


async def apply(engine: ChildEngine, *entries: Queued) -> list[str]:
    return [one.outcome for one in await engine.apply(entries, answer_for=[], limit=10)]


async def test_two_engines_come_to_the_same_graph_also_where_time_and_chance_are_asked_for(tmp_path: Path) -> None:
    log = [
        entry(1, "CREATE (:A {x: rand(), t: timestamp(), u: randomUUID()})-[:R {at: datetime()}]->(:B)"),
        entry(2, "MATCH (a:A) SET a.d = date(), a.l = localtime(), a.m = date({month: 3})"),
        entry(3, "CREATE (:Broken {x: nothing})"),
        entry(4, "UNWIND range(1, 300000) AS x CREATE (:Many {x: x})"),
        entry(5, "MATCH (a:A) WITH a, date('now') AS now SET a.now = now, a.o = localdatetime({day: 2})"),
        entry(6, "CREATE INDEX FOR (n:A) ON (n.x)"),
        msgspec.structs.replace(entry(7, "CREATE (:Twice)"), id="id-6"),
    ]  # fmt: skip
    async with opened(tmp_path / "one.db") as one, opened(tmp_path / "two.db") as two:
        outcomes = await apply(one, *log)
        assert outcomes == ["applied", "applied", "failed", "failed", "applied", "applied", "repeated"]
        for number in range(len(log)):  # one by one, with rolled back trials and a new process in between
            with pytest.raises(StatementError):
                await two.try_out(entry(99, "CREATE (:Zeta {zeta: 1}) SET nothing"), deadline_s=5)
            await two.try_out(entry(98, "CREATE (:Eta {eta: 1})"), deadline_s=5)
            await apply(two, log[number])
            if number == 3:
                await two.rest()
        facts = await two.facts()
        assert facts == await one.facts()
        assert (facts.nodes, facts.relationships, facts.failed) == (2, 1, 2)
        assert (await two.position()).sequence == 7


async def test_what_is_interrupted_or_killed_leaves_nothing_and_is_done_once(tmp_path: Path) -> None:
    async with opened(tmp_path / "graph.db") as engine:
        with pytest.raises(StatementError, match=r"too long|more than"):
            await engine.try_out(entry(1, "UNWIND range(1, 1000000) AS x CREATE (:Many {x: x})"), deadline_s=0.5)
        assert (await engine.facts()).nodes == 0
        log = [entry(number, "CREATE (:N {number: $n})", n=number) for number in range(1, 401)]
        for _ in range(6):
            applying = asyncio.create_task(engine.apply(log, answer_for=[], limit=1))
            await until(lambda: engine.pid is not None, "the process runs")
            await asyncio.sleep(random.uniform(0, 0.1))  # a random moment of the work
            if engine.pid is not None:
                os.kill(engine.pid, signal.SIGKILL)
            await asyncio.wait({applying})
            failed = applying.exception()
            assert failed is None or isinstance(failed, EngineCrashedError)
            assert failed is None or not failed.by_statement
            assert (await engine.facts()).nodes in {0, 400}
        await apply(engine, *log)
        found = await engine.read("MATCH (n:N) RETURN count(DISTINCT n.number) AS c", {}, limit=1, deadline_s=5)
        assert found.rows == [{"c": 400}]
        assert (await engine.facts()).nodes == 400


async def test_a_process_that_was_ended_while_it_did_nothing_is_started_again_unnoticed(tmp_path: Path) -> None:
    async with opened(tmp_path / "graph.db") as engine:
        await apply(engine, entry(1, "CREATE (:A)"))
        for _ in range(2):
            assert engine.pid is not None
            os.kill(engine.pid, signal.SIGKILL)
            assert (await engine.facts()).nodes == 1
            assert await apply(engine, entry(1, "CREATE (:A)")) == []


async def test_the_process_reads_no_file_even_if_it_is_asked_to(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(SECRET)
    async with opened(tmp_path / "graph.db") as engine:
        for text in (f"LOAD CSV FROM '{secret}' AS line RETURN line", "LOAD CSV FROM $file AS line RETURN line"):
            with pytest.raises(StatementError) as refused:
                await engine.read(text, {"file": str(secret)}, limit=1, deadline_s=5)
            assert SECRET not in str(refused.value)
        answer = await engine.apply(
            [entry(1, f"LOAD CSV FROM '{secret}' AS line CREATE (:S {{line: line}})")], answer_for=["id-1"], limit=1
        )
        assert answer[0].outcome == "failed"


async def test_statements_by_chance_neither_end_the_peer_nor_read_a_file() -> None:
    outcome = await cypher(400, 5, lambda *_: None)
    assert outcome.broken == []
    assert outcome.figures["executed"] > 40
    assert outcome.figures["files read"] == 0
