"""Shared state: every peer has it, one of several writers wins, and a private value is private."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from covey.mesh.cold import perform
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_PERMISSION, EXIT_USER_ERROR
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import OPERATIONS, MemberPeer, MeshOfPeers, a_mesh, refusal, until


async def equal(mesh: MeshOfPeers) -> None:
    """Wait until all replicas are the same."""

    async def same() -> bool:
        return len({await one.peer.services.replica.digest() for one in mesh.peers.values()}) == 1

    await until(same, "all replicas are equal")


async def has(peer: MemberPeer, key: str, value: object) -> None:
    """Wait until a peer has a value."""

    async def there() -> bool:
        items = (await peer.call("mesh.state.list", prefix=key))["items"]
        return [one["value"] for one in items if one["key"] == key] == [value]

    await until(there, f"{peer.name} has {key}")


async def test_a_value_that_one_sets_is_read_by_all(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", cluster=cluster) as mesh:
        anna, bob = mesh.peers.values()
        made = await anna.call("mesh.state.set", key="build/web", value={"commit": "abc", "green": True})
        assert made["author_name"] == "anna"
        assert (await anna.call("mesh.state.get", key="build/web"))["value"] == {"commit": "abc", "green": True}
        await has(bob, "build/web", {"commit": "abc", "green": True})
        event = await bob.wait_for_event("state_changed", key="build/web", deleted=False)
        assert event["data"]["data"]["author"] == anna.member
        await bob.call("mesh.state.delete", key="build/web")
        await anna.wait_for_event("state_changed", key="build/web", deleted=True)
        assert (await refusal(anna.call("mesh.state.get", key="build/web"))).code == EXIT_NOT_FOUND
        await equal(mesh)


async def test_of_several_who_expect_the_same_revision_one_wins() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        peers = list(mesh.peers.values())
        for round_ in range(5):
            key = f"leader/{round_}"
            results = await asyncio.gather(
                *(peer.call("mesh.state.set", key=key, value=peer.name, expect=0) for peer in peers),
                return_exceptions=True,
            )
            won = [one for one in results if isinstance(one, dict)]
            lost = [one for one in results if not isinstance(one, dict)]
            assert len(won) == 1
            assert {getattr(one, "code", one) for one in lost} == {EXIT_CONFLICT}
            for peer in peers:
                await has(peer, key, won[0]["value"])


async def test_a_private_value_is_read_by_its_member_alone() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await anna.call("mesh.state.set", key="note", value="for me", scope="member")
        await anna.call("mesh.state.set", key="other", value="for all")
        await has(bob, "other", "for all")
        assert (await anna.call("mesh.state.get", key="note", scope="member"))["value"] == "for me"
        for scope in ("mesh", "member"):
            assert (await refusal(bob.call("mesh.state.get", key="note", scope=scope))).code == EXIT_NOT_FOUND
        shared = await anna.call("mesh.state.list", scope="mesh")
        assert await bob.call("mesh.state.list") == shared


async def test_who_joins_later_reads_what_was_shared_before_also_under_keys_of_former_epochs() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        await bob.call("mesh.state.set", key="old", value=1)
        await carl.call("mesh.state.set", key="by carl", value=2)
        await anna.call("mesh.revoke", member="@carl")
        await anna.call("mesh.state.set", key="new", value=3)
        late = await mesh.join("dora")
        for key, value in {"old": 1, "by carl": 2, "new": 3}.items():
            await has(late, key, value)
        await has(bob, "new", 3)
        assert await late.peer.services.replica.digest() == await anna.peer.services.replica.digest()


async def test_the_replica_is_read_without_a_connection_and_writing_says_why_it_cannot() -> None:
    async with a_mesh("anna", "bob") as mesh:
        _, bob = mesh.peers.values()
        await bob.call("mesh.state.set", key="k", value="v")
        mesh.broker.kill()
        await until(lambda: bob.peer.link.session is None, "the connection is lost")
        assert (await bob.call("mesh.state.get", key="k"))["value"] == "v"
        assert (await refusal(bob.call("mesh.state.set", key="k", value="w"))).error == "mesh_not_connected"
        connection = (await bob.call("mesh.services.list"))["connection"]
        assert (connection["connected"], bool(connection["since"]), bool(connection["reason"])) == (False, True, True)
        await mesh.broker.start()
        await until(lambda: bob.peer.link.session is not None, "there is a connection again")
        connection = (await bob.call("mesh.services.list"))["connection"]
        assert connection == {"connected": True, "since": None, "reason": None}
        await bob.call("mesh.state.set", key="k", value="w")


async def test_a_reader_reads_and_does_not_write() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        await anna.call("mesh.state.set", key="k", value="v")
        rita = await mesh.join("rita", await mesh.invite(role="reader"))
        await has(rita, "k", "v")
        assert (await refusal(rita.call("mesh.state.set", key="k", value="w"))).code == EXIT_PERMISSION


@pytest.mark.parametrize("key", ["", " a", "a\nb", "x" * 600, "\x1b[31m"])
async def test_a_key_that_cannot_be_one_is_refused(key: str) -> None:
    async with a_mesh("anna") as mesh:
        assert (await refusal(mesh.authority.call("mesh.state.set", key=key, value=1))).code == EXIT_USER_ERROR


async def test_a_value_is_set_and_read_without_a_running_peer() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await bob.stop()
        await anna.call("mesh.state.set", key="k", value="v")

        def cold(name: str, **params: object) -> object:
            operation = OPERATIONS[name]
            return perform(bob.home, bob.slug, operation, params, key="")["value"]

        assert await asyncio.to_thread(cold, "mesh.state.get", key="k") == "v"
        assert await asyncio.to_thread(cold, "mesh.state.set", key="k", value="w") == "w"
        await has(anna, "k", "w")


async def test_what_is_shared_is_taken_out_and_brought_into_another_mesh(tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        await anna.call("mesh.state.set", key="k", value={"deep": [1, None]})
        await anna.call("mesh.state.set", key="mine", value="private", scope="member")
        assert await anna.call("mesh.services.export", path=str(file)) == {"path": str(file), "documents": 2}
        assert file.stat().st_mode & 0o777 == 0o600
        assert (await refusal(anna.call("mesh.services.export", path=str(file)))).code == EXIT_USER_ERROR
    async with a_mesh("bob") as mesh:
        bob = mesh.authority
        await bob.call("mesh.state.set", key="k", value="another")
        first = await bob.call("mesh.services.import", path=str(file))
        assert first == {"written": 1, "same": 0, "left": 1, "skipped": 0}
        second = await bob.call("mesh.services.import", path=str(file), replace=True)
        assert second == {"written": 1, "same": 1, "left": 0, "skipped": 0}
        assert (await bob.call("mesh.state.get", key="k"))["value"] == {"deep": [1, None]}
        overview = await bob.call("mesh.services.list")
        assert [(item["name"], item["documents"]) for item in overview["items"]] == [("state", 2)]
        for junk in (
            {"service": "state"},
            {"service": "state", "key": "x\x1b[31m", "value": {"value": 1}},
            {"service": "state", "key": "x", "value": {"other": 1}},
            {"service": "lease", "key": "x", "value": {"until": "x"}},
            {"service": "task", "key": "x", "value": {"title": "t", "status": "bogus"}},
            {"service": "reminder", "key": "own/../x", "value": {"message": "m", "created_at": 1.0}},
            {"service": "memory", "key": "x", "value": {"content": ""}},
        ):
            file.write_text('{"service": "state", "key": "good", "value": {"value": 1}}\n' + json.dumps(junk) + "\n")
            refused = await refusal(bob.call("mesh.services.import", path=str(file)))
            assert (refused.code, "line 2" in refused.message) == (EXIT_USER_ERROR, True), junk
        assert (await refusal(bob.call("mesh.state.get", key="good"))).code == EXIT_NOT_FOUND
        file.write_text('{"service": "state"}\n')
        assert (await refusal(bob.call("mesh.services.import", path=str(file)))).code == EXIT_USER_ERROR
        assert (await refusal(bob.call("mesh.services.export", path="/x", service=["no"]))).code == EXIT_USER_ERROR


async def test_who_has_just_joined_reads_and_writes_at_once() -> None:
    async with a_mesh("anna") as mesh:
        await mesh.peers["anna"].call("mesh.state.set", key="k", value=1)
        late = await mesh.join("late")
        assert (await late.call("mesh.state.get", key="k"))["value"] == 1
        later = await mesh.join("later")
        assert (await later.call("mesh.state.set", key="k", value=2, expect=1))["revision"] == 2
