"""Who is a member: invites, joining, names, removal, keys that rotate."""

from __future__ import annotations

import asyncio
import time

import msgspec
import pytest

from covey.kernel.clock import SystemClock
from covey.kernel.home import Home
from covey.mesh import membership
from covey.mesh.auth.invite import Invite
from covey.mesh.crypto.envelope import Body, new_message_id, seal_direct
from covey.mesh.crypto.identity import PublicKeys
from covey.mesh.link.errors import RefusedError
from covey.mesh.link.session import Session
from covey.mesh.membership_file import Membership
from murli import AgentError
from tests.covey.mesh.embedded_broker import RefusedError as RefusedByBroker
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, MeshOfPeers, a_mesh, refusal, until


async def test_invite_for_one_has_one_winner_of_eight_who_join_at_once(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", cluster=cluster) as mesh:
        token = await mesh.invite()
        homes = [Home(str(mesh.folder / f"j{number}")) for number in range(8)]
        answers = await asyncio.gather(
            *(membership.join(home, token, f"joiner-{number}") for number, home in enumerate(homes)),
            return_exceptions=True,
        )
        winners = [answer for answer in answers if isinstance(answer, Membership)]
        losers = [answer for answer in answers if isinstance(answer, AgentError)]
        assert (len(winners), len(losers)) == (1, 7)
        assert {error.error for error in losers} == {"conflict"}
        members = await mesh.authority.call("mesh.members")
        assert {one["name"] for one in members["items"]} == {"anna", winners[0].name}
        (invite,) = (await mesh.authority.call("mesh.invites"))["items"]
        assert (invite["uses"], invite["left"], invite["joined"]) == (1, 0, [winners[0].name])


async def test_invite_that_was_used_expired_or_cancelled_admits_nobody() -> None:
    async with a_mesh("anna") as mesh:
        used = await mesh.invite()
        await mesh.join("bert", used)
        assert (await refusal(mesh.join("cleo", used))).error == "conflict"
        assert not (mesh.folder / "cleo" / "mesh" / "team").exists(), "a join that was refused leaves nothing"

        made = await mesh.authority.call("mesh.invite")
        await mesh.authority.call("mesh.revoke", member=made["id"])
        cancelled = await refusal(mesh.join("dora", made["token"]))
        assert (cancelled.error, cancelled.message) == ("permission_denied", "this invite was cancelled")

        short = await mesh.invite(expires="1s")
        expires_at = Invite.decode(short).expires_at
        await until(lambda: time.time() > expires_at + 0.1, "the invite has expired")
        assert (await refusal(mesh.join("emil", short))).code != 0
        names = {one["name"] for one in (await mesh.authority.call("mesh.members"))["items"]}
        assert names == {"anna", "bert"}


async def test_expired_invite_is_refused_by_the_authority_also_if_the_broker_lets_it_pass() -> None:
    class Ahead(SystemClock):
        def time(self) -> float:
            return super().time() + 7200

    async with a_mesh("anna") as mesh:
        token = await mesh.invite(expires="1h")
        await mesh.authority.stop()
        mesh.authority.clock = Ahead()
        await mesh.authority.start()
        refused = await refusal(mesh.join("bert", token))
        assert (refused.error, refused.message) == ("permission_denied", "this invite has expired")


async def test_join_whose_answer_was_lost_can_be_repeated_with_the_same_invite() -> None:
    async with a_mesh("anna") as mesh:
        token = await mesh.invite()
        bert = await mesh.join("bert", token, start=False)
        member = bert.member
        (mesh.folder / "bert" / "mesh" / "team" / "membership.json").unlink()  # as if it was never written
        again = await mesh.join("bert", token)
        assert again.member == member
        await mesh.settled()
        await again.deliver(mesh.authority, "here I am")
        assert len((await mesh.authority.call("mesh.members"))["items"]) == 2


async def test_join_that_does_not_reach_the_broker_leaves_nothing_and_says_to_repeat_it() -> None:
    async with a_mesh("anna") as mesh:
        token = await mesh.invite()
        mesh.broker.kill()
        failed = await refusal(mesh.join("bert", token))
        assert (failed.error, failed.suggestion) == (
            "mesh_not_connected",
            "Repeat the join with the same invite when the broker is reached.",
        )
        assert not (mesh.folder / "bert" / "mesh" / "team").exists()
        await mesh.broker.start()
        await until(lambda: mesh.authority.peer.link.session is not None, "the authority is connected again")
        assert (await mesh.join("bert", token)).name == "bert"


async def test_join_that_is_refused_keeps_the_keys_of_one_whose_answer_was_lost() -> None:
    async with a_mesh("anna") as mesh:
        token = await mesh.invite()
        bert = await mesh.join("bert", token, start=False)
        member, folder = bert.member, mesh.folder / "bert" / "mesh" / "team"
        (folder / "membership.json").unlink()  # as if it was never written
        refused = await refusal(mesh.join("bert", await mesh.invite()))
        assert (refused.error, refused.message) == ("conflict", "bert is a member already")
        assert (folder / "keypair.json").exists()
        assert (await mesh.join("bert", token, start=False)).member == member


async def test_invite_for_several_is_used_up_by_as_many() -> None:
    async with a_mesh("anna") as mesh:
        token = await mesh.invite(uses=2, role="admin")
        bert = await mesh.join("bert", token)
        await mesh.join("cleo", token)
        assert (await refusal(mesh.join("dora", token))).error == "conflict"
        await mesh.settled()
        made = await bert.call("mesh.invite")  # an admin asks the authority
        dora = await mesh.join("dora", made["token"])
        await mesh.settled()
        for asking in (dora.call("mesh.invite"), dora.call("mesh.revoke", member="bert"), dora.call("mesh.invites")):
            assert (await refusal(asking)).error == "permission_denied"
        removed = await bert.call("mesh.revoke", member="cleo")
        assert (removed["name"], removed["epoch"]) == ("cleo", 2)
        assert (await refusal(bert.call("mesh.revoke", member="anna"))).error == "user_error"


async def test_rename_is_told_to_everybody_and_a_name_that_is_taken_is_refused(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", "cleo", cluster=cluster) as mesh:
        anna, bert, cleo = mesh.peers.values()
        for taken in ("anna", "ANNA", "cleo"):
            assert (await refusal(bert.call("mesh.rename", name=taken))).error == "conflict"
        await cleo.call("mesh.groups.join", name="Oncall")
        await until(lambda: anna.peer.directory.is_group("oncall"), "anna knows of the group")
        key = anna.member
        for confusing in ("oncall", key, key.lower(), key[:8], key[:6].lower()):
            assert (await refusal(bert.call("mesh.rename", name=confusing))).error in {"conflict", "user_error"}
        assert (await refusal(mesh.join("oncall"))).error == "conflict"
        assert (await refusal(bert.call("mesh.groups.join", name="Anna"))).error == "conflict"
        answer = await bert.call("mesh.rename", name="robert")
        assert (answer["old"], answer["name"], answer["member"]) == ("bert", "robert", bert.member)
        for peer in mesh.peers.values():
            event = await peer.wait_for_event("member_renamed", old="bert", name="robert")
            assert event["data"]["subject"] == bert.member
        bert.name = "robert"
        await anna.deliver(bert, "by the new name")
        assert (await refusal(anna.send("@bert", "by the old name"))).error == "not_found"
        assert (await refusal(mesh.join("Robert"))).error == "conflict"
        await bert.stop()
        await bert.start()
        assert (await bert.status())["name"] == "robert"
        await bert.deliver(cleo, "who am I")
        assert (await cleo.inbox())[-1]["from_name"] == "robert"


async def test_member_that_is_removed_is_cut_off_within_a_second_and_its_keys_are_worthless(
    cluster: NatsCluster | None,
) -> None:
    async with a_mesh("anna", "bert", "cleo", cluster=cluster) as mesh:
        anna, bert, cleo = mesh.peers.values()
        for peer in (bert, cleo):
            await peer.call("mesh.topic.subscribe", topic="plans")
        await anna.call("mesh.topic.post", topic="plans", message="for all three")
        for peer in (bert, cleo):
            await peer.wait_for(1)
        member, old_epochs = cleo.member, dict(cleo.peer.directory.epochs)
        answer = await anna.call("mesh.revoke", member="cleo")
        # A second is promised, and measured where nothing else runs.
        await until(lambda: cleo.peer.link.session is None, "cleo is disconnected", limit_s=5)
        assert (answer["member"], answer["epoch"]) == (member, 2)
        await until(lambda: cleo.peer.link.refused, "cleo knows that it is refused")
        sent = await cleo.send(bert, "let me in")
        assert "the broker refuses this member" in sent["status"]
        assert (await cleo.status())["problems"]
        with pytest.raises((RefusedError, RefusedByBroker)):
            await cleo.raw()

        await bert.wait_for_event("member_revoked", name="cleo", left=False)
        await bert.wait_for_event("topic_key_rotated", epoch=2)
        await anna.call("mesh.topic.post", topic="plans", message="for us two")
        await bert.wait_for(2)
        newest = anna.peer.directory.epoch
        assert newest is not None
        assert newest.epoch == 2
        assert newest.secret not in {one.secret for one in old_epochs.values()}
        assert 2 not in cleo.peer.directory.epochs
        assert await cleo.texts() == ["for all three"]
        assert (await refusal(anna.send("@cleo", "gone"))).error == "not_found"
        assert (await refusal(anna.send(member, "gone"))).error == "not_found"
        refused = await refusal(cleo.call("mesh.rename", name="cleopatra"))
        assert (refused.error, "new invite" in refused.suggestion) == ("mesh_refused", True)
        present = {one["name"] for one in (await anna.call("mesh.members"))["items"]}
        assert present == {"anna", "bert"}
        every = (await anna.call("mesh.members", revoked=True))["items"]
        assert [one["name"] for one in every if one["revoked_at"]] == ["cleo"]


async def test_messages_of_a_removed_member_are_read_by_its_name_and_its_key() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        await cleo.deliver(anna, "before")
        await bert.deliver(anna, "of somebody else")
        await anna.call("mesh.revoke", member="cleo")
        for reference in ("@cleo", "CLEO", cleo.member, cleo.member[:12]):
            assert await anna.texts(from_=reference) == ["before"], reference
        unknown = await refusal(anna.call("mesh.inbox", from_="@nobody"))
        assert (unknown.error, unknown.field) == ("not_found", "from")
        again = await mesh.join("cleo2")
        await again.call("mesh.rename", name="cleo")
        await until(lambda: anna.peer.directory.name_of(again.member) == "cleo", "the name is given again")
        await again.deliver(anna, "after")
        assert await anna.texts(from_="@cleo") == ["after"], "a present member comes first"
        assert await anna.texts(from_=cleo.member) == ["before"]


async def test_member_that_was_removed_stays_out_after_the_broker_was_killed() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        await anna.call("mesh.revoke", member="cleo")
        await cleo.stop()
        await anna.stop()
        mesh.broker.kill()
        await mesh.broker.start()
        with pytest.raises(RefusedByBroker):
            await cleo.raw()
        await cleo.start(connected=False)
        await until(lambda: cleo.peer.link.refused, "cleo is refused")
        await anna.start()
        await bert.deliver(anna, "without cleo")
        with pytest.raises(RefusedByBroker):
            await cleo.raw()


async def test_member_is_removed_also_if_the_clock_of_the_authority_was_set_back() -> None:
    class Behind(SystemClock):
        def time(self) -> float:
            return super().time() - 86_400

    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await anna.stop()
        anna.clock = Behind()
        await anna.start()
        await anna.call("mesh.revoke", member="bert")
        await until(lambda: bert.peer.link.session is None, "bert is disconnected")
        await until(lambda: bert.peer.link.refused, "bert is refused")
        with pytest.raises(RefusedByBroker):
            await bert.raw()


async def test_message_that_was_stored_for_a_removed_member_after_its_removal_is_refused() -> None:
    """The broker is not trusted: here it lets the removed member publish."""
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        early = await cleo.send(bert, "before the removal", wait="inbox", timeout_s=20)
        assert early["rung"] == "in_inbox"
        await anna.call("mesh.revoke", member="cleo")
        await bert.wait_for_event("member_revoked", name="cleo")
        await _publish_as_broker(mesh, cleo, bert, "after the removal")

        async def refused() -> bool:
            return (await bert.refused()).get("revoked_sender") == 1

        await until(refused, "it is refused")
        assert await bert.texts() == ["before the removal"]


async def _publish_as_broker(mesh: MeshOfPeers, sender: MemberPeer, to: MemberPeer, text: str) -> None:
    """Store an envelope under the sender's subject with the rights of the account's owner."""
    keys = to.keys
    envelope = seal_direct(
        sender.keys,
        PublicKeys.from_certificate(keys.certificate, keys.member),
        mesh=sender.membership.mesh,
        id=new_message_id(),
        at_ms=int(time.time() * 1000),
        ob="raw",
        n=1,
        body=Body(text=text),
    )
    owner = mesh.authority
    session = await Session.connect(owner.membership.address, owner.membership.credentials(owner.keys))
    try:
        await session.publish(f"dm.{to.member}.{sender.member}", envelope, deadline_s=5)
    finally:
        await session.aclose()


async def test_member_that_was_removed_can_join_again_with_a_new_invite() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await anna.call("mesh.revoke", member="bert")
        await until(lambda: bert.peer.link.session is None, "bert is disconnected")
        await bert.stop()
        (mesh.folder / "bert" / "mesh" / "team" / "membership.json").unlink()
        again = await mesh.join("bert")
        await mesh.settled()
        await again.deliver(anna, "back")
        await anna.deliver(again, "welcome")
        await anna.call("mesh.broadcast", message="all")
        await again.wait_for(2)


async def test_invite_moves_a_member_to_where_the_broker_is_now_and_is_not_used_up() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        token = await mesh.invite()
        await bert.stop()
        before = bert.membership
        msgspec.structs.replace(before, urls=["nats://127.0.0.1:1"], ca="AAAA").save(bert.seat)  # where it was once
        moved = await membership.join(bert.home, token, "another-name")
        assert moved == bert.membership == msgspec.structs.replace(before, urls=mesh.urls, ca="")
        await bert.start()
        await bert.deliver(anna, "here again")
        (invite,) = [one for one in (await anna.call("mesh.invites"))["items"] if one["left"]]
        assert (invite["uses"], invite["joined"]) == (1, [])


async def test_new_member_gets_no_broadcast_from_before_it_joined(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        await anna.call("mesh.broadcast", message="before")
        await bert.wait_for(1)
        cleo = await mesh.join("cleo", start=False)
        await anna.call("mesh.broadcast", message="while it does not run yet")
        await bert.wait_for(2)
        await cleo.start()
        await mesh.settled()
        await anna.call("mesh.broadcast", message="after")
        await cleo.wait_for(2)
        assert await cleo.texts() == ["while it does not run yet", "after"]


async def test_member_that_leaves_is_a_member_no_more() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await bert.stop()
        assert await membership.leave(bert.home, bert.slug)
        await anna.wait_for_event("member_revoked", name="bert", left=True)
        assert [one["name"] for one in (await anna.call("mesh.members"))["items"]] == ["anna"]
        assert not await membership.leave(anna.home, anna.slug)  # who owns it stays


async def test_keys_rotate_while_messages_are_under_way(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        first = bert.keys.current.key_id

        async def flood() -> None:
            for number in range(60):
                await anna.send(bert, f"a{number}")
                await bert.send(anna, f"b{number}")

        flooding = asyncio.create_task(flood())
        for _ in range(3):
            await bert.call("mesh.keys.rotate")
            await anna.call("mesh.keys.rotate")
            await asyncio.sleep(0.02)
        await flooding
        await anna.wait_for(60)
        await bert.wait_for(60)
        assert await bert.texts() == [f"a{number}" for number in range(60)]
        assert await anna.texts() == [f"b{number}" for number in range(60)]
        assert anna.peer.receiver.refused == bert.peer.receiver.refused == 0
        shown = {one["name"]: one["key"] for one in (await anna.call("mesh.members"))["items"]}
        assert shown["bert"] == bert.keys.current.key_id != first
        cleo = await mesh.join("cleo")  # knows the newest keys only
        await mesh.settled()
        await cleo.deliver(bert, "to the newest key")
        await bert.deliver(cleo, "from the newest key")
        await anna.call("mesh.broadcast", message="to all")
        await cleo.wait_for(2)


async def test_messages_sealed_for_a_former_key_are_read_after_the_rotation() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await bert.stop()
        await anna.send(bert, "for the old key", wait="broker", timeout_s=20)
        rotated = bert.keys.rotated(time.time())
        rotated.save(bert.seat.directory + "/keypair.json")
        await bert.start()
        await bert.wait_for(1)
        await anna.call("mesh.keys.rotate")
        await anna.deliver(bert, "for the new key")
        assert await bert.texts() == ["for the old key", "for the new key"]


async def test_messages_of_a_sender_whose_keys_rotated_meanwhile_are_read_by_who_was_away() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        await bert.stop()
        for text in ("first key", "second key", "third key"):
            await anna.send(bert, text, wait="broker", timeout_s=20)
            await anna.call("mesh.keys.rotate")
        await anna.send(bert, "fourth key", wait="broker", timeout_s=20)
        await bert.start()
        await bert.wait_for(4)
        assert await bert.texts() == ["first key", "second key", "third key", "fourth key"]
        cleo = await mesh.join("cleo")  # reads the newest profile only
        await mesh.settled()
        assert all(cleo.peer.directory.key_of(anna.member, key.key_id) for key in anna.keys.encryption)
