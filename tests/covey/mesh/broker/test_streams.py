"""The streams of a mesh at a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.mesh.auth.jwt import AccountLimits, account_jwt
from covey.mesh.broker.streams import STREAMS, ensure_streams, stream_config
from murli import AgentError
from tests.covey.mesh.embedded_broker import Mesh, open_broker, open_mesh


async def test_they_are_created_once(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh = Mesh(broker)
        await mesh.push()
        owner = await mesh.connect_owner()
        assert await ensure_streams(owner.client, authority_token=mesh.token)
        assert not await ensure_streams(owner.client, authority_token=mesh.token)
        for name in STREAMS:
            info = await owner.api(f"STREAM.INFO.{name}", {})
            assert info is not None
            config = info["config"]
            wanted = stream_config(name, 1, mesh.token)
            assert {field: config.get(field) for field in wanted} == wanted
        await owner.client.close()


async def test_a_missing_one_and_a_different_one_are_mended(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, owner, anna, _):
        await anna.store(f"m.{anna.key.public}", b"kept")
        info = await owner.api("STREAM.INFO.MEMBERS", {})
        assert info is not None
        await owner.api("STREAM.UPDATE.MEMBERS", {**info["config"], "subjects": ["m.*", "x.*"], "max_msgs": 7})
        await owner.api("STREAM.DELETE.RECEIPTS")
        assert await ensure_streams(owner.client, authority_token=mesh.token)
        mended = await owner.api("STREAM.INFO.MEMBERS", {})
        assert mended is not None
        assert mended["config"]["subjects"] == ["m.*"]
        assert mended["state"]["messages"] == 1
        assert not await ensure_streams(owner.client, authority_token=mesh.token)


async def test_a_mesh_may_have_more_than_a_thousand_members_that_read(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, owner, _, _):
        config = {"ack_policy": "none", "mem_storage": True, "inactive_threshold": 60_000_000_000}
        for number in range(1100):
            document = {"stream_name": "DM", "config": {**config, "name": f"reader-{number}"}}
            answer = await owner.api(f"CONSUMER.CREATE.DM.reader-{number}", document)
            assert answer is not None, number
        info = await owner.api("STREAM.INFO.DM", {})
        assert info is not None
        assert info["state"]["consumer_count"] >= 1100


async def test_a_mesh_from_before_the_token_gets_it_without_losing_records(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh = Mesh(broker)
        await mesh.push()
        owner = await mesh.connect_owner()
        await ensure_streams(owner.client)
        await owner.store("a.mesh", b"old")
        assert not await ensure_streams(owner.client, authority_token=mesh.token)
        reply = await owner.ask("$JS.API.DIRECT.GET.AUTHORITY.a.mesh")
        assert reply is not None
        assert reply.data == b"old"
        await owner.client.close()


async def test_what_the_account_does_not_allow_is_said(tmp_path: Path) -> None:
    async with open_broker(tmp_path / "home") as broker:
        mesh = Mesh(broker)
        jwt = account_jwt(
            broker.keys.signer,
            mesh.account.public,
            "team",
            signing_keys={mesh.owner_signer.public: None},
            limits=AccountLimits(streams=1),
        )
        await broker.system.push_account(jwt)
        owner = await mesh.connect_owner()
        with pytest.raises(AgentError, match=r"refused the stream TOPICS: .*maximum"):
            await ensure_streams(owner.client)
        await owner.client.close()


async def test_whoever_may_not_create_streams_is_told_in_time(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (_, _, anna, _):
        with pytest.raises(AgentError, match="could not be created within"):
            await ensure_streams(anna.client, deadline=0.3)


def test_replicated_streams_have_no_mode_that_servers_refuse_for_them() -> None:
    assert stream_config("PRESENCE", 1)["persist_mode"] == "async"
    assert "persist_mode" not in stream_config("PRESENCE", 3)


async def test_the_quota_of_files_holds_and_can_be_changed(tmp_path: Path) -> None:
    async with open_mesh(tmp_path / "home") as (mesh, owner, anna, _):
        assert not await ensure_streams(owner.client, authority_token=mesh.token, most_chunks=2)
        stored = [await anna.store(f"f.{anna.key.public}.abc.{number}") for number in range(3)]
        assert [one.get("error", {}).get("description") for one in stored] == [None, None, "maximum messages exceeded"]
        await ensure_streams(owner.client, authority_token=mesh.token, most_chunks=3)
        assert (await anna.store(f"f.{anna.key.public}.abc.2"))["seq"] == 3
