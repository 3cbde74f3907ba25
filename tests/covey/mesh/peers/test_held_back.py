"""Direct messages that came before an earlier one: what the recipient says of them, and what the sender is told."""

from __future__ import annotations

import time

from covey.kernel.clock import timestamp
from covey.mesh.crypto.envelope import Body, new_message_id, seal_direct
from covey.mesh.crypto.identity import PublicKeys
from covey.mesh.link.session import Session
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, until


async def _publish(sender: MemberPeer, to: MemberPeer, *numbers: int) -> None:
    """Store messages with these numbers, as an outbox of the sender does that could not send those between."""
    certificate = PublicKeys.from_certificate(to.keys.certificate, to.member)
    session = await Session.connect(sender.membership.address, sender.membership.credentials(sender.keys))
    try:
        for n in numbers:
            envelope = seal_direct(
                sender.keys,
                certificate,
                mesh=sender.membership.mesh,
                id=new_message_id(),
                at_ms=1_767_225_600_000,
                ob="raw",
                n=n,
                body=Body(text=str(n)),
            )
            await session.publish(f"dm.{to.member}.{sender.member}", envelope, deadline_s=5)
    finally:
        await session.aclose()


async def test_messages_that_are_held_back_are_told_by_inbox_and_status_until_the_earlier_one_has_come() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, _ = mesh.peers.values()
        for count, number in enumerate((2, 3, 5), 1):  # none of them releases another
            await _publish(anna, bert, number)

            async def held_now(count: int = count) -> bool:
                return bool((await bert.status())["inbox"]["held"] == count)

            await until(held_now, f"{count} are held")
        answer = await bert.call("mesh.inbox")
        (held,) = answer["held_from"]
        assert (answer["items"], held["name"], held["member"], held["messages"]) == ([], "anna", anna.member, 3)
        assert held["until"] > timestamp(time.time())
        assert (await bert.status())["inbox"]["held_from"] == [held]
        assert (await bert.call("mesh.inbox", from_="@anna"))["held_from"] == [held]
        assert (await bert.call("mesh.inbox", from_="@cleo"))["held_from"] == []
        assert (await bert.call("mesh.inbox", topic="news"))["held_from"] == [], "messages of topics are not held"
        await bert.stop()
        await bert.start()
        assert (await bert.call("mesh.inbox"))["held_from"] == [held]
        await _publish(anna, bert, 1)
        await bert.wait_for(3)
        (left,) = (await bert.call("mesh.inbox"))["held_from"]
        assert left["messages"] == (await bert.status())["inbox"]["held"] == 1
        await _publish(anna, bert, 4)
        assert [one["text"] for one in await bert.wait_for(5)] == ["1", "2", "3", "4", "5"]
        assert (await bert.call("mesh.inbox"))["held_from"] == []
        assert (await bert.status())["inbox"]["held"] == 0
