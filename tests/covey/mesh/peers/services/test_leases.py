"""Leases: one holder at a time, seen by all, over when they expire, and the same name for a file on all hosts."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

from covey.mesh.services.leases.leases import LeaseService
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_USER_ERROR, AgentError
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import a_mesh, refusal
from tests.covey.mesh.peers.services.seen import knows
from tests.covey.mesh.peers.services.skewed_clock import SkewedClock


async def test_one_of_several_has_a_lease_and_the_others_learn_who(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", "carl", cluster=cluster) as mesh:
        anna, bob, carl = mesh.peers.values()
        results = await asyncio.gather(
            *(
                peer.call("mesh.lease.acquire", name="deploy/web", note="release 7", as_agent=agent)
                for peer in (anna, bob, carl)
                for agent in ("claude", "codex")
            ),
            return_exceptions=True,
        )
        (won,) = [one for one in results if isinstance(one, dict)]
        lost = [one for one in results if isinstance(one, AgentError)]
        assert [error.code for error in lost] == [EXIT_CONFLICT] * 5
        assert {error.message for error in lost} == {
            f"{won['holder']['label']} has the lease on deploy/web until {won['until']} (release 7)"
        }
        for peer in (anna, bob, carl):
            await knows(peer, "lease", "deploy/web")
            (seen,) = (await peer.call("mesh.lease.list"))["items"]
            assert (seen["holder"]["label"], seen["note"]) == (won["holder"]["label"], "release 7")
            await peer.wait_for_event("lease_acquired", name="deploy/web")
        holder = mesh.peers[won["holder"]["name"]]
        other = next(peer for peer in (anna, bob, carl) if peer is not holder)
        assert (await refusal(other.call("mesh.lease.release", name="deploy/web"))).code == EXIT_CONFLICT
        waiting = asyncio.create_task(other.call("mesh.lease.acquire", name="deploy/web", wait="20s"))
        await holder.call("mesh.lease.release", name="deploy/web")
        assert (await waiting)["holder"]["name"] == other.name
        await other.wait_for_event("lease_released", name="deploy/web", note="release 7")


async def test_an_expired_lease_is_free_by_the_time_of_the_broker() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await bob.stop()
        bob.clock = SkewedClock(-7200.0)
        await bob.start()
        first = await bob.call("mesh.lease.acquire", name="x", ttl="10m")
        longer = await bob.call("mesh.lease.renew", name="x", ttl="20m")
        assert longer["until"] > first["until"]
        await knows(anna, "lease", "x", longer["revision"])
        assert (await refusal(anna.call("mesh.lease.acquire", name="x"))).code == EXIT_CONFLICT
        renewed = await bob.call("mesh.lease.renew", name="x", ttl="3s")
        taken = await anna.call("mesh.lease.acquire", name="x", wait="20s", ttl="1h")
        assert taken["acquired_at"] >= renewed["until"]
        await knows(bob, "lease", "x", taken["revision"])
        for what in ("renew", "release"):
            assert "anna has the lease" in (await refusal(bob.call(f"mesh.lease.{what}", name="x"))).message
        assert (await refusal(bob.call("mesh.lease.renew", name="y"))).code == EXIT_NOT_FOUND


async def test_leases_of_long_ago_are_removed_and_what_is_no_lease_is_left_out() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        documents = anna.peer.services.documents
        old = {"holder": {"member": anna.member}, "until": documents.now() - 7200, "acquired_at": 1.0}
        values: dict[str, dict[str, Any]] = {
            "old": old,
            "odd": {"until": "soon"},
            "odder": {"holder": 7, "until": 1e300},
        }
        for key, value in values.items():
            await documents.put("lease", key, value)
        await anna.call("mesh.lease.acquire", name="new")
        assert [one["name"] for one in (await anna.call("mesh.lease.list"))["items"]] == ["new"]
        service = anna.peer.services._services["lease"]
        assert isinstance(service, LeaseService)
        assert await service.prune() == 1
        assert documents.get("lease", "old") is None
        assert (await anna.call("mesh.lease.acquire", name="odder"))["holder"]["yours"]


def cloned(folder: Path, url: str) -> None:
    """Make a repository with this remote."""
    (folder / "src").mkdir(parents=True)
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    for words in (["init", "-q"], ["remote", "add", "origin", url]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=environment)


async def test_a_file_of_a_repository_has_one_name_on_all_hosts(tmp_path: Path) -> None:
    clones = [tmp_path / "one", tmp_path / "two"]
    for clone, url in zip(clones, ("git@example.org:acme/app.git", "https://me:x@example.org/acme/app"), strict=True):
        await asyncio.to_thread(cloned, clone, url)
    (tmp_path / "link").symlink_to(clones[1] / "src")
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        made = await anna.call("mesh.lease.acquire", path=str(clones[0] / "src" / "new.py"))
        assert made["name"] == "example.org/acme/app:src/new.py"
        await knows(bob, "lease", made["name"])
        refused = await refusal(bob.call("mesh.lease.acquire", path=str(tmp_path / "link" / "new.py")))
        assert "anna has the lease on example.org/acme/app:src/new.py" in refused.message
        plain = await bob.call("mesh.lease.acquire", path=str(tmp_path / "plain.txt"))
        assert plain["name"] == f"@bob:{tmp_path / 'plain.txt'}"
        wrong: list[dict[str, Any]] = [{}, {"name": "x", "path": "/x"}, {"path": "relative"}, {"name": " x"}]
        for params in wrong:
            assert (await refusal(anna.call("mesh.lease.acquire", **params))).code == EXIT_USER_ERROR
