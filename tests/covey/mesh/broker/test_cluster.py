"""The same accounts and streams on a cluster of three."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.mesh.auth.jwt import claims
from covey.mesh.broker.streams import STREAMS, ensure_streams
from covey.mesh.crypto.nkeys import SigningKey
from tests.covey.mesh.embedded_broker import Mesh
from tests.covey.mesh.nats_cluster import open_cluster


@pytest.mark.first
async def test_a_cluster_of_three_keeps_everything_three_times(tmp_path: Path) -> None:
    async with open_cluster(tmp_path) as cluster:
        mesh = Mesh(cluster)
        await mesh.push()
        owner = await mesh.connect_owner()
        assert await ensure_streams(owner.client, 3, authority_token=mesh.token)
        assert not await ensure_streams(owner.client, 3, authority_token=mesh.token)
        for name in STREAMS:
            info = await owner.api(f"STREAM.INFO.{name}", {})
            assert info is not None
            assert info["config"]["num_replicas"] == 3
            assert len(info["cluster"]["replicas"]) == 2
        anna = await mesh.connect_member(SigningKey.generate("U"))
        assert await anna.store(f"p.{anna.key.public}")
        # A revocation reaches every server: each has answered for itself.
        mesh.revocations[anna.key.public] = 2**31
        await mesh.push()
        await anna.ended.wait()
        for node in cluster.nodes:
            stored = node.directory / "accounts" / f"{mesh.account.public}.jwt"
            assert anna.key.public in claims(stored.read_text())["nats"]["revocations"]
        await owner.client.close()
