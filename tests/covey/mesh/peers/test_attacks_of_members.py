"""What a member with valid credentials cannot do: forged, relabelled, replayed and broken envelopes are refused."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from covey.mesh.crypto.envelope import Body, new_message_id, seal_direct, seal_topic
from covey.mesh.crypto.identity import PublicKeys
from tests.covey.mesh.embedded_broker import Connection
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, MeshOfPeers, a_mesh, until

SECRET_TEXT = "the launch code is 0451 swordfish"
SECRET_TOPIC = "launchcodes"


def _public(peer: MemberPeer) -> PublicKeys:
    keys = peer.keys
    return PublicKeys.from_certificate(keys.certificate, keys.member)


def _sealed(sender: MemberPeer, to: MemberPeer, text: str, n: int = 1, mesh: str = "", ob: str = "raw") -> bytes:
    """Return an envelope as the sender's own peer would make it."""
    return seal_direct(
        sender.keys,
        _public(to),
        mesh=mesh or sender.membership.mesh,
        id=new_message_id(),
        at_ms=1_767_225_600_000,
        ob=ob,
        n=n,
        body=Body(text=text),
    )


async def _refused(peer: MemberPeer, reason: str, count: int) -> None:
    async def counted() -> bool:
        return (await peer.refused()).get(reason, 0) == count

    await until(counted, f"{count} refused as {reason}: {await peer.refused()}")


