"""Messages between members, on the embedded broker and on a cluster of three."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import a_mesh, refusal, until


async def test_direct_message_arrives_once_and_its_receipt_says_that_it_is_in_the_inbox(
    cluster: NatsCluster | None,
) -> None:
    async with a_mesh("anna", "bert", "cleo", cluster=cluster) as mesh:
        anna, bert, cleo = mesh.peers.values()
        answer = await anna.send(bert, "Grüße 👋", wait="inbox", timeout_s=20)
        assert (answer["rung"], answer["queued"], answer["replayed"]) == ("in_inbox", False, False)
        assert answer["status"] == "in the inbox of bert"
        (message,) = await bert.inbox()
        assert message["text"] == "Grüße 👋"
        assert (message["id"], message["from"], message["from_name"]) == (answer["id"], anna.member, "anna")
        assert (message["kind"], message["topic"], message["hops"]) == ("direct", None, 0)
        receipt = await anna.call("mesh.receipt", id=answer["id"])
        assert (receipt["rung"], receipt["state"], receipt["online"]) == ("in_inbox", "done", True)
        assert None not in (receipt["delivered_at"], receipt["received_at"])
        assert receipt["seen_at"] is None
        assert await cleo.inbox() == []
        assert await anna.inbox() == []


async def test_messages_of_both_directions_arrive_in_order(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        for number in range(40):
            await asyncio.gather(anna.send(bert, f"a{number}"), bert.send(anna, f"b{number}"))
        await anna.wait_for(40)
        await bert.wait_for(40)
        assert await bert.texts() == [f"a{number}" for number in range(40)]
        assert await anna.texts() == [f"b{number}" for number in range(40)]


async def test_messages_that_were_sent_while_the_recipient_was_away_arrive_in_order(
    cluster: NatsCluster | None,
) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        await bert.stop()
        texts = [f"number {number}" for number in range(500)]
        batch = [{"to": "@bert", "message": text} for text in texts]
        answer = await anna.call("mesh.send_batch", messages=batch)
        assert (answer["accepted"], answer["refused"]) == (500, 0)
        ids = [item["answer"]["id"] for item in answer["items"]]
        last = await anna.call("mesh.receipt", id=ids[-1], wait="broker", timeout_s=20)
        assert last["rung"] == "at_broker"
        assert last["status"] == "queued at the broker: bert is offline"
        await bert.start()
        messages = await bert.wait_for(500)
        assert [message["text"] for message in messages] == texts
        assert [message["id"] for message in messages] == ids
        last = await anna.call("mesh.receipt", id=ids[-1], wait="inbox", timeout_s=20)
        assert last["rung"] == "in_inbox"
        listed = await anna.call("mesh.outbox", status="done", limit=1000)
        assert {row["rung"] for row in listed["items"]} == {"in_inbox"}


async def test_message_to_somebody_offline_is_called_queued_and_not_sent(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        await bert.stop()
        answer = await anna.send(bert, "later", wait="broker", timeout_s=20)
        assert (answer["rung"], answer["queued"]) == ("at_broker", True)
        assert answer["status"] == "queued at the broker: bert is offline"


async def test_topic_comes_to_its_subscribers_only_and_not_to_the_sender(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", "cleo", cluster=cluster) as mesh:
        anna, bert, cleo = mesh.peers.values()
        await anna.call("mesh.topic.subscribe", topic="alerts")
        topic = await bert.call("mesh.topic.subscribe", topic="#alerts")
        assert (topic["name"], topic["subscribed"]) == ("alerts", True)
        await anna.call("mesh.topic.post", topic="alerts", message="disk full", mentions=["bert"])
        await anna.call("mesh.broadcast", message="hello everybody")
        await cleo.wait_for(1)
        messages = await bert.wait_for(2)
        first, second = messages
        assert (first["kind"], first["topic"], first["text"]) == ("topic", "alerts", "disk full")
        assert (first["mentions"], first["mentioned"]) == (["bert"], True)
        assert (second["kind"], second["topic"]) == ("broadcast", None)
        assert await cleo.texts() == ["hello everybody"]
        assert await anna.inbox() == []
        await bert.call("mesh.topic.unsubscribe", topic="alerts")
        await anna.call("mesh.topic.post", topic="alerts", message="disk still full")
        await anna.call("mesh.broadcast", message="goodbye")
        await bert.wait_for(3)
        assert await bert.texts() == ["disk full", "hello everybody", "goodbye"]
        listed = await bert.call("mesh.topic.list")
        assert [(one["name"], one["subscribed"], one["messages"]) for one in listed["items"]] == [("alerts", False, 1)]


async def test_subscription_begins_with_the_next_message(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        old = await anna.call("mesh.topic.post", topic="news", message="old")
        await anna.call("mesh.receipt", id=old["id"], wait="broker", timeout_s=20)
        await bert.call("mesh.topic.subscribe", topic="news")
        await anna.call("mesh.topic.post", topic="news", message="new")
        await bert.wait_for(1)
        assert await bert.texts() == ["new"]


async def test_message_to_a_group_comes_to_its_members_with_one_receipt_each(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", "cleo", "dora", cluster=cluster) as mesh:
        anna, bert, cleo, dora = mesh.peers.values()
        for peer in (anna, bert, cleo):
            joined = await peer.call("mesh.groups.join", name="@ops", role="lead" if peer is bert else "")
            assert joined["items"] == [{"name": "ops", "role": "lead" if peer is bert else "member"}]
        await until(lambda: len(anna.peer.directory.group("ops")) == 3, "the group is known")
        answer = await anna.send("@ops", "to the group", wait="inbox", timeout_s=20)
        assert (answer["rung"], len(answer["ids"])) == ("in_inbox", 2)
        assert answer["status"] == "in the inbox of all 2 members"
        assert (await anna.send("@ops", "not waited for"))["status"] == "in our outbox, for 2 members"
        assert {row["name"] for row in answer["recipients"]} == {"bert", "cleo"}
        await anna.call("mesh.broadcast", message="scoped", scope="@ops")
        for peer in (bert, cleo):
            await peer.wait_for(3)
            assert sorted(await peer.texts()) == ["not waited for", "scoped", "to the group"]
        assert await dora.inbox() == []
        await bert.call("mesh.groups.leave", name="ops")
        await cleo.call("mesh.groups.leave", name="ops")
        await until(lambda: len(anna.peer.directory.group("ops")) == 1, "the group is left")
        assert (await refusal(anna.send("@ops", "nobody"))).error == "not_found"


async def test_fields_of_a_message_survive_the_way(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        meta = {"build": 17, "tags": ["a", None, 1.5, {"deep": True}], "ünïcode": "✓"}
        first = await anna.deliver(bert, "one", priority="now", meta=meta)
        await anna.deliver(bert, "two", priority="low", reply_to_id=first["id"])
        await bert.call("mesh.topic.subscribe", topic="ci/main")
        await anna.call(
            "mesh.topic.post",
            topic="ci/main",
            message="see @bert",
            mentions=["@anna", bert.member],
            meta=meta,
            reply_to_id=first["id"],
            priority="now",
        )
        one, two, three = await bert.wait_for(3)
        assert (one["priority"], one["meta"], one["reply_to_id"], one["mentioned"]) == ("now", meta, None, False)
        assert (two["priority"], two["meta"], two["reply_to_id"]) == ("low", {}, first["id"])
        assert (three["priority"], three["meta"], three["reply_to_id"]) == ("now", meta, first["id"])
        assert (three["mentions"], three["mentioned"]) == (["anna", "bert"], True), (
            "by name, whatever they were named by"
        )


async def test_mention_of_somebody_who_is_not_a_member_is_refused_with_those_who_are() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna = mesh.authority
        message: dict[str, Any] = {"topic": "ci", "message": "see this", "mentions": ["@bert", "@nobodyatall"]}
        for asking in (
            anna.call("mesh.topic.post", **message),
            anna.call("mesh.broadcast", message="see this", mentions=["nobodyatall"]),
        ):
            refused = await refusal(asking)
            assert (refused.error, refused.field) == ("not_found", "mentions")
            assert refused.suggestion == "Members are: @anna, @bert."
        (item,) = (await anna.call("mesh.send_batch", messages=[message]))["items"]
        assert item["error"]["error"] == "not_found"
        assert (await anna.call("mesh.outbox", status="done"))["items"] == []


async def test_broadcast_to_a_member_is_refused_because_it_is_not_a_group() -> None:
    async with a_mesh("anna", "bert") as mesh:
        for scope in ("bert", "@bert", "@nobody"):
            refused = await refusal(mesh.authority.call("mesh.broadcast", message="x", scope=scope))
            named = scope.removeprefix("@")
            assert (refused.message, refused.field) == (f"there is no group @{named} in this mesh", "scope")
            assert "covey mesh send" in refused.suggestion


async def test_key_that_is_repeated_sends_once_and_with_another_text_is_a_conflict(
    cluster: NatsCluster | None,
) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        first, second = await asyncio.gather(*(anna.send(bert, "once", idempotency="k1") for _ in range(2)))
        third = await anna.send(bert, "once", idempotency="k1")
        assert first["id"] == second["id"] == third["id"]
        assert sorted([first["replayed"], second["replayed"]]) == [False, True]
        assert third["replayed"]
        for changed in (
            anna.send(bert, "twice", idempotency="k1"),
            anna.send(bert, "once", idempotency="k1", priority="now"),
        ):
            assert (await refusal(changed)).error == "conflict"
        posted = [await anna.call("mesh.broadcast", message="all", idempotency="k2") for _ in range(2)]
        assert posted[0]["id"] == posted[1]["id"]
        await anna.deliver(bert, "end")
        await bert.wait_for(3)
        assert sorted(await bert.texts()) == ["all", "end", "once"]


async def test_batch_refuses_what_is_wrong_by_itself_and_sends_the_rest_in_order(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        await bert.call("mesh.topic.subscribe", topic="t")
        messages = [
            {"to": "@bert", "message": "0"},
            {"to": "@nobody", "message": "1"},
            {"to": "@bert", "message": "2", "priority": "now", "meta": {"a": 1}},
            {"to": "@bert", "topic": "t", "message": "3"},
            {"to": "@bert", "message": "4", "surplus": True},
            {"message": "5"},
            {"to": "@bert"},
            {"to": "@bert", "message": "7", "idempotency_key": "k"},
            {"to": "@bert", "message": "7", "idempotency_key": "k"},
            {"to": "@bert", "message": "other", "idempotency_key": "k"},
            {"topic": "t", "message": "10"},
            {"to": "@bert", "message": ""},
            {"to": "@bert", "message": "12", "priority": "urgent"},
        ]
        answer = await anna.call("mesh.send_batch", messages=messages)
        wrong = [index for index, item in enumerate(answer["items"]) if item["error"] is not None]
        assert wrong == [1, 3, 4, 5, 6, 9, 11, 12]
        assert (answer["accepted"], answer["refused"]) == (5, 8)
        assert answer["items"][7]["answer"]["id"] == answer["items"][8]["answer"]["id"]
        await bert.wait_for(4)
        texts = await bert.texts()
        assert sorted(texts) == ["0", "10", "2", "7"]
        assert [text for text in texts if text in {"0", "2"}] == ["0", "2"]


async def test_inbox_is_read_from_a_cursor_by_sender_and_by_topic_and_is_searched(
    cluster: NatsCluster | None,
) -> None:
    async with a_mesh("anna", "bert", "cleo", cluster=cluster) as mesh:
        anna, bert, cleo = mesh.peers.values()
        await bert.call("mesh.topic.subscribe", topic="alerts")
        for number in range(5):
            await anna.deliver(bert, f"apples {number}")
        await cleo.deliver(bert, "pears and plums")
        await cleo.call("mesh.topic.post", topic="alerts", message="plums on fire")
        await bert.wait_for(7)
        page = await bert.call("mesh.inbox", since="0", limit=4)
        assert ([one["text"] for one in page["items"]], page["more"]) == ([f"apples {n}" for n in range(4)], True)
        rest = await bert.call("mesh.inbox", since=str(page["cursor"]), limit=4)
        assert ([one["text"] for one in rest["items"]], rest["more"]) == (
            ["apples 4", "pears and plums", "plums on fire"],
            False,
        )
        newest = await bert.call("mesh.inbox", limit=2)
        assert [one["text"] for one in newest["items"]] == ["pears and plums", "plums on fire"]
        assert await bert.texts(from_="@cleo") == ["pears and plums", "plums on fire"]
        assert await bert.texts(topic="alerts") == ["plums on fire"]
        found = await bert.call("mesh.search", q="plums")
        assert [one["text"] for one in found["items"]] == ["plums on fire", "pears and plums"]


async def test_peer_that_starts_again_has_its_inbox_its_topics_and_sends_on(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        await bert.call("mesh.topic.subscribe", topic="t")
        await anna.deliver(bert, "1")
        await anna.call("mesh.topic.post", topic="t", message="2")
        await bert.wait_for(2)
        await bert.stop()
        await anna.call("mesh.topic.post", topic="t", message="3")
        await anna.stop()
        await anna.start()
        await anna.call("mesh.topic.post", topic="t", message="4")
        await anna.send(bert, "5")
        await bert.start()
        await bert.wait_for(5)
        texts = await bert.texts()
        assert texts[:2] == ["1", "2"]
        assert sorted(texts[2:]) == ["3", "4", "5"]
        assert [text for text in texts if text in {"3", "4"}] == ["3", "4"]
