"""What happens to messages that cannot be sent: limits, age, dead letters, and messages that are too large."""

from __future__ import annotations

from covey.kernel.clock import SystemClock
from tests.covey.mesh.peers.mesh_of_peers import a_mesh, refusal, until

HOUR_S = 3600.0


class AheadClock(SystemClock):
    """The clock of the machine, so many seconds ahead."""

    def __init__(self, ahead_s: float = 0.0) -> None:
        self.ahead_s = ahead_s

    def time(self) -> float:
        return super().time() + self.ahead_s


async def test_outbox_that_is_full_refuses_and_takes_messages_again_when_the_broker_is_back() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        anna.configure(outbox__max_queue_size=5)
        await anna.call("reload")
        mesh.broker.kill()
        await until(lambda: anna.peer.link.session is None, "the connection is lost")
        for number in range(5):
            answer = await anna.send(bert, str(number))
            assert (answer["rung"], answer["queued"]) == ("stored", True)
        assert answer["status"] == "queued in our outbox: the broker is not reached"
        refused = await refusal(anna.send(bert, "too many"))
        assert (refused.error, refused.recoverable) == ("queue_full", True)
        listed = await anna.call("mesh.outbox")
        assert (listed["pending"], len(listed["items"]), listed["dead"]) == (5, 5, 0)
        assert (await anna.call("health"))["queue_depth"] == 5
        await mesh.broker.start()
        await bert.wait_for(5)
        await anna.deliver(bert, "5")
        assert await bert.texts() == [str(number) for number in range(6)]


async def test_message_that_is_too_old_is_dead_and_does_not_hold_up_later_ones() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await anna.stop()
        clock = anna.clock = AheadClock()
        anna.configure(outbox__max_age_hours=1)
        await anna.start()
        mesh.broker.kill()
        await until(lambda: anna.peer.link.session is None, "the connection is lost")
        ids = [(await anna.send(bert, text))["id"] for text in ("requeued", "dropped", "left")]
        clock.ahead_s += 2 * HOUR_S

        async def dead() -> bool:
            return bool((await anna.call("mesh.outbox", status="dead"))["dead"] == len(ids))

        await until(dead, "the messages are dead")
        receipt = await anna.call("mesh.receipt", id=ids[0])
        assert receipt["state"] == "dead"
        assert receipt["status"].startswith("given up: ")
        later = (await anna.send(bert, "later"))["id"]
        assert (await anna.call("mesh.outbox.requeue", id=[ids[0]]))["ids"] == [ids[0]]
        assert (await anna.call("mesh.outbox.drop", id=[ids[1]]))["ids"] == [ids[1]]
        assert (await refusal(anna.call("mesh.receipt", id=ids[1]))).error == "not_found"
        await mesh.broker.start()
        messages = await bert.wait_for(2)
        assert [message["text"] for message in messages] == ["later", "requeued"]
        assert [message["id"] for message in messages] == [later, ids[0]]
        assert not any(message["late"] for message in messages)
        listed = await anna.call("mesh.outbox", status="dead")
        assert [row["id"] for row in listed["items"]] == [ids[2]]
        assert (await anna.call("mesh.outbox.drop", all=True))["ids"] == [ids[2]]


async def test_pending_message_that_is_dropped_does_not_hold_up_later_ones() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await anna.deliver(bert, "before")
        mesh.broker.kill()
        await until(lambda: anna.peer.link.session is None, "the connection is lost")
        first, second = (await anna.send(bert, "dropped"))["id"], (await anna.send(bert, "kept"))["id"]
        assert (await anna.call("mesh.outbox.drop", id=[first]))["ids"] == [first]
        await mesh.broker.start()
        await bert.wait_for(2)
        assert await bert.texts() == ["before", "kept"]
        receipt = await anna.call("mesh.receipt", id=second, wait="inbox", timeout_s=20)
        assert receipt["rung"] == "in_inbox"


async def test_message_that_is_too_large_is_refused_and_the_largest_arrives() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        largest = "x" * 999_900
        await anna.deliver(bert, largest)
        for text in ("x" * 1_048_576, "\x00" * 200_000):  # each of these characters has six bytes in JSON
            assert (await refusal(anna.send(bert, text))).error == "user_error"
        wrong = {"to": "@bert", "message": "y" * 1_048_576}
        answer = await anna.call("mesh.send_batch", messages=[{"to": "@bert", "message": "small"}, wrong])
        assert (answer["accepted"], answer["refused"]) == (1, 1)
        await bert.wait_for(2)
        assert await bert.texts() == [largest, "small"]


async def test_message_to_a_member_that_has_left_is_dead_with_the_reason() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        await cleo.vanish()
        mesh.broker.kill()
        await until(lambda: bert.peer.link.session is None, "the connection is lost")
        gone, other = (await bert.send(cleo, "gone"))["id"], (await bert.send(anna, "other"))["id"]
        await bert.stop()
        await mesh.broker.start()
        await until(lambda: anna.peer.link.session is not None, "anna is connected")
        await anna.call("mesh.revoke", member="cleo")
        await bert.start()

        async def dead() -> bool:
            return bool((await bert.call("mesh.receipt", id=gone))["state"] == "dead")

        await until(dead, "the message is dead")
        assert "cleo is not in the mesh any more" in (await bert.call("mesh.receipt", id=gone))["status"]
        assert (await bert.call("mesh.receipt", id=other, wait="inbox", timeout_s=20))["rung"] == "in_inbox"
        assert (await bert.call("mesh.outbox"))["pending"] == 0


async def test_clock_of_a_member_that_is_a_day_off_does_not_stop_its_messages() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        for peer, ahead_s in ((bert, 24 * HOUR_S), (cleo, -24 * HOUR_S)):
            await peer.stop()
            peer.clock = AheadClock(ahead_s)
            await peer.start()
        for sender in mesh.peers.values():
            for recipient in mesh.peers.values():
                if sender is not recipient:
                    await sender.deliver(recipient, f"{sender.name} to {recipient.name}")
        await bert.call("mesh.rename", name="berta")
        bert.name = "berta"
        await cleo.call("mesh.rename", name="clea")
        await cleo.wait_for_event("member_renamed", name="berta")
        assert all(one["online"] for one in (await anna.call("mesh.peers"))["items"])
        await anna.call("mesh.broadcast", message="to all")
        for peer in (bert, cleo):
            await peer.wait_for(3)
