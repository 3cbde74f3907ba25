"""Shared files: whole or not there at all, for those they are meant for, and gone when they are deleted."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from covey.mesh.broker.streams import CHUNK_BYTES
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_PERMISSION, EXIT_USER_ERROR, AgentError
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, MeshOfPeers, a_mesh, refusal, until


def a_file(folder: Path, name: str = "report.bin", size: int = 3 * CHUNK_BYTES + 17) -> Path:
    path = folder / name
    path.write_bytes(os.urandom(size))
    return path


async def ended(peer: MemberPeer, found: dict[str, Any]) -> dict[str, Any]:
    """Return a transfer when it has ended."""

    async def over() -> bool:
        nonlocal found
        (found,) = (await peer.call("mesh.file.status", transfer=found["transfer"]))["items"]
        return found["state"] in ("done", "failed")

    await until(over, f"the transfer of {found['name']} has ended")
    return found


async def share(peer: MemberPeer, path: Path, **params: Any) -> dict[str, Any]:
    found = await ended(peer, await peer.call("mesh.file.share", path=str(path), **params))
    assert found["state"] == "done", found
    return found


async def get(peer: MemberPeer, id_: str, out: Path, **params: Any) -> dict[str, Any]:
    found = await ended(peer, await peer.call("mesh.file.get", id=id_, out=str(out), **params))
    assert found["state"] == "done", found
    return found


async def sees(peer: MemberPeer, id_: str) -> dict[str, Any]:
    """Return what a peer lists of a file, when it does."""
    found: list[dict[str, Any]] = []

    async def there() -> bool:
        items = (await peer.call("mesh.file.list"))["items"]
        found[:] = [one for one in items if one["id"] == id_]
        return bool(found)

    await until(there, f"{peer.name} sees the file")
    return found[0]


async def chunks(mesh: MeshOfPeers) -> int:
    """Return how many chunks the broker has."""
    session = mesh.authority.peer.link.require()
    return int((await session.api("STREAM.INFO.FILES"))["state"]["messages"])


async def documents(peer: MemberPeer) -> list[dict[str, Any]]:
    """Return the values of all documents of files, as a peer has them."""
    statement = "SELECT value FROM document WHERE service = 'file' AND value IS NOT NULL"
    rows = await peer.peer.services.replica.read(lambda database: database.execute(statement).fetchall())
    return [json.loads(value) for (value,) in rows]


async def test_a_file_is_fetched_by_those_it_was_shared_with(tmp_path: Path, cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", "carl", cluster=cluster) as mesh:
        anna, bob, carl = mesh.peers.values()
        bob.hook("on-file-share.sh", f"cat > {tmp_path}/told")
        path = a_file(tmp_path)
        shared = await share(anna, path, to="@bob", message="the report")
        assert shared["done_bytes"] == path.stat().st_size
        told = await sees(bob, shared["id"])
        assert (told["name"], told["author_name"], told["to_names"]) == ("report.bin", "anna", ["bob"])
        (message,) = await bob.wait_for(1)
        assert message["text"].startswith("the report")
        assert message["meta"]["file"]["id"] == shared["id"]
        await bob.wait_for_event("file_shared", name="report.bin")
        await until(lambda: shared["id"] in (tmp_path / "told").read_text() if (tmp_path / "told").exists() else False)
        out = tmp_path / "bob"
        out.mkdir()
        got = await get(bob, shared["id"], out)
        assert Path(got["path"]) == out / "report.bin"
        assert Path(got["path"]).read_bytes() == path.read_bytes()
        assert Path(got["path"]).stat().st_mode & 0o777 == 0o600
        assert [one.name for one in out.iterdir()] == ["report.bin"]
        # Who it is not for has neither its name nor its key.
        everybody = await share(anna, a_file(tmp_path, "open.bin", 10))
        await sees(carl, everybody["id"])
        assert [one["name"] for one in (await carl.call("mesh.file.list"))["items"]] == ["open.bin"]
        refused = await refusal(carl.call("mesh.file.get", id=shared["id"], out=str(out / "x")))
        assert refused.code == EXIT_NOT_FOUND
        sealed = [value for value in await documents(carl) if "sealed" in value and value["to"]]
        assert len(sealed) == 1
        assert sealed[0]["content"] is None
        # Who joins later reads what is for all.
        dora = await mesh.join("dora")
        await sees(dora, everybody["id"])
        await get(dora, everybody["id"], tmp_path / "dora.bin")
        assert (tmp_path / "dora.bin").read_bytes() == (tmp_path / "open.bin").read_bytes()


async def test_the_same_content_is_stored_once_and_goes_when_the_last_file_goes(tmp_path: Path) -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        path = a_file(tmp_path)
        first = await share(anna, path)
        assert await chunks(mesh) == 4
        await sees(bob, first["id"])
        copy = tmp_path / "copy.bin"
        copy.write_bytes(path.read_bytes())
        second = await share(bob, copy, to="@anna")
        assert await chunks(mesh) == 4
        await anna.call("mesh.file.delete", id=first["id"])
        assert (
            await refusal(anna.call("mesh.file.get", id=first["id"], out=str(tmp_path / "no")))
        ).code == EXIT_NOT_FOUND
        await sees(anna, second["id"])
        await get(anna, second["id"], tmp_path / "got.bin")
        assert (tmp_path / "got.bin").read_bytes() == path.read_bytes()
        # Only its author deletes a file; then the broker's disk is free.
        third = await share(bob, a_file(tmp_path, "own.bin"))
        assert await chunks(mesh) == 8
        await sees(anna, third["id"])
        await bob.call("mesh.file.delete", id=third["id"])
        await anna.wait_for_event("file_deleted", by="bob")

        async def purged() -> bool:
            return await chunks(mesh) == 4

        await until(purged, "the chunks are purged")


async def test_a_file_that_was_interrupted_goes_on_after_kill_9(tmp_path: Path) -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        path = a_file(tmp_path, size=20_000_000)
        out = tmp_path / "got.bin"
        await bob.stop()
        bob.spawn()
        first: dict[str, Any] = {}
        kills = 0

        async def asked(operation: str, **params: Any) -> Any:
            async def answered() -> bool:
                try:
                    first["answer"] = await bob.ask(operation, **params)
                except AgentError:
                    return False
                return True

            await until(answered, f"bob answers {operation}")
            return first["answer"]

        async def finished(begin: dict[str, Any]) -> None:
            """Kill the peer whenever it has come further, and let it go on."""
            nonlocal kills
            seen, found = 0, begin
            while found["state"] != "done":
                assert found["state"] != "failed", found
                if seen < found["done_bytes"] < found["size"] and kills < 4:
                    seen = found["size"] // 2
                    bob.kill()
                    kills += 1
                    bob.spawn()
                (found,) = (await asked("mesh.file.status", transfer=begin["transfer"]))["items"]

        shared = await asked("mesh.file.share", path=str(path))
        await finished(shared)
        await sees(anna, shared["id"])
        await finished(await asked("mesh.file.get", id=shared["id"], out=str(out)))
        assert out.read_bytes() == path.read_bytes()
        assert kills
        assert sorted(one.name for one in tmp_path.iterdir()) == ["got.bin", "report.bin"]
        assert await chunks(mesh) == -(-path.stat().st_size // CHUNK_BYTES)
        store = mesh.stores()[0]

        def stored() -> int:
            return sum(one.stat().st_size for one in store.rglob("*.blk") if "FILES" in one.parts)

        assert stored() > path.stat().st_size
        await asked("mesh.file.delete", id=shared["id"])
        await until(lambda: stored() < path.stat().st_size // 2, "the broker's disk is free again")
        bob.terminate()


async def test_a_file_that_changes_while_it_is_read_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        path = a_file(tmp_path, size=40 * CHUNK_BYTES)
        stop = asyncio.Event()

        async def write() -> None:
            with path.open("r+b") as file:
                while not stop.is_set():
                    file.seek(30 * CHUNK_BYTES)
                    file.write(os.urandom(64))
                    file.flush()
                    await asyncio.sleep(0)

        writing = asyncio.create_task(write())
        found = await ended(anna, await anna.call("mesh.file.share", path=str(path)))
        stop.set()
        await writing
        assert found["state"] == "failed"
        assert "changed while it was read" in found["reason"]
        assert (await anna.call("mesh.file.list"))["items"] == []

        async def clear() -> bool:
            return await chunks(mesh) == 0

        await until(clear, "nothing is left at the broker")


async def test_a_place_that_is_taken_and_links_are_left_alone(tmp_path: Path) -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        shared = await share(anna, a_file(tmp_path, size=100))
        taken, link, far = tmp_path / "taken", tmp_path / "link", tmp_path / "far"
        taken.write_text("mine")
        far.write_text("far")
        link.symlink_to(far)
        for out in (taken, link):
            refused = await refusal(anna.call("mesh.file.get", id=shared["id"], out=str(out)))
            assert refused.code == EXIT_CONFLICT
        for out in (taken, link):
            await get(anna, shared["id"], out, force=True)
            assert out.read_bytes() == (tmp_path / "report.bin").read_bytes()
        assert far.read_text() == "far"
        assert not link.is_symlink()
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        not_a_file = await refusal(anna.call("mesh.file.get", id=shared["id"], out=str(pipe), force=True))
        assert (not_a_file.code, pipe.is_fifo()) == (EXIT_CONFLICT, True)
        into = tmp_path / "into"
        into.symlink_to(anna.seat.directory)
        for own in (Path(anna.seat.config_file), into / "config.toml", into):
            inside = await refusal(anna.call("mesh.file.get", id=shared["id"], out=str(own), force=True))
            assert inside.code == EXIT_PERMISSION
            inside = await refusal(anna.call("mesh.services.export", path=str(own)))
            assert inside.code == EXIT_PERMISSION
        assert (await refusal(anna.call("mesh.file.get", id=shared["id"], out="here"))).code == EXIT_USER_ERROR
        nowhere = await refusal(anna.call("mesh.file.get", id=shared["id"], out=str(tmp_path / "no" / "x")))
        assert nowhere.code == EXIT_NOT_FOUND


async def test_what_cannot_be_shared_is_refused(tmp_path: Path) -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        (tmp_path / "folder").mkdir()
        os.mkfifo(tmp_path / "pipe")
        for path, code in (
            (tmp_path / "none", EXIT_NOT_FOUND),
            (tmp_path / "folder", EXIT_USER_ERROR),
            (tmp_path / "pipe", EXIT_USER_ERROR),
            (Path(anna.seat.directory) / "keypair.json", EXIT_PERMISSION),
        ):
            assert (await refusal(anna.call("mesh.file.share", path=str(path)))).code == code
        path = a_file(tmp_path, size=10)
        assert (await refusal(anna.call("mesh.file.share", path=str(path), to="@nobody"))).code == EXIT_NOT_FOUND
        # Over the limit of a file, and over the quota of the mesh, nothing is stored.
        await anna.stop()
        anna.configure(files__largest_mb=1, files__quota_mb=1)
        await anna.start()
        shared = await share(anna, path)
        await sees(bob, shared["id"])
        large = a_file(tmp_path, "large", 2 * CHUNK_BYTES + 1)
        error = await refusal(anna.call("mesh.file.share", path=str(large)))
        assert error.message.endswith("has 1,048,577 bytes, and a file may have 1,000,000 bytes")
        full = await ended(bob, await bob.call("mesh.file.share", path=str(large)))
        assert (full["state"], full["error"]) == ("failed", "mesh_full")
        assert "may take 524.3 kB at the broker: 0 B are free, and 1.6 MB are needed" in full["reason"]
        assert await chunks(mesh) == 1
        anna.configure(files__largest_mb=1, files__quota_mb=10)
        await anna.call("reload")

        async def accepted() -> bool:
            return bool((await ended(bob, await bob.call("mesh.file.share", path=str(large))))["state"] == "done")

        await until(accepted, "the new quota is in force")
        assert (await refusal(bob.call("mesh.file.delete", id=shared["id"]))).code == EXIT_PERMISSION


async def test_an_expired_file_is_not_given_and_leaves_the_broker(tmp_path: Path) -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await bob.stop()
        bob.configure(files__expire_days=0.00001)  # 0.864 s
        await bob.start()
        kept = await share(bob, a_file(tmp_path, "kept.bin"), persistent=True)
        await share(bob, a_file(tmp_path))

        async def gone() -> bool:
            items = (await anna.call("mesh.file.list"))["items"]
            return [one["id"] for one in items] == [kept["id"]]

        await until(gone, "the file has expired")


async def test_a_member_cannot_spoil_the_file_of_another(tmp_path: Path) -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        shared = await share(anna, a_file(tmp_path))
        key = (await anna.peer.services.documents.replica.read(_keys))[0]
        await until(lambda: bob.peer.services.documents.get("file", key) is not None, "bob knows the file")
        # Whatever bob writes under its key, peers refuse and mend it.
        await bob.peer.services.documents.put("file", key, None)
        refused = anna.peer.services.documents
        await until(lambda: refused.refused > 0, "it was refused")
        await get(anna, shared["id"], tmp_path / "got.bin")
        # Where junk stands in the place of a chunk, the content is uploaded to another place.
        junk = await bob.raw()
        path = a_file(tmp_path, "second.bin", size=60 * CHUNK_BYTES)
        began = await anna.call("mesh.file.share", path=str(path))
        transfer = anna.peer.services._services["file"].transfers.by_id[began["transfer"]]  # type: ignore[attr-defined]
        await until(lambda: transfer.blob, "its place is known")
        await junk.client.publish(f"t.abc.{bob.member}", b"x", reply=f"f.{transfer.blob}.59")
        found = await ended(anna, began)
        assert found["state"] == "done", found
        await get(anna, found["id"], tmp_path / "second.got")
        assert (tmp_path / "second.got").read_bytes() == path.read_bytes()
        await junk.client.close()


def _keys(database: sqlite3.Connection) -> list[str]:
    return [key for (key,) in database.execute("SELECT key FROM file_share")]
