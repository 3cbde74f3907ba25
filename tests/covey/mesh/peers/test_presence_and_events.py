"""Who is online, what peers say of themselves, the events of a peer and its health."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

from covey.kernel.client import Client
from covey.kernel.home import Home
from covey.mesh.authority.authority_file import AuthorityFile
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import LIMIT_S, MemberPeer, a_mesh, until


async def _peer(asked: MemberPeer, name: str) -> dict[str, Any]:
    listed = await asked.call("mesh.peers")
    return next(one for one in listed["items"] if one["name"] == name)


async def _is_online(asked: MemberPeer, name: str) -> bool:
    return bool((await _peer(asked, name))["online"])


async def _sees(asked: MemberPeer, name: str, *, online: bool) -> None:
    async def seen() -> bool:
        return await _is_online(asked, name) == online

    await until(seen, f"{asked.name} sees {name} {'online' if online else 'offline'}")


async def test_member_is_online_until_it_goes_and_says_so(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        await _sees(anna, "bert", online=True)
        await _sees(bert, "anna", online=True)
        joined = await anna.wait_for_event("peer_join", name="bert")
        await bert.stop()
        left = await anna.wait_for_event("peer_leave", name="bert")
        assert left["data"]["data"]["said"] is True
        assert left["data"]["cursor"] > joined["data"]["cursor"]
        assert not await _is_online(anna, "bert")
        await bert.start()
        await _sees(anna, "bert", online=True)

        async def joined_again() -> bool:
            return len(await anna.events("peer_join")) == 2

        await until(joined_again, "there is a second peer_join")


async def test_process_that_is_killed_is_reported_by_the_authority(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        cleo = await mesh.join("cleo", start=False)
        cleo.spawn()
        await bert.wait_for_event("peer_join", name="cleo")
        await _sees(bert, "cleo", online=True)
        cleo.kill()
        left = await bert.wait_for_event("peer_leave", name="cleo")
        assert left["data"]["data"]["said"] is False
        assert not await _is_online(bert, "cleo")
        cleo.spawn()
        await _sees(anna, "cleo", online=True)
        await anna.deliver(cleo, "you are back")
        assert await _is_online(bert, "cleo")


async def test_two_peers_with_one_identity_are_a_problem_that_both_tell() -> None:
    async with a_mesh("anna", "bert") as mesh:
        bert = mesh.peers["bert"]
        shutil.copytree(bert.home.path, mesh.folder / "copy", ignore=shutil.ignore_patterns("sock", "pid", "*.port"))
        copy = MemberPeer(Home(str(mesh.folder / "copy")), bert.slug, "bert", mesh.urls)
        mesh.peers["copy"] = copy
        assert (await bert.status())["problems"] == []
        await copy.start()
        for one in (bert, copy):

            async def told(peer: MemberPeer = one) -> bool:
                return any("the identity of this member" in problem for problem in (await peer.status())["problems"])

            await until(told, f"{one.home.path} knows")
        await copy.stop()

        async def well() -> bool:
            return not (await bert.status())["problems"]

        await until(well, "the other one said that it goes")


async def test_connection_that_is_replaced_at_once_leaves_the_member_online() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        for _ in range(5):
            gone = bert.peer.link.require()
            transport = gone.client._transport
            assert transport is not None
            transport.close()  # type: ignore[no-untyped-call]
            await until(gone.broken.is_set, "the connection is lost")
            await until(lambda: bert.peer.link.session is not None, "there is another connection")
            await bert.deliver(anna, "still here")
        await _sees(anna, "bert", online=True)


async def test_member_that_was_taken_for_gone_while_it_is_there_says_that_it_is_there() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        await _sees(anna, "bert", online=True)
        key = AuthorityFile.load(anna.seat)
        assert key is not None
        gone = anna.peer.presence.gone(key.key, bert.member)  # late news of a connection before
        await anna.peer.link.require().publish(f"a.gone.{bert.member}", gone, deadline_s=5)
        await cleo.wait_for_event("peer_leave", name="bert")
        await _sees(cleo, "bert", online=True)


async def test_profile_is_shown_to_others_and_a_hidden_member_looks_offline() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await bert.call("mesh.groups.join", name="ops", role="lead")
        changed = await bert.call("mesh.profile", summary="mends the build", status="dnd", avatar="🦊")
        assert (changed["summary"], changed["status"], changed["visible"]) == ("mends the build", "dnd", True)

        async def shown() -> bool:
            one = await _peer(anna, "bert")
            return (one["summary"], one["status"], one["avatar"]) == ("mends the build", "dnd", "🦊")

        await until(shown, "the profile is shown")
        assert (await _peer(anna, "bert"))["groups"] == [{"name": "ops", "role": "lead"}]
        await bert.call("mesh.profile", visible=False)
        await _sees(anna, "bert", online=False)
        await anna.deliver(bert, "I cannot see you")
        await bert.stop()
        await bert.start()
        await anna.deliver(bert, "still hidden")
        assert not await _is_online(anna, "bert")
        assert not (await bert.call("mesh.profile"))["visible"]
        await bert.call("mesh.profile", visible=True)
        await _sees(anna, "bert", online=True)


async def test_changes_of_the_profile_that_come_together_are_all_kept() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await asyncio.gather(
            bert.call("mesh.profile", summary="busy"),
            bert.call("mesh.profile", avatar="🦊"),
            bert.call("mesh.groups.join", name="ops"),
            bert.call("mesh.groups.join", name="web"),
            bert.call("mesh.keys.rotate"),
        )

        async def shown() -> bool:
            one = await _peer(anna, "bert")
            groups = [group["name"] for group in one["groups"]]
            return (one["summary"], one["avatar"], groups) == ("busy", "🦊", ["ops", "web"])

        await until(shown, "all changes are shown")
        await anna.deliver(bert, "to the new key")
        await bert.deliver(anna, "from the new key")


async def test_heartbeat_of_a_program_makes_the_member_working() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        assert (await _peer(anna, "bert"))["status"] == "idle"
        answer = await bert.call("mesh.heartbeat")
        assert answer["status"] == "working"

        async def working() -> bool:
            return bool((await _peer(anna, "bert"))["status"] == "working")

        await until(working, "bert is working")


async def test_events_of_a_peer_are_followed_and_resumed_without_a_gap() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        joined = await anna.wait_for_event("member_joined", name="bert")
        assert joined["data"]["data"]["role"] == "member"
        for number in range(5):
            await anna.deliver(bert, f"before {number}")
        await bert.wait_for_event("message", text="before 4")
        first = next(one for one in await bert.events("message") if one["data"]["data"]["text"] == "before 1")
        client = Client(bert.seat.socket, timeout=LIMIT_S, seat=bert.seat)
        operation = bert.daemon.dispatcher.operations["events"]
        given = {"since": str(first["id"]), "kind": ["message"], "follow": True}

        def follow() -> list[str]:
            texts = []
            for event in client.stream(operation, given):
                texts.append(event["data"]["data"]["text"])
                if texts[-1] == "after 1":
                    break
            return texts

        following = asyncio.create_task(asyncio.to_thread(follow))
        for number in range(2):
            await anna.deliver(bert, f"after {number}")
        assert await following == ["before 2", "before 3", "before 4", "after 0", "after 1"]


async def test_message_event_has_the_fields_of_the_message_and_comes_once_over_restarts() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        sent = await anna.deliver(bert, "hello @bert", meta={"a": 1}, priority="now")
        event = await bert.wait_for_event("message", id=sent["id"])
        (message,) = await bert.inbox()
        assert event["data"]["data"] == message
        assert message["mentioned"] is True
        for _ in range(2):
            await bert.stop()
            await bert.start()
        await anna.deliver(bert, "second")
        await bert.wait_for_event("message", text="second")
        assert [one["data"]["data"]["text"] for one in await bert.events("message")] == ["hello @bert", "second"]


async def test_lost_connection_is_told_with_its_reason_and_how_long_it_lasted() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        first = await bert.wait_for_event("reconnect", away_s=None)
        health = await bert.ask("health")
        assert (health["connected"], health["queue_depth"], health["mesh"]) == (True, 0, "team")
        assert (health["ok"], health["member_pubkey"]) == (True, bert.member)
        assert health["lag_ms"] >= 0
        mesh.broker.kill()
        lost = await bert.wait_for_event("disconnect")
        assert lost["data"]["data"]["reason"]
        assert lost["data"]["data"]["server"] == mesh.urls[0]
        health = await bert.ask("health")
        assert (health["connected"], health["lag_ms"]) == (False, None)
        await bert.send(anna, "later")
        assert (await bert.ask("health"))["queue_depth"] == 1
        await mesh.broker.start()
        await anna.wait_for(1)
        events = await bert.events("reconnect", since=first["data"]["cursor"])
        assert len(events) == 1
        assert events[0]["data"]["data"]["away_s"] > 0
        status = await bert.status()
        assert (status["connected"], status["reconnects"], status["reason"]) == (True, 1, "")
