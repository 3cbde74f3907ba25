"""Faults: a broker that forgets everything, damaged files, processes that are killed. Nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.client import Client
from covey.mesh.cold import perform
from murli import EXIT_CONFLICT, AgentError
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import (
    LIMIT_S,
    OPERATIONS,
    MemberPeer,
    MeshOfPeers,
    a_mesh,
    refusal,
    until,
)

SEED = 20261118
KILLS = 15


async def _forget_everything(mesh: MeshOfPeers) -> None:
    """Kill the broker, and delete what its streams held."""
    mesh.broker.kill()
    await until(lambda: all(one.peer.link.session is None for one in mesh.peers.values()), "all connections are lost")
    for store in mesh.broker.files.directory.rglob("jetstream"):
        shutil.rmtree(store)
    await mesh.broker.start()


async def test_streams_that_are_gone_are_made_anew_and_messages_flow_again() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        await bert.call("mesh.topic.subscribe", topic="t")
        await anna.deliver(bert, "1")
        await anna.call("mesh.topic.post", topic="t", message="2")
        await bert.wait_for(2)
        joined = len(await bert.events("member_joined"))
        incarnation = bert.peer.directory.record
        await _forget_everything(mesh)
        await bert.deliver(anna, "3")
        await anna.deliver(bert, "4")
        await anna.call("mesh.topic.post", topic="t", message="5")
        await bert.wait_for(4)
        assert await bert.texts() == ["1", "2", "4", "5"]
        assert bert.peer.directory.record != incarnation
        dora = await mesh.join("dora")
        await mesh.settled()
        for peer in (anna, bert, cleo):  # their profiles are there again
            await dora.deliver(peer, "new here")
            await peer.deliver(dora, "welcome")
        await bert.call("mesh.broadcast", message="all")
        await dora.wait_for(4)
        await cleo.wait_for_event("member_joined", name="dora")
        assert len(await bert.events("member_joined")) == joined + 1


async def test_messages_that_only_the_broker_had_are_lost_with_it_and_later_ones_are_not_held_up() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        bert.configure(inbox__hold_s=1)
        await bert.stop()
        lost = await anna.send(bert, "lost with the broker", wait="broker", timeout_s=20)
        mesh.peers = {"anna": anna}
        await _forget_everything(mesh)
        mesh.peers["bert"] = bert
        await bert.start()
        await anna.send(bert, "later")
        await bert.wait_for(1)
        assert await bert.texts() == ["later"]
        assert (await anna.call("mesh.receipt", id=lost["id"]))["rung"] == "at_broker"


@pytest.mark.parametrize("name", ["inbox.db", "outbox.db", "mesh.db"])
async def test_damaged_file_is_moved_aside_and_traffic_goes_on(name: str) -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await anna.deliver(bert, "before")
        await bert.deliver(anna, "before")
        for number in range(3):
            await bert.call("mesh.profile", summary=f"profile {number}")
        await bert.stop()
        path = Path(bert.seat.directory) / name
        for journal in path.parent.glob(f"{name}-*"):
            journal.unlink()
        path.write_bytes(b"this is no database" * 1000)
        await anna.send(bert, "meanwhile")
        await bert.start()
        await mesh.settled()
        await anna.deliver(bert, "after")
        await bert.deliver(anna, "after")
        await bert.wait_for(3)
        assert await bert.texts() == ["before", "meanwhile", "after"]
        assert await anna.texts() == ["before", "after"]
        await bert.call("mesh.profile", summary="mended")
        await until(lambda: anna.peer.directory.profiles[bert.member].summary == "mended", "the profile is news")
        if name != "mesh.db":
            assert any(name.removesuffix(".db") in problem for problem in (await bert.status())["problems"])
        moved = [
            one for one in path.parent.iterdir() if one.name.startswith(path.stem) and one.stat().st_size == 19_000
        ]
        assert moved, "what was there is kept"


async def test_outbox_that_is_older_than_what_was_sent_from_it_is_told() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        path = Path(anna.seat.directory) / "outbox.db"
        await anna.deliver(bert, "in the backup")
        await anna.stop()
        backup = path.read_bytes()
        await anna.start()
        await anna.deliver(bert, "later")
        await anna.stop()
        path.write_bytes(backup)
        await anna.start()

        async def told() -> bool:
            return any("older than what was sent" in problem for problem in (await anna.status())["problems"])

        await until(told, "the receipt of bert shows it")
        assert any(problem.endswith(": bert") for problem in (await anna.status())["problems"])
        await anna.stop()
        path.unlink()
        await anna.start()
        await anna.deliver(bert, "from a new outbox")
        assert await bert.texts() == ["in the backup", "later", "from a new outbox"]
        assert (await anna.status())["problems"] == []


async def test_database_of_the_authority_that_is_damaged_is_made_anew_from_what_it_signed() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        await anna.call("mesh.revoke", member="cleo")
        await cleo.stop()
        await anna.stop()
        path = Path(anna.seat.directory) / "mesh.db"
        for journal in path.parent.glob("mesh.db-*"):
            journal.unlink()
        path.write_bytes(b"this is no database" * 1000)
        await anna.start()
        await mesh.settled()
        await anna.deliver(bert, "still the authority")
        every = (await anna.call("mesh.members", revoked=True))["items"]
        assert {one["name"]: one["revoked_at"] is not None for one in every} == {
            "anna": False,
            "bert": False,
            "cleo": True,
        }
        dora = await mesh.join("dora")
        await mesh.settled()
        await dora.deliver(bert, "joined later")
        await anna.call("mesh.broadcast", message="all")
        await dora.wait_for(1)
        with pytest.raises(Exception, match=r"(?i)auth"):
            await cleo.raw()


async def test_second_process_for_the_same_seat_is_refused() -> None:
    async with a_mesh("anna") as mesh:
        bert = await mesh.join("bert", start=False)
        bert.spawn()
        await mesh.authority.wait_for_event("peer_join", name="bert")
        first = bert.process
        assert first is not None
        bert.spawn()
        second = bert.process
        assert second is not None
        assert await asyncio.to_thread(second.wait, LIMIT_S) == EXIT_CONFLICT
        bert.process = first
        await mesh.authority.deliver(bert, "the first one still runs")
        assert (await bert.ask("mesh.inbox"))["items"][0]["text"] == "the first one still runs"


async def test_cold_path_sends_with_the_same_receipts_and_reads_what_waits() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await bert.call("mesh.topic.subscribe", topic="t")
        await bert.stop()

        async def cold(operation: str, key: str = "", **params: Any) -> Any:
            return await asyncio.to_thread(perform, bert.home, bert.slug, OPERATIONS[operation], params, key=key)

        sent = await cold("mesh.send", to="@anna", message="from the cold", wait="inbox", timeout_s=20, key="k")
        assert (sent["rung"], sent["status"]) == ("in_inbox", "in the inbox of anna")
        again = await cold("mesh.send", to="@anna", message="from the cold", wait="inbox", timeout_s=20, key="k")
        assert (again["id"], again["replayed"]) == (sent["id"], True)
        quick = await cold("mesh.send", to="@anna", message="and gone")
        await anna.wait_for(2)
        assert await anna.texts() == ["from the cold", "and gone"]
        assert (await cold("mesh.receipt", id=quick["id"], wait="inbox", timeout_s=20))["rung"] == "in_inbox"

        waiting = await anna.send(bert, "waiting for you", wait="broker", timeout_s=20)
        await anna.call("mesh.topic.post", topic="t", message="and for all")
        await anna.peer.flush(LIMIT_S)
        found = await cold("mesh.inbox")
        assert {one["text"] for one in found["items"]} == {"waiting for you", "and for all"}
        receipt = await anna.call("mesh.receipt", id=waiting["id"], wait="inbox", timeout_s=20)
        assert receipt["rung"] == "in_inbox"
        with pytest.raises(AgentError) as refused:
            await cold("mesh.send", to="@nobody", message="x")
        assert refused.value.error == "not_found"
        bert.spawn()
        await anna.deliver(bert, "it runs")
        assert (await refusal(cold("mesh.inbox"))).error == "daemon_not_running"


async def test_cold_path_without_a_broker_keeps_the_message_and_says_so() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await bert.stop()
        mesh.broker.kill()
        params = {"to": "@anna", "message": "when you can"}
        sent = await asyncio.to_thread(perform, bert.home, bert.slug, OPERATIONS["mesh.send"], params)
        assert (sent["rung"], sent["queued"]) == ("stored", True)
        await mesh.broker.start()
        await bert.start()
        await anna.wait_for(1)


async def test_two_meshes_of_one_home_do_not_know_of_each_other() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        other = await mesh.create("owner", "other")
        assert other.home.path == anna.home.path
        mesh.peers = {"owner": other, **mesh.peers}
        friend = await mesh.join("friend")
        await until(lambda: friend.peer.directory.epoch is not None, "friend has topic keys")
        assert (other.membership.mesh, other.member) != (anna.membership.mesh, anna.member)
        names = {one["name"] for one in (await other.call("mesh.members"))["items"]}
        assert names == {"owner", "friend"}
        assert (await refusal(other.send("@bert", "hello"))).error == "not_found"
        await other.deliver(friend, "in the other mesh")
        await anna.deliver(bert, "in this mesh")
        await other.call("mesh.broadcast", message="all of the other")
        await anna.call("mesh.broadcast", message="all of this")
        await friend.wait_for(2)
        await bert.wait_for(2)
        assert await friend.texts() == ["in the other mesh", "all of the other"]
        assert await bert.texts() == ["in this mesh", "all of this"]
        assert bert.peer.receiver.refused == friend.peer.receiver.refused == 0


class Sender:
    """Sends numbered messages over the socket of a peer that is killed meanwhile, each with a key of its own."""

    def __init__(self, peer: MemberPeer, to: str) -> None:
        self.peer = peer
        self.to = to
        self.sent = 0
        self.ended = asyncio.Event()

    async def run(self) -> None:
        while not self.ended.is_set():
            await self._send(self.sent)
            self.sent += 1

    async def more(self, count: int) -> None:
        """Wait until so many more are accepted."""
        wanted = self.sent + count
        await until(lambda: self.sent >= wanted, f"{count} more messages are accepted")

    async def _send(self, number: int) -> None:
        """Repeat a message until it is accepted; the key makes it one."""
        client = Client(self.peer.seat.socket, timeout=5, seat=self.peer.seat)
        params = {"to": self.to, "message": str(number)}
        while True:
            try:
                await asyncio.to_thread(client.call, OPERATIONS["mesh.send"], params, idempotency_key=f"n{number}")
            except AgentError:
                await asyncio.sleep(0.02)
            else:
                return


@pytest.mark.first
async def test_kills_of_sender_recipient_and_broker_lose_and_double_nothing() -> None:
    chance = random.Random(SEED)
    async with a_mesh("anna") as mesh:
        sender, recipient = [await mesh.join(name, start=False) for name in ("bert", "cleo")]
        recipient.configure(inbox__hold_s=60)
        for peer in (sender, recipient):
            peer.spawn()
        await mesh.authority.wait_for_event("peer_join", name="bert")
        await mesh.authority.wait_for_event("peer_join", name="cleo")
        traffic = Sender(sender, recipient.member)
        running = asyncio.create_task(traffic.run())
        for _ in range(KILLS):
            await traffic.more(chance.randint(1, 10))
            victim = chance.choice(["sender", "recipient", "broker"])
            if victim == "broker":
                mesh.broker.kill()
                await mesh.broker.start()
            else:
                killed = sender if victim == "sender" else recipient
                killed.kill()
                killed.spawn()
        traffic.ended.set()
        await running
        found: list[str] = []

        async def all_there() -> bool:
            try:
                page = await recipient.ask("mesh.inbox", since="0", limit=1000)
            except AgentError:
                return False
            found[:] = [message["text"] for message in page["items"]]
            return len(found) >= min(traffic.sent, 1000)

        await until(all_there, f"all of {traffic.sent} messages have come", 200)
        assert found == [str(number) for number in range(min(traffic.sent, 1000))]


@pytest.mark.first
async def test_messages_flow_on_while_a_server_of_the_cluster_is_killed(running_cluster: NatsCluster) -> None:
    async with a_mesh("anna", "bert", cluster=running_cluster) as mesh:
        anna, bert = mesh.peers.values()
        await anna.deliver(bert, "before")
        connected = anna.peer.link.require().server
        victim = next(node for node in running_cluster.nodes if node.url.endswith(connected))
        victim.kill()
        try:
            for number in range(50):
                await anna.send(bert, str(number))
            await bert.wait_for(51)
            assert await bert.texts() == ["before", *(str(number) for number in range(50))]
        finally:
            victim.start()
            await _cluster_is_whole(running_cluster)


async def _cluster_is_whole(cluster: NatsCluster) -> None:
    async def whole() -> bool:
        return await cluster._has_leader()

    try:
        await until(whole, "the cluster is whole")
    finally:
        await cluster.system.aclose()
