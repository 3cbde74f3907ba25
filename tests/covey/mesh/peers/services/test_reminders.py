"""Reminders: they come to everybody they are for, once, also over kills and without a connection."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from murli import EXIT_NOT_FOUND, EXIT_USER_ERROR
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, refusal, until
from tests.covey.mesh.peers.services.seen import knows


async def remind(peer: MemberPeer, text: str, *others: MemberPeer, **params: Any) -> str:
    """Make a reminder, and return its id when the other peers have it."""
    made = await peer.call("mesh.remind", message=text, **params)
    for other in others:
        await knows(other, "reminder", f"{peer.member}/{made['id']}")
    return str(made["id"])


async def test_a_reminder_comes_to_those_it_is_for(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", "carl", cluster=cluster) as mesh:
        anna, bob, carl = mesh.peers.values()
        await carl.call("mesh.groups.join", name="ops")
        await until(lambda: bool(anna.peer.directory.group("ops")), "anna knows of the group")
        mine = await remind(anna, "for me", in_="1s")
        await remind(anna, "for bob", bob, in_="1s", to="@bob", as_agent="claude")
        await remind(anna, "for ops", carl, in_="1s", to="@ops")
        await remind(anna, "for all", bob, carl, in_="0s", to="*")
        assert bob.peer.services.documents.get("reminder", f"{anna.member}/{mine}") is None, "it is anna's alone"
        wanted = {"anna": {"for me", "for all"}, "bob": {"for bob", "for all"}, "carl": {"for ops", "for all"}}
        for peer in (anna, bob, carl):
            messages = await peer.wait_for(2)
            assert {one["text"] for one in messages} == wanted[peer.name]
            assert {(one["from"], one["kind"]) for one in messages} == {(anna.member, "direct")}
        told = await bob.wait_for_event("reminder_fired", message="for bob", missed=0)
        assert told["data"]["data"]["by"]["label"] == "anna/claude"
        assert (await anna.call("mesh.reminder.list"))["items"] == []


async def test_what_was_due_while_a_peer_was_away_comes_once_and_without_a_connection() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await remind(anna, "missed", bob, in_="2s", to="@bob")
        await bob.stop()
        cancelled = await remind(anna, "cancelled", in_="3s", to="@bob")
        kept = await remind(anna, "later", in_="1h", to="@bob")
        await anna.call("mesh.reminder.cancel", id=cancelled)
        await remind(anna, "own", in_="2s")
        await anna.wait_for(1)
        await bob.start()
        (late,) = await bob.wait_for(1)
        assert (late["text"], late["meta"]["missed"]) == ("missed", 0)
        assert (await bob.wait_for_event("reminder_fired", message="missed"))["data"]["data"]["late_s"] > 0
        await knows(bob, "reminder", f"{anna.member}/{kept}")
        assert [one["id"] for one in (await bob.call("mesh.reminder.list"))["items"]] == [kept]
        assert (await refusal(bob.call("mesh.reminder.cancel", id=kept))).code == EXIT_NOT_FOUND
        await remind(bob, "without a broker", in_="2s")
        mesh.broker.kill()
        await bob.wait_for(2)
        assert await bob.texts() == ["missed", "without a broker"]


async def test_over_kills_of_the_peer_and_the_broker_each_comes_once() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await bob.stop()
        count = 16
        for number in range(count):
            await remind(anna, f"reminder {number}", in_=f"{2 + number / 4:g}s", to="@bob")
        for round_ in range(4):
            bob.spawn()
            await asyncio.sleep(1.0 + round_ / 4)  # a moment of chance for the kill
            bob.kill()
            if round_ == 1:
                mesh.broker.kill()
                await mesh.broker.start()
        await bob.start()
        await bob.wait_for(count)
        assert Counter(await bob.texts()) == Counter({f"reminder {number}": 1 for number in range(count)})

        async def told() -> bool:
            return len(await bob.events("reminder_fired")) >= count

        await until(told, "every one was told")
        fired = [one["data"]["data"]["message"] for one in await bob.events("reminder_fired")]
        assert Counter(fired) == Counter({f"reminder {number}": 1 for number in range(count)})


async def test_reminders_of_a_file_become_those_of_whoever_imports_it(tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await remind(anna, "my own", in_="1h")
        await remind(anna, "for all", cron="0 9 * * *", to="*")
        await remind(anna, "for bob", bob, in_="1h", to="@bob")
        await anna.wait_for_event("reminder_fired", id=await remind(anna, "past", in_="0s"))
        await anna.call("mesh.services.export", path=str(file), service=["reminder"])
    async with a_mesh("carl") as mesh:
        carl = mesh.authority
        assert await carl.call("mesh.services.import", path=str(file)) == {
            "written": 2,
            "same": 0,
            "left": 0,
            "skipped": 2,
        }
        items = (await carl.call("mesh.reminder.list"))["items"]
        assert sorted((one["message"], one["private"], one["to"]) for one in items) == [
            ("for all", False, "*"),
            ("my own", True, "@carl"),
        ]
        assert {one["created_by"]["label"] for one in items} == {"carl"}
        assert carl.peer.services.documents.refused == 0
        await carl.call("mesh.reminder.cancel", id=items[0]["id"])


async def test_nobody_reminds_in_the_name_of_another_and_one_who_was_removed_does_not_remind() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        forged = {"message": "by anna", "everybody": True, "at": 1.0, "created_at": 0.0}
        documents = carl.peer.services.documents
        await documents.put("reminder", f"{anna.member}/abcdefgh", forged)
        await until(lambda: bob.peer.services.documents.refused == 1, "bob has refused it")
        await remind(carl, "by carl", bob, in_="4s", to="*")
        await anna.call("mesh.revoke", member="@carl")
        await until(lambda: not bob.peer.directory.is_member(carl.member), "bob knows that carl was removed")
        await remind(anna, "by anna herself", bob, in_="5s", to="@bob")
        await bob.wait_for(1)
        assert await bob.texts() == ["by anna herself"]


async def test_what_cannot_be_a_reminder_is_refused() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        refused: list[dict[str, Any]] = [
            {},
            {"in_": "1h", "at": "2030-01-01T00:00:00Z"},
            {"at": "2020-01-01T00:00:00Z"},
            {"at": "10m"},
            {"in_": "soon"},
            {"cron": "* * * *"},
            {"cron": "0 9 * * *", "tz": "Europe/Nowhere"},
        ]
        for params in refused:
            error = await refusal(anna.call("mesh.remind", message="x", **params))
            assert error.code == EXIT_USER_ERROR, params
        assert (await refusal(anna.call("mesh.remind", message=" ", in_="1h"))).code == EXIT_USER_ERROR
        assert (await refusal(anna.call("mesh.remind", message="x", in_="1h", to="@x"))).code == EXIT_NOT_FOUND
        error = await refusal(anna.call("mesh.remind", message="x", in_="1h", to="@anna/x y"))
        assert (error.field, "cannot name an agent" in error.message) == ("to", True)
        made = await anna.call("mesh.remind", message="x", cron="0 9 * * 1-5", tz="Europe/Berlin")
        assert (made["cron"], made["private"], made["at"]) == ("0 9 * * 1-5", True, None)
        summer = await anna.call("mesh.remind", message="x", at="2030-07-01T09:00", tz="Europe/Berlin")
        assert summer["at"] == "2030-07-01T07:00:00.000Z"
