"""The graph: every peer comes to the same one from the log, and no statement harms a peer or reads a file."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
from typing import Any

import msgspec
import pytest

from covey.mesh.crypto.envelope import new_message_id
from covey.mesh.services.graph import log_reader
from covey.mesh.services.graph.engine import ENGINE
from covey.mesh.services.graph.entry import Entry, entry_subject, seal_entry
from covey.mesh.services.graph.graph import Graph
from murli import EXIT_CONFLICT, EXIT_PERMISSION, EXIT_USER_ERROR
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, MeshOfPeers, a_mesh, refusal, until


async def query(peer: MemberPeer, cypher: str, **params: Any) -> list[dict[str, Any]]:
    answer = await peer.call("mesh.graph.query", cypher=cypher, params=params)
    rows: list[dict[str, Any]] = answer["rows"]
    return rows


def graph_of(peer: MemberPeer) -> Graph:
    found = peer.peer.services._services["graph"]
    assert isinstance(found, Graph)
    return found


async def equal(mesh: MeshOfPeers) -> None:
    """Wait until all graphs are the same, and as far as each other."""

    async def same() -> bool:
        found = [await one.call("mesh.graph.status") for one in mesh.peers.values()]
        return len({(one["sequence"], one["digest"]) for one in found}) == 1

    await until(same, "all graphs are equal")


async def raw(peer: MemberPeer, statement: str, *, engine: str = ENGINE, **params: Any) -> str:
    """Store an entry of a member as it is, as a peer would that has not tried it out, and return its id."""
    epoch, session = peer.peer.directory.epoch, peer.peer.link.session
    assert epoch is not None
    assert session is not None
    entry = Entry(engine=engine, statement=statement, params=params, now_ms=1_800_000_000_000)
    now, id_ = peer.peer.context.clock.time(), new_message_id()
    wire = seal_entry(peer.keys, epoch, peer.peer.directory.mesh, entry, id_=id_, now=now)
    await session.publish(entry_subject(peer.member), wire, message_id=id_, deadline_s=10)
    return id_


async def test_what_one_writes_is_read_by_all(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", cluster=cluster) as mesh:
        anna, bob = mesh.peers.values()
        made = await anna.call(
            "mesh.graph.query",
            cypher="CREATE (p:Person {name: $name})-[w:WORKS_ON {since: 2026}]->(t:Task {title: 'graph'}) "
            "RETURN p, w, t",
            params={"name": "Ann \"x' {"},
        )
        assert made["wrote"]
        assert made["counters"]["nodes_created"] == 2
        assert made["counters"]["relationships_created"] == 1
        (row,) = made["rows"]
        assert row["p"] == {"id": 1, "labels": ["Person"], "properties": {"name": "Ann \"x' {"}}
        assert row["w"]["type"] == "WORKS_ON"
        assert (row["w"]["start"], row["w"]["end"]) == (row["p"]["id"], row["t"]["id"])
        assert await query(bob, "MATCH (p)-[:WORKS_ON]->(t) RETURN p.name AS name, t.title AS title") == [
            {"name": "Ann \"x' {", "title": "graph"}
        ]
        await query(bob, "MATCH (t:Task) SET t.done = true, t.at = $__now, t.key = $__uuid, t.luck = rand()")
        await query(anna, "MATCH (t:Task) SET t.stored = timestamp(), t.id = randomUUID(), t.day = date({month: 3})")
        await equal(mesh)
        read = await bob.call("mesh.graph.query", cypher="MATCH (t:Task) RETURN t")
        assert not read["wrote"]
        assert read["rows"][0]["t"]["properties"]["done"] is True


async def test_a_peer_that_does_not_use_the_graph_has_no_process_for_it_and_catches_up_when_it_does() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        for number in range(20):
            await query(anna, "CREATE (:N {number: $number})", number=number)
        assert graph_of(bob).engine.pid is None
        assert not graph_of(bob).engine.path.exists()
        assert await query(bob, "MATCH (n:N) RETURN count(n) AS count") == [{"count": 20}]
        late = await mesh.join("carl")
        assert await query(late, "MATCH (n:N) RETURN count(n) AS count") == [{"count": 20}]
        await equal(mesh)
        await bob.stop()
        await query(anna, "MATCH (n:N {number: 3}) DELETE n")
        await bob.start()
        assert await query(bob, "MATCH (n:N) RETURN count(n) AS count") == [{"count": 19}]
        await equal(mesh)


async def test_writes_of_two_at_once_come_to_the_same_graph_although_the_engine_is_killed_meanwhile() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await query(anna, "CREATE (:Counter {value: 0})")

        async def write(peer: MemberPeer) -> None:
            for number in range(40):
                await raw(peer, "MATCH (c:Counter) SET c.value = c.value + 1 CREATE (:Made {name: $name, n: $n})",
                          name=peer.name, n=number)  # fmt: skip

        async def kill() -> None:
            for _ in range(3):
                before = graph_of(bob).reader.sequence
                await until(lambda: graph_of(bob).reader.sequence > before, "the graph grows")  # noqa: B023 - awaited
                pid = graph_of(bob).engine.pid
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)

        await query(bob, "MATCH (n) RETURN n")
        await asyncio.gather(write(anna), write(bob), kill())
        await equal(mesh)
        for peer in (anna, bob):
            assert await query(peer, "MATCH (c:Counter) RETURN c.value AS value") == [{"value": 80}]
            assert await query(peer, "MATCH (b:Made) RETURN count(b) AS count") == [{"count": 80}]
        assert graph_of(bob).engine.crashes


BAD = [
    ("", "no statement"),
    ("  // nothing", "no statement"),
    ("LOAD CSV FROM '/etc/passwd' AS line RETURN line", "reads no files"),
    ("load/*x*/csv from '/etc/passwd' AS line CREATE (:P {x: line})", "reads no files"),
    ("CALL { LOAD // x\n CSV FROM '/etc/passwd' AS l RETURN l } RETURN l", "reads no files"),
    ("MATCH (n RETURN n", "syntax error"),
    ("CREATE (:A {x: nothing})", "not executed"),
    ("RETURN * UNION RETURN 1 AS n", "ended the graph's engine"),
    ("RETURN * UNION CREATE (n) RETURN 1 AS n", "ended the graph's engine"),
    ("UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(*)", "takes longer"),
    ("UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b CREATE (:X)", "not executed"),
    ("RETURN " + "[" * 15_000 + "]" * 15_000, "not executed"),
    ("RETURN '" + "x" * 70_000 + "'", "may have"),
    ("RETURN 1 \0 AS x", "characters"),
]


async def test_what_cannot_be_executed_is_refused_and_changes_nothing() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await query(anna, "CREATE (:A {x: 1})-[:R]->(:B)")
        before = (await anna.call("mesh.graph.status"))["digest"]
        for cypher, said in BAD:
            error = await refusal(anna.call("mesh.graph.query", cypher=cypher, timeout_s=0.5))
            assert error.code == EXIT_USER_ERROR, cypher[:100]
            assert said in error.message, (cypher[:100], error.message)
        too_much = await refusal(anna.call("mesh.graph.query", cypher="RETURN $x AS x", params={"x": "x" * 300_000}))
        taken = await refusal(anna.call("mesh.graph.query", cypher="RETURN 1 AS x", params={"__now": 1}))
        assert {too_much.code, taken.code} == {EXIT_USER_ERROR}
        assert (await anna.call("mesh.graph.status"))["digest"] == before
        assert await query(bob, "MATCH (a:A) RETURN a.x AS x") == [{"x": 1}]
        cut = await anna.call("mesh.graph.query", cypher="UNWIND range(1, 20) AS x RETURN x", limit=5)
        assert (len(cut["rows"]), cut["truncated"]) == (5, True)


async def test_entries_that_crash_fail_or_are_not_allowed_stop_nobody_and_all_judge_them_alike() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        await query(anna, "CREATE (:A {x: 1})")
        await raw(bob, "RETURN * UNION CREATE (n:Crash) RETURN 1 AS n")
        await raw(bob, "LOAD CSV FROM '/etc/passwd' AS line CREATE (:Stolen {line: line})")
        await raw(bob, "UNWIND range(1, 300000) AS x CREATE (:Many {x: x})")
        await raw(bob, "CREATE (:Other)", engine="another engine")
        await raw(bob, "NONSENSE")
        session = bob.peer.link.session
        assert session is not None
        await session.publish(entry_subject(bob.member), b"junk", deadline_s=10)
        await query(carl, "CREATE (:Made {name: 'carl'})")
        await anna.call("mesh.revoke", member="@carl")
        await carl.stop()
        del mesh.peers["carl"]
        await query(anna, "CREATE (:A {x: 2})")
        late = await mesh.join("dora")
        for peer in (anna, bob, late):
            assert await query(peer, "MATCH (a:A) RETURN a.x AS x ORDER BY x") == [{"x": 1}, {"x": 2}]
            assert await query(peer, "MATCH (b:Made) RETURN b.name AS name") == [{"name": "carl"}]
            assert await query(peer, "MATCH (n) WHERE NOT n:A AND NOT n:Made RETURN n") == []
            found = await peer.call("mesh.graph.status")
            assert {one["outcome"] for one in found["not_applied"]} == {"crashed", "refused"}
            assert found["failed"] == 3
        await equal(mesh)


async def test_who_was_removed_before_its_entry_came_has_written_nothing_also_where_that_was_learnt_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_reader, "CHECK_S", 0.2)
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        await query(anna, "CREATE (:A)")
        await query(bob, "MATCH (n) RETURN n")
        await raw(carl, "CREATE (:Late)")

        async def there() -> bool:
            return await query(bob, "MATCH (n:Late) RETURN count(n) AS count") == [{"count": 1}]

        await until(there, "the entry was applied")
        directory = bob.peer.directory
        record = directory.members[carl.member]
        directory.members[carl.member] = msgspec.structs.replace(record, revoked_at=int(record.joined_at))

        async def gone() -> bool:
            return await query(bob, "MATCH (n) RETURN labels(n) AS labels") == [{"labels": ["A"]}]

        await until(gone, "the graph was made anew without the entry")


async def test_a_graph_whose_log_the_broker_does_not_have_any_more_is_made_anew_and_the_former_is_kept() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await query(anna, "CREATE (:A {x: 1})")
        assert await query(bob, "MATCH (a:A) RETURN a.x AS x") == [{"x": 1}]
        path = graph_of(bob).engine.path
        await bob.stop()
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE covey_log SET digest = x'00'")  # as if it had read something else there
        await bob.start()
        assert await query(bob, "MATCH (a:A) RETURN a.x AS x") == [{"x": 1}]
        assert len(list(path.parent.glob("graph-*.db"))) == 1
        await equal(mesh)


async def test_a_log_that_is_pinned_to_another_engine_is_not_applied_and_that_is_said() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await raw(bob, "CREATE (:A)", engine="graphqlite 99")
        answer = await anna.call("mesh.graph.query", cypher="MATCH (n) RETURN n")
        assert (answer["rows"], answer["caught_up"]) == ([], False)
        assert "graphqlite 99" in (await anna.call("mesh.graph.status"))["problem"]
        error = await refusal(anna.call("mesh.graph.query", cypher="CREATE (:B)"))
        assert "same version of Covey" in error.message


async def test_a_reader_reads_and_does_not_write_and_nobody_writes_without_a_connection() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        await query(anna, "CREATE (:A {x: 1})")
        rita = await mesh.join("rita", await mesh.invite(role="reader"))
        assert await query(rita, "MATCH (a:A) RETURN a.x AS x") == [{"x": 1}]
        error = await refusal(rita.call("mesh.graph.query", cypher="CREATE (:B)"))
        assert error.code == EXIT_PERMISSION
        await raw(rita, "CREATE (:B)")
        assert await query(anna, "MATCH (n) RETURN count(n) AS count") == [{"count": 1}]
        mesh.broker.kill()
        await until(lambda: anna.peer.link.session is None, "the connection is lost")
        assert await query(anna, "MATCH (a:A) RETURN a.x AS x") == [{"x": 1}]
        for operation, params in (("query", {"cypher": "RETURN 1"}), ("status", {})):
            answer = await anna.call(f"mesh.graph.{operation}", **params)
            assert (answer["connection"]["connected"], answer["caught_up"]) == (False, False)
        assert (await refusal(anna.call("mesh.graph.query", cypher="CREATE (:B)"))).error == "mesh_not_connected"


async def test_a_write_that_others_have_made_impossible_meanwhile_changes_nothing_and_says_so() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await query(anna, "CREATE CONSTRAINT one FOR (n:Lock) REQUIRE n.name IS UNIQUE")
        await query(bob, "MATCH (n) RETURN n")
        results = await asyncio.gather(
            *(peer.call("mesh.graph.query", cypher="CREATE (:Lock {name: 'x'})") for peer in (anna, bob)),
            return_exceptions=True,
        )
        lost = [one for one in results if not isinstance(one, dict)]
        assert len(lost) == 1
        assert getattr(lost[0], "code", lost[0]) in {EXIT_CONFLICT, EXIT_USER_ERROR}
        assert await query(anna, "MATCH (n:Lock) RETURN count(n) AS count") == [{"count": 1}]
        await equal(mesh)
