"""What a member, a revoked one, a thief and the holder of an invite can do at a real broker."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from nats.errors import NoRespondersError

from covey.mesh.auth.jwt import user_jwt
from covey.mesh.auth.permissions import AUTHORITY, CONSUMER_SUFFIXES, consumer_name, inbox_prefix
from covey.mesh.broker.streams import CHUNK_BYTES, STREAMS, authority_subject, ensure_streams
from covey.mesh.crypto.nkeys import SigningKey
from tests.covey.mesh.embedded_broker import Connection, Mesh, RefusedError, connect, open_broker, open_mesh


def consumer(stream: str, name: str, subject: str = "", **more: Any) -> dict[str, Any]:
    """A request for a consumer in cursor mode."""
    config = {"name": name, "ack_policy": "none", "mem_storage": True, "deliver_policy": "all", **more}
    if subject:
        config["filter_subject"] = subject
    return {"stream_name": stream, "config": config}


async def newest(reader: Connection, stream: str, subject: str) -> bytes | None:
    reply = await reader.ask(f"$JS.API.DIRECT.GET.{stream}.{subject}")
    return None if reply is None or (reply.headers or {}).get("Status") else reply.data


async def test_a_member_publishes_as_itself_and_never_as_another(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, _, anna, bert):
        me, other = anna.key.public, bert.key.public
        for subject in (f"dm.{other}.{me}", f"t.abc.{me}", f"m.{me}", f"p.{me}", f"h.{me}", f"rc.{other}.{me}"):
            assert await anna.store(subject), subject
        for subject in (
            f"dm.{me}.{other}",
            f"t.abc.{other}",
            f"m.{other}",
            f"p.{other}",
            f"h.{other}",
            f"rc.{me}.{other}",
        ):
            assert await anna.store(subject) == {}, subject
        assert await anna.ask(f"ask.{other}") is None
        with pytest.raises(NoRespondersError):  # it may ask, and nobody listens
            await anna.ask(f"q.{other}.{me}")
        assert await anna.ask(f"q.{me}.{other}") is None


async def test_a_member_reads_its_own_inbox_with_eight_consumers(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, _, anna, bert):
        me, other = anna.key.public, bert.key.public
        await bert.store(f"dm.{me}.{other}", b"hello")
        for number in range(len(CONSUMER_SUFFIXES)):
            name = consumer_name(me, number)
            created = await anna.api(f"CONSUMER.CREATE.DM.{name}.dm.{me}.*", consumer("DM", name, f"dm.{me}.*"))
            assert created is not None
            assert created["num_pending"] == 1
            assert (await anna.pull("DM", name)).data == b"hello"
        assert (await anna.api(f"CONSUMER.DELETE.DM.{me}") or {}).get("success")


async def test_a_member_cannot_read_the_inbox_of_another(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, owner, anna, bert):
        me, other = anna.key.public, bert.key.public
        await owner.store(f"dm.{other}.{owner.key.public}", b"secret")
        created = await bert.api(f"CONSUMER.CREATE.DM.{other}.dm.{other}.*", consumer("DM", other, f"dm.{other}.*"))
        assert created is not None
        theirs = f"dm.{other}.*"
        for subject, request in (
            (f"CONSUMER.CREATE.DM.{me}.{theirs}", consumer("DM", me, theirs)),
            (f"CONSUMER.CREATE.DM.{me}", consumer("DM", me, theirs)),
            (f"CONSUMER.CREATE.DM.{me}", consumer("DM", me)),
            ("CONSUMER.CREATE.DM", consumer("DM", "", theirs)),
            (f"CONSUMER.DURABLE.CREATE.DM.{me}", consumer("DM", me, theirs)),
            (f"CONSUMER.CREATE.DM.{other}.dm.{me}.*", consumer("DM", other, f"dm.{me}.*")),
            (f"CONSUMER.MSG.NEXT.DM.{other}", None),
            (f"CONSUMER.INFO.DM.{other}", None),
            (f"CONSUMER.DELETE.DM.{other}", None),
            ("STREAM.MSG.GET.DM", {"seq": 1}),
            ("DIRECT.GET.DM", {"seq": 1}),
            (f"DIRECT.GET.DM.dm.{other}.{owner.key.public}", None),
            ("STREAM.INFO.DM", {"subjects_filter": ">"}),
            ("STREAM.INFO.RECEIPTS", {"subjects_filter": ">"}),
            (f"DIRECT.GET.RECEIPTS.rc.{other}.{me}", None),
            ("CONSUMER.LIST.DM", None),
            ("STREAM.LIST", None),
            ("STREAM.SNAPSHOT.DM", {"deliver_subject": f"{inbox_prefix(me)}.x"}),
        ):
            assert await anna.api(subject, request) is None, subject
        # The words in the subject are allowed, those in the body are not: the server compares them.
        mine = f"dm.{me}.*"
        for request in (
            consumer("DM", me, theirs),
            consumer("DM", me),
            consumer("DM", me, filter_subjects=[theirs]),
            consumer("DM", me, mine, filter_subjects=[theirs]),
            consumer("DM", me, mine, durable_name=other),
        ):
            answer = await anna.api(f"CONSUMER.CREATE.DM.{me}.{mine}", request)
            assert answer is not None
            assert "error" in answer
        answer = await anna.api(f"CONSUMER.CREATE.DM.{me}.{mine}", consumer("DM", other, mine))
        assert answer is not None
        assert answer["name"] == me
        answer = await anna.api(f"CONSUMER.CREATE.TOPICS.{me}", consumer("DM", me, theirs))
        assert answer is not None
        assert "error" in answer
        reply = await anna.ask(f"$JS.API.DIRECT.GET.RECEIPTS.rc.{me}.{other}", b'{"seq":1}')
        assert reply is not None
        assert (reply.headers or {})["Status"] == "408"
        for subject in (
            theirs,
            "dm.>",
            ">",
            f"rc.{other}.*",
            f"q.{other}.*",
            f"{inbox_prefix(other)}.>",
            "_INBOX.>",
            "$JS.>",
            "ask.*",
        ):
            assert not await anna.may_subscribe(subject), subject
        for subject in (f"rc.{me}.*", f"q.{me}.*", "p.*", "m.*", "a.>", f"{inbox_prefix(me)}.>"):
            assert await anna.may_subscribe(subject), subject


async def test_a_member_cannot_delete_purge_or_change_a_stream(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, owner, anna, bert):
        me = anna.key.public
        await bert.store(f"m.{bert.key.public}", b"profile")
        for stream in STREAMS:
            for subject, request in (
                (f"STREAM.DELETE.{stream}", None),
                (f"STREAM.PURGE.{stream}", {}),
                (f"STREAM.UPDATE.{stream}", {"name": stream, "subjects": ["x"]}),
                (f"STREAM.MSG.DELETE.{stream}", {"seq": 1}),
            ):
                assert await anna.api(subject, request) is None, subject
        assert await anna.api("STREAM.CREATE.MINE", {"name": "MINE", "subjects": ["mine"]}) is None
        answer = await anna.store(f"m.{me}", b"x", {"Nats-Rollup": "all"})
        assert answer["error"]["err_code"] == 10111
        assert await newest(owner, "MEMBERS", f"m.{bert.key.public}") == b"profile"
        # Nobody purges (but files), not even who may everything in the account: a mistake cannot empty a stream.
        for subject in ("STREAM.PURGE.DM", "STREAM.MSG.DELETE.MEMBERS"):
            answer_of_owner = await owner.api(subject, {"seq": 1})
            assert answer_of_owner is not None
            assert "error" in answer_of_owner


async def test_a_member_stores_chunks_of_its_own_files_once_and_reads_those_of_all(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, owner, anna, bert):
        me, other = anna.key.public, bert.key.public
        subject = f"f.{other}.abc.0"
        assert (await bert.store(subject, b"chunk"))["seq"] == 1
        assert await newest(anna, "FILES", subject) == b"chunk"
        assert await anna.store(subject, b"junk") == {}
        assert (await bert.store(subject, b"another"))["error"][
            "description"
        ] == "maximum messages per subject exceeded"
        assert (await bert.store(f"f.{other}.abc.1", b"x" * (CHUNK_BYTES + 2048)))["error"]["err_code"] == 10054
        assert await newest(anna, "FILES", subject) == b"chunk"
        for api, request in (
            ("STREAM.PURGE.FILES", {"filter": subject}),
            ("STREAM.MSG.DELETE.FILES", {"seq": 1}),
            ("STREAM.MSG.GET.FILES", {"seq": 1}),
            (f"CONSUMER.CREATE.FILES.{me}", consumer("FILES", me)),
        ):
            assert await bert.api(api, request) is None, api
        # The authority may purge here, and here alone, and it deletes no single message.
        assert (await owner.api("STREAM.MSG.DELETE.FILES", {"seq": 1}) or {})["error"]
        assert (await owner.api("STREAM.PURGE.FILES", {"filter": subject}) or {})["purged"] == 1


async def test_a_member_adds_statements_of_its_own_to_the_log_of_the_graph_and_takes_none_away(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, owner, anna, bert):
        me, other = anna.key.public, bert.key.public
        assert (await bert.store(f"g.{other}", b"first"))["seq"] == 1
        assert (await bert.store(f"g.{other}", b"second"))["seq"] == 2
        for subject in (f"g.{other}", "g.*", "g", f"g.{me}.more"):
            assert await anna.store(subject, b"junk") == {}, subject
        # A consumer that delivers into the log: the server refuses a cycle, and other streams have nothing for it.
        mine = f"$JS.API.CONSUMER.CREATE.GRAPH.{me}"
        answer = await anna.api(mine.removeprefix("$JS.API."), consumer("GRAPH", me, deliver_subject=f"g.{other}"))
        assert answer is None or "error" in answer
        await anna.api(f"CONSUMER.CREATE.GRAPH.{me}", consumer("GRAPH", me))
        assert (await anna.pull("GRAPH", me)).data == b"first"
        reply = await anna.ask("$JS.API.DIRECT.GET.GRAPH", b'{"seq":2}')
        assert reply is not None
        assert reply.data == b"second"
        assert await anna.api("STREAM.MSG.GET.GRAPH", {"seq": 1}) is None
        assert (await owner.api("STREAM.INFO.GRAPH", {}) or {})["state"]["last_seq"] == 2


async def test_a_member_cannot_write_what_the_authority_says(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, owner, anna, bert):
        me, record = anna.key.public, f"a.member.{bert.key.public}"
        assert await owner.store(authority_subject(record, mesh.token), b"signed")
        for subject in (record, "a.mesh", f"a.grant.{me}.1", f"a.gone.{me}", authority_subject(record, mesh.token)):
            assert await anna.store(subject) == {}, subject
        assert await anna.api("STREAM.INFO.AUTHORITY", {}) is None  # it would tell the token
        await anna.api(f"CONSUMER.CREATE.TOPICS.{me}", consumer("TOPICS", me))
        before = (await owner.api("STREAM.INFO.AUTHORITY", {}) or {})["state"]["last_seq"]
        for reply in (record, f"ax.*.member.{bert.key.public}", "ax.>", "*.*.*.*", ">"):
            # Acknowledgements and answers go to any subject that is named as the reply.
            await anna.client.publish(f"t.abc.{me}", b"x", reply=reply)
            await anna.client.publish("$JS.API.STREAM.INFO.TOPICS", b"", reply=reply)
            await anna.client.publish("$JS.API.DIRECT.GET.MEMBERS.m.x", b"", reply=reply)
            await anna.client.publish(f"$JS.API.CONSUMER.MSG.NEXT.TOPICS.{me}", b"1", reply=reply)
        request = consumer("TOPICS", consumer_name(me, 1), deliver_subject=record)
        await anna.api(f"CONSUMER.CREATE.TOPICS.{consumer_name(me, 1)}", request)
        assert await anna.store(f"t.abc.{me}")  # after everything above
        assert await newest(anna, "AUTHORITY", record) == b"signed"
        assert (await owner.api("STREAM.INFO.AUTHORITY", {}) or {})["state"]["last_seq"] == before


async def test_records_of_the_authority_reach_consumers_and_subscribers(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, owner, anna, _):
        me = anna.key.public
        subscription = await anna.client.subscribe("a.>")
        await anna.settle()
        await owner.store(authority_subject("a.mesh", mesh.token), b"the mesh")
        live = await subscription.next_msg(5)
        assert (live.subject, live.data) == ("a.mesh", b"the mesh")
        await anna.api(f"CONSUMER.CREATE.AUTHORITY.{me}.a.>", consumer("AUTHORITY", me, "a.>"))
        assert (await anna.pull("AUTHORITY", me)).data == b"the mesh"
        listed = await anna.client.subscribe(f"{inbox_prefix(me)}.list")
        query = b'{"multi_last":["a.>"]}'
        await anna.client.publish("$JS.API.DIRECT.GET.AUTHORITY", query, reply=f"{inbox_prefix(me)}.list")
        assert (await listed.next_msg(5)).data == b"the mesh"


async def test_a_mesh_sees_nothing_of_another(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, _, anna, bert):
        other = Mesh(mesh.broker, "other")
        await other.push()
        spy = await other.connect_owner()
        heard = await spy.client.subscribe(">")
        await spy.settle()
        await ensure_streams(spy.client)
        await anna.store(f"dm.{bert.key.public}.{anna.key.public}")
        await anna.store(f"p.{anna.key.public}")
        await spy.store("p.end")
        subjects: list[str] = []
        while not subjects or subjects[-1] != "p.end":
            subjects.append((await heard.next_msg(5)).subject)
        assert not [subject for subject in subjects if anna.key.public in subject]
        info = await spy.api("STREAM.INFO.DM", {})
        assert info is not None
        assert info["state"]["messages"] == 0
        # A key of the other mesh cannot sign users of this one.
        key = SigningKey.generate("U")
        for signer in (other.member_signer, other.owner_signer, other.account):
            jwt = user_jwt(
                signer,
                key.public,
                "x",
                issuer_account=mesh.account.public,
                permissions=AUTHORITY if signer is not other.member_signer else None,
            )
            with pytest.raises(RefusedError):
                await connect(mesh.broker.urls, key, jwt)
        await spy.client.close()


async def test_a_stolen_token_is_useless_without_its_key(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, _, anna, _):
        with pytest.raises(RefusedError, match=r"(?i)authorization"):
            await connect(mesh.broker.urls, SigningKey.generate("U"), mesh.member_jwt(anna.key))


async def test_a_scoped_key_cannot_sign_wider_permissions(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, *_):
        key = SigningKey.generate("U")
        for signer in (mesh.member_signer, mesh.invite_signer):
            jwt = user_jwt(signer, key.public, "x", issuer_account=mesh.account.public, permissions=AUTHORITY)
            with pytest.raises(RefusedError, match=r"(?i)authorization"):
                await connect(mesh.broker.urls, key, jwt)


async def test_a_revoked_member_is_disconnected_at_once_and_stays_out(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, _, anna, bert):
        now = int(time.time())
        mesh.revocations[anna.key.public] = now
        await mesh.push()
        async with asyncio.timeout(5):
            await anna.ended.wait()
        assert not bert.ended.is_set()
        assert await bert.store(f"p.{bert.key.public}")
        revoked = mesh.member_jwt(anna.key, issued_at=now)
        for crashes in range(3):
            with pytest.raises(RefusedError, match=r"(?i)authorization|revoked"):
                await connect(mesh.broker.urls, anna.key, revoked)
            if crashes < 2:
                mesh.broker.kill()
                await mesh.broker.start()
        # Who is admitted again gets a token from after the revocation.
        again = await connect(mesh.broker.urls, anna.key, mesh.member_jwt(anna.key, issued_at=now + 1))
        await again.client.close()


async def test_an_invite_can_ask_to_join_and_nothing_else(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, owner, anna, _):
        key = SigningKey.generate("U")
        jwt = mesh.invite_jwt(key, "i123", int(time.time()) + 3600)
        guest = await connect(mesh.broker.urls, key, jwt)

        requests = await owner.client.subscribe("join.*")
        await owner.settle()
        asking = asyncio.ensure_future(guest.ask("join.i123", b"please"))
        request = await requests.next_msg(5)
        await request.respond(b"welcome")
        answer = await asking
        assert answer is not None
        assert answer.data == b"welcome"

        me = anna.key.public
        for subject in ("join.other", f"dm.{me}.{key.public}", f"m.{key.public}", f"ask.{key.public}", "a.mesh"):
            assert await guest.ask(subject) is None, subject
        for api in ("STREAM.INFO.MEMBERS", "INFO", "DIRECT.GET.MEMBERS.m.x"):
            assert await guest.api(api) is None, api
        for subject in (">", "m.*", "join.*", "_INBOX.>"):
            assert not await guest.may_subscribe(subject), subject
        await guest.client.close()


async def test_an_invite_expires_while_it_is_used_and_afterwards(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh = Mesh(broker)
        await mesh.push()
        key = SigningKey.generate("U")
        guest = await connect(broker.urls, key, mesh.invite_jwt(key, "i123", int(time.time()) + 2))
        async with asyncio.timeout(10):
            await guest.ended.wait()  # the server's clock: it closes the connection by itself
        assert "expired" in str(guest.client.last_error)
        with pytest.raises(RefusedError):
            await connect(broker.urls, key, mesh.invite_jwt(key, "i123", int(time.time()) - 1))


async def test_a_signing_key_that_is_removed_takes_its_users_with_it(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, owner, anna, bert):
        mesh.member_signer = SigningKey.generate("A")
        await mesh.push()
        async with asyncio.timeout(5):
            await asyncio.gather(anna.ended.wait(), bert.ended.wait())
        assert not owner.ended.is_set()


async def test_a_member_shares_documents_and_cannot_remove_those_of_others(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, owner, anna, bert):
        assert await bert.store("s.state.abc", b"by bert")
        assert await anna.store("s.state.abc", b"by anna")  # who may write what is told by signatures, not by subjects
        overtaken = await bert.store("s.state.abc", b"late", {"Nats-Expected-Last-Subject-Sequence": "1"})
        assert overtaken["error"]["err_code"] == 10071
        assert await newest(bert, "SHARED", "s.state.abc") == b"by anna"
        for header in ("all", "sub"):
            answer = await anna.store("s.state.def", b"x", {"Nats-Rollup": header})
            assert answer["error"]["err_code"] == 10111
        me = anna.key.public
        created = await anna.api(f"CONSUMER.CREATE.SHARED.{me}.s.>", consumer("SHARED", me, "s.>"))
        assert created is not None
        assert created["num_pending"] == 1
        for subject in ("s.state", "s.state.a.b", "s.>"):
            assert await anna.store(subject, b"x") == {}, subject
        assert await newest(owner, "SHARED", "s.state.abc") == b"by anna"
