"""Replicas: equal at all peers, whatever happens to the broker, to a peer, or is done by a member that means harm."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.nkeys import SigningKey, encode_mesh_id
from covey.mesh.crypto.records import MemberRecord, sign_record
from covey.mesh.crypto.topic_keys import EpochSecret
from covey.mesh.directory.directory import Directory
from covey.mesh.services.document import (
    document_subject,
    document_token,
    open_document,
    seal_document,
    subject_token,
)
from murli import EXIT_CONFLICT
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, refusal, until
from tests.covey.mesh.peers.services.test_state import equal, has


async def newest(peer: MemberPeer, key: str) -> bytes:
    """The newest version of a value, as the broker has it."""
    session, epoch = peer.peer.link.session, peer.peer.directory.epoch
    assert session is not None
    assert epoch is not None
    subject = subject_of(peer, key)
    found = await session.newest_stored("SHARED", subject)
    assert found is not None
    return found.data


def subject_of(peer: MemberPeer, key: str) -> str:
    epoch = peer.peer.directory.epoch
    assert epoch is not None
    return document_subject("state", document_token("state", key, epoch.topic_name_key), private=False)


async def test_replicas_are_equal_after_restarts_and_a_cut_connection(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", "carl", cluster=cluster) as mesh:
        anna, bob, carl = mesh.peers.values()
        for number in range(10):
            await anna.call("mesh.state.set", key=f"k{number}", value=number)
        await bob.stop()
        await carl.vanish()
        for number in range(5, 15):
            await anna.call("mesh.state.set", key=f"k{number}", value=-number)
        await anna.call("mesh.state.delete", key="k0")
        await bob.start()
        await carl.start()
        late = await mesh.join("dora")
        await has(late, "k14", -14)
        await equal(mesh)
        assert len((await late.call("mesh.state.list"))["items"]) == 14


async def test_what_a_broker_has_lost_is_published_again_by_the_peers() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        await carl.call("mesh.state.set", key="by one who was removed", value=0)
        await anna.call("mesh.state.set", key="k", value="old")
        await has(bob, "k", "old")
        await carl.stop()
        del mesh.peers["carl"]
        await anna.call("mesh.revoke", member="@carl")
        await bob.stop()
        await anna.call("mesh.state.set", key="k", value="new")  # bob does not know it
        await anna.call("mesh.state.set", key="deleted", value=1)
        await anna.call("mesh.state.delete", key="deleted")
        mesh.broker.kill()
        for store in mesh.broker.files.directory.rglob("jetstream"):
            shutil.rmtree(store)
        await mesh.broker.start()
        await bob.start()
        await until(lambda: anna.peer.link.session is not None, "anna is connected")
        await has(bob, "k", "new")
        late = await mesh.join("dora")
        await has(late, "k", "new")
        await has(late, "by one who was removed", 0)
        await equal(mesh)
        assert [one["key"] for one in (await late.call("mesh.state.list"))["items"]] == ["by one who was removed", "k"]
        await late.call("mesh.state.set", key="k", value="newer")
        await has(anna, "k", "newer")


async def test_junk_and_old_versions_that_a_member_publishes_are_refused_and_replaced() -> None:
    async with a_mesh("anna", "bob", "mallory") as mesh:
        anna, bob, mallory = mesh.peers.values()
        await anna.call("mesh.state.set", key="k", value="first")
        old = await newest(anna, "k")
        await anna.call("mesh.state.set", key="k", value="second")
        good = await newest(anna, "k")
        await has(bob, "k", "second")
        await mallory.stop()
        raw = await mallory.raw()
        subject = subject_of(anna, "k")
        for junk in (b"junk", b"", old, good[:-1] + b"x", good.replace(b"CVM1", b"CVM2")):
            assert await raw.store(subject, junk)
            await until_newest(anna, "k", good)
        for peer in (anna, bob):
            assert (await peer.call("mesh.state.get", key="k"))["value"] == "second"
            assert len([one for one in await peer.events("state_changed") if one["data"]["subject"] == "k"]) == 2
        assert await raw.store(subject, b"junk again")
        await bob.call("mesh.state.set", key="k", value="third")  # what nobody can read does not stand in the way
        await has(anna, "k", "third")
        refused = await refusal(bob.call("mesh.state.set", key="k", value="fourth", expect=1))
        assert refused.code == EXIT_CONFLICT
        await raw.client.close()


async def until_newest(peer: MemberPeer, key: str, wire: bytes) -> None:
    async def same() -> bool:
        return await newest(peer, key) == wire

    await until(same, "the good version is the newest again")


async def test_a_document_under_another_key_service_or_time_is_refused() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await anna.call("mesh.state.set", key="k", value=1)
        directory, keys = anna.peer.directory, anna.keys
        assert directory.epoch is not None
        now = int(anna.peer.services.documents.now() * 1000)
        forged = []
        for key, service, written in (("other", "state", now), ("k2", "memory", now), ("k3", "state", now + 10**8)):
            token = document_token("state", key if key != "other" else "k", directory.epoch.topic_name_key)
            _, wire = seal_document(
                keys,
                directory.epoch,
                directory.mesh,
                token,
                service,
                key,
                {"value": "forged"},
                written=written,
                private=False,
            )
            forged.append((document_subject("state", token, private=False), wire))
        await anna.stop()
        raw = await anna.raw()
        for subject, wire in forged:
            await raw.store(subject, wire)
        await until(lambda: bob.peer.services.documents.refused >= 3, "all are refused")
        assert [one["value"] for one in (await bob.call("mesh.state.list"))["items"]] == [1]
        await raw.client.close()


async def test_a_damaged_replica_is_moved_aside_and_filled_anew() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await anna.call("mesh.state.set", key="k", value="v")
        await bob.stop()
        path = Path(bob.seat.directory) / "services.db"
        for part in path.parent.glob("services.db*"):
            part.unlink()
        path.write_bytes(b"this is no database" * 100)
        await bob.start()
        await has(bob, "k", "v")
        assert list(path.parent.glob("services.db.corrupt-*"))


@pytest.mark.parametrize("private", [False, True])
def test_a_sealed_document_opens_to_what_was_written(private: bool) -> None:  # noqa: FBT001
    mesh = _Alone()
    token = mesh.token("state", "k", private=private)
    _, wire = seal_document(
        mesh.keys, mesh.epoch, mesh.directory.mesh, token, "state", "k", {"value": 1}, written=5, private=private
    )
    subject = document_subject("state", token, private=private)
    opened = open_document(subject, wire, mesh.keys, mesh.directory)
    assert opened is not None
    assert (opened.service, opened.key, opened.value, opened.written) == ("state", "k", {"value": 1}, 5)
    assert opened.author == mesh.keys.member
    assert b"value" not in wire


class _Alone:
    """A mesh with one member, without a broker."""

    def __init__(self) -> None:
        authority = SigningKey.generate("U")
        self.keys = KeyPair.generate(1.0)
        self.epoch = EpochSecret.first()
        mesh = encode_mesh_id(authority.public_bytes)
        self.directory = Directory(mesh, authority.public_bytes, self.keys)
        self.directory.epochs[1] = self.epoch
        record = MemberRecord(mesh=mesh, member=self.keys.member, name="anna", role="member", number=1, joined_at=1.0)
        self.directory.apply(f"a.member.{self.keys.member}", sign_record(authority, "member", record))

    def token(self, service: str, key: str, *, private: bool) -> str:
        return subject_token(self.keys, self.epoch, service, key, private=private)
