"""The brokers on which the core of the suite runs: the embedded one, and a cluster of three."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.covey.mesh.nats_cluster import NatsCluster


@pytest.fixture(scope="session")
def running_cluster() -> Iterator[NatsCluster]:
    """A cluster of three that runs until the last test; each test has a mesh of its own on it."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    cluster = NatsCluster(folder / "c")

    async def start() -> None:
        try:
            await cluster.start()
        finally:
            await cluster.system.aclose()

    try:
        asyncio.run(start())
        yield cluster
    finally:
        for node in cluster.nodes:
            node.kill()  # at once: one by one, each would wait for the others
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["embedded", "cluster"])
def cluster(request: pytest.FixtureRequest) -> NatsCluster | None:
    """The cluster that a mesh is on; None for the embedded broker, which each test has one of."""
    if request.param == "embedded":
        return None
    found: NatsCluster = request.getfixturevalue("running_cluster")
    return found