async def test_text_and_topics_are_nowhere_in_the_files_of_the_broker(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        await bert.call("mesh.topic.subscribe", topic=SECRET_TOPIC)
        await anna.deliver(bert, SECRET_TEXT, meta={"secretmeta": 1})
        await anna.call("mesh.topic.post", topic=SECRET_TOPIC, message=SECRET_TEXT)
        await anna.call("mesh.broadcast", message=SECRET_TEXT)
        await bert.wait_for(3)
        files = [file for store in mesh.stores() for file in store.rglob("*") if file.is_file()]
        member = anna.member.encode()
        blocks = [data for file in files if member in (data := _content(file))]
        assert blocks, "the messages are in these files"
        for word in (SECRET_TEXT, "swordfish", SECRET_TOPIC, "secretmeta"):
            assert not [file for file in files if word.encode() in _content(file)]


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:  # the server replaces its files
        return b""


async def test_envelope_of_another_sender_is_refused_under_the_own_subject(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", "cleo", cluster=cluster) as mesh:
        anna, bert, cleo = mesh.peers.values()
        raw = await cleo.raw()
        try:
            envelope = _sealed(anna, bert, "I am anna")
            assert (await raw.store(f"dm.{bert.member}.{cleo.member}", envelope)).get("stream") == "DM"
            await _refused(bert, "mesh_forged", 1)
            assert await raw.store(f"dm.{bert.member}.{anna.member}", envelope) == {}
        finally:
            await raw.client.close()
        await _still_works(mesh, 1)


async def test_envelope_that_was_changed_is_refused() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        raw = await anna.raw()
        try:
            envelope = _sealed(anna, bert, "one")
            subject = f"dm.{bert.member}.{anna.member}"
            header = envelope.replace(b'"n":1', b'"n":7', 1)
            assert header != envelope
            box = envelope[:-70] + bytes([envelope[-70] ^ 1]) + envelope[-69:]
            signature = envelope[:-1] + bytes([envelope[-1] ^ 1])
            for changed in (header, box, signature):
                await raw.store(subject, changed)
            await _refused(bert, "mesh_forged", 3)
            await raw.store(subject, _sealed(anna, bert, "of another mesh", mesh="a" * 52))
            await _refused(bert, "mesh_wrong_mesh", 1)
        finally:
            await raw.client.close()
        await _still_works(mesh, 4)


async def test_envelope_that_is_stored_again_under_a_new_id_arrives_once(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", cluster=cluster) as mesh:
        anna, bert = mesh.peers.values()
        raw = await anna.raw()
        try:
            envelope = _sealed(anna, bert, "once")
            for _ in range(3):
                headers = {"Nats-Msg-Id": new_message_id()}
                answer = await raw.store(f"dm.{bert.member}.{anna.member}", envelope, headers)
                assert not answer.get("duplicate")
            await until(lambda: bert.peer.inbox.duplicates == 2, "the duplicates are counted")
            assert await bert.texts() == ["once"]
        finally:
            await raw.client.close()


async def test_envelope_of_one_mesh_is_refused_in_another_with_the_same_members() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        envelope = _sealed(anna, bert, "for the first mesh")
        async with a_mesh("anna", "bert") as other:
            anna_there, bert_there = other.peers.values()
            raw = await anna_there.raw()
            try:
                await raw.store(f"dm.{bert_there.member}.{anna_there.member}", envelope)
            finally:
                await raw.client.close()
            await _refused(bert_there, "mesh_wrong_mesh", 1)
            assert await bert_there.inbox() == []


async def test_broken_and_oversized_bytes_are_refused_and_reading_goes_on() -> None:
    async with a_mesh("anna", "bert") as mesh:
        anna, bert = mesh.peers.values()
        token = next(iter(bert.peer.state.read_topics(bert.peer.directory)))
        good = _sealed(anna, bert, "good", ob="other")
        bad = [b"", b"x", b"CVM1", b"CVM1" + bytes(100), os.urandom(500), good[:-1], good + b"x", b"{}" * 50]
        bad += [good[:size] for size in range(1, len(good), 97)]
        bad.append(os.urandom(1_048_000))
        raw = await anna.raw()
        try:
            for data in bad:
                assert (await raw.store(f"dm.{bert.member}.{anna.member}", data)).get("stream") == "DM"
                assert (await raw.store(f"t.{token}.{anna.member}", data)).get("stream") == "TOPICS"
            await raw.store(f"dm.{bert.member}.{anna.member}", _topic_envelope(anna, token))
            await raw.store(f"t.{token}.{anna.member}", good)

            def counted() -> bool:
                return bert.peer.receiver.refused == 2 * len(bad) + 2

            await until(counted, "all are counted")
        finally:
            await raw.client.close()
        assert (await bert.status())["inbox"]["unreadable"] == 2 * len(bad) + 2
        await _still_works(mesh, 2 * len(bad) + 2)


def _topic_envelope(sender: MemberPeer, token: str) -> bytes:
    epoch = sender.peer.directory.epoch
    assert epoch is not None
    return seal_topic(
        sender.keys,
        mesh=sender.membership.mesh,
        id=new_message_id(),
        at_ms=1,
        ob="raw",
        n=1,
        token=token,
        epoch=epoch.epoch,
        topic_key=epoch.key(token),
        body=Body(text="topic"),
    )


async def test_member_cannot_publish_or_read_as_another_nor_sign_others_in(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bert", "cleo", cluster=cluster) as mesh:
        anna, bert, cleo = mesh.peers.values()
        raw = await cleo.raw()
        try:
            for subject in (f"m.{bert.member}", f"p.{bert.member}", f"rc.{anna.member}.{bert.member}", "a.mesh"):
                assert await raw.store(subject) == {}
            assert await raw.store(f"a.member.{cleo.member}") == {}
            for subject in (f"dm.{bert.member}.*", ">", "$SYS.>", f"_INBOX.{bert.member}.>"):
                assert not await raw.may_subscribe(subject)
            assert await raw.api("STREAM.DELETE.DM") is None
            assert await raw.api("STREAM.PURGE.DM") is None
        finally:
            await raw.client.close()
        await _still_works(mesh, 0)


async def test_member_cannot_overwrite_records_of_the_authority_with_acknowledgements() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, _, cleo = mesh.peers.values()
        raw = await cleo.raw()
        before = await _authority_records(anna)
        try:
            for subject in ("a.mesh", f"a.member.{anna.member}", f"a.grant.{anna.member}.1"):
                await raw.client.publish(f"p.{cleo.member}", b"x", reply=subject)
            await raw.settle()
        finally:
            await raw.client.close()
        assert await _authority_records(anna) == before
        dora = await mesh.join("dora")
        await mesh.settled()
        await dora.deliver(anna, "hello")


async def _authority_records(peer: MemberPeer) -> dict[str, bytes | None]:
    session = peer.peer.link.require()
    subjects = ["a.mesh", f"a.member.{peer.member}", f"a.grant.{peer.member}.1"]
    return {subject: await session.newest("AUTHORITY", subject) for subject in subjects}


async def test_forged_receipts_and_presence_change_nothing() -> None:
    async with a_mesh("anna", "bert", "cleo") as mesh:
        anna, bert, cleo = mesh.peers.values()
        await bert.stop()
        sent = await anna.send(bert, "waiting", wait="broker", timeout_s=20)
        raw = await cleo.raw()
        junk = msgspec.json.encode({"mesh": anna.membership.mesh, "upto": 1000}) + b"\n" + b"A" * 88
        try:
            await _ignored(raw, f"rc.{anna.member}.{cleo.member}", junk)
            await _ignored(raw, f"p.{cleo.member}", junk)
            await _ignored(raw, f"m.{cleo.member}", junk)
            await _ignored(raw, f"h.{cleo.member}", junk)
        finally:
            await raw.client.close()
        assert (await anna.call("mesh.receipt", id=sent["id"]))["rung"] == "at_broker"
        await cleo.deliver(anna, "cleo is still heard")
        await anna.deliver(cleo, "and hears")


async def _ignored(raw: Connection, subject: str, data: bytes) -> None:
    assert (await raw.store(subject, data)).get("seq"), subject


async def _still_works(mesh: MeshOfPeers, refused: int) -> None:
    """Nothing of the attack is in the inbox, and messages flow."""
    anna, bert = list(mesh.peers.values())[:2]
    await anna.deliver(bert, "after the attack")
    assert await bert.texts() == ["after the attack"]
    assert bert.peer.receiver.refused == refused
