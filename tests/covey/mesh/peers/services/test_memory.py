"""Memory: remembered by one, recalled by all, by words and by meaning; what cannot be one is refused everywhere."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from covey.mesh.services.document import document_subject, seal_document, subject_token
from covey.mesh.services.embedding.embedder import STATIC, TIERS, is_installed
from murli import EXIT_NOT_FOUND, EXIT_USER_ERROR, AgentError
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, MeshOfPeers, a_mesh, refusal, until

needs_static = pytest.mark.skipif(not is_installed(TIERS[STATIC]), reason="the static embedder is not installed")
FACTS = (
    "The database is backed up every night at two",
    "Users sign in with a passkey",
    "Deployments are frozen on Fridays",
    "The kitchen has a new coffee machine",
)


async def with_embedder(mesh: MeshOfPeers, name: str, embedder: str) -> MemberPeer:
    """Return the member of that name, with an embedder configured."""
    peer = mesh.peers[name]
    peer.configure(services__embedder=embedder)
    await peer.call("reload")
    return peer


async def recalled(peer: MemberPeer, query: str, **params: Any) -> list[str]:
    return [one["content"] for one in (await peer.call("mesh.memory.recall", q=query, **params))["items"]]


async def has_memories(peer: MemberPeer, count: int) -> None:
    async def there() -> bool:
        return len((await peer.call("mesh.memory.list", limit=1000))["items"]) == count

    await until(there, f"{peer.name} has {count} memories")


async def test_what_one_remembers_is_recalled_by_all_by_its_words(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", cluster=cluster) as mesh:
        anna, bob = await with_embedder(mesh, "anna", "none"), await with_embedder(mesh, "bob", "none")
        for fact in FACTS:
            made = await anna.call("mesh.memory.remember", content=fact, tags=["facts"])
        assert made["embedder"]["tier"] == "none"
        assert "by their words only" in made["embedder"]["note"]
        await has_memories(bob, 4)
        answer = await bob.call("mesh.memory.recall", q="when is the database backed up?")
        (first, *_) = answer["items"]
        assert (first["content"], first["found_by"], first["similarity"]) == (FACTS[0], ["words"], None)
        assert (first["author"], first["author_name"], first["rewritten_by"]) == (anna.member, "anna", None)
        assert (await bob.wait_for_event("memory_changed", id=made["id"], deleted=False))["data"]["data"]["tags"] == [
            "facts"
        ]
        await bob.call("mesh.memory.forget", id=first["id"])
        await has_memories(anna, 3)
        assert await recalled(anna, "database") == []
        assert (await refusal(anna.call("mesh.memory.forget", id=first["id"]))).code == EXIT_NOT_FOUND
        assert await anna.peer.services.replica.digest() == await bob.peer.services.replica.digest()


@needs_static
async def test_recall_finds_by_meaning_what_has_other_words_and_says_which_found_it() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = await with_embedder(mesh, "anna", "static"), await with_embedder(mesh, "bob", "static")
        for fact in FACTS:
            await anna.call("mesh.memory.remember", content=fact)
        await has_memories(bob, 4)
        answer = await bob.call("mesh.memory.recall", q="login and authentication of users")
        assert answer["items"][0]["content"] == FACTS[1]
        assert answer["items"][0]["found_by"] == ["words", "meaning"]
        answer = await bob.call("mesh.memory.recall", q="espresso drinks")
        assert (answer["items"][0]["content"], answer["items"][0]["found_by"]) == (FACTS[3], ["meaning"])
        assert answer["embedder"] == {"tier": "static", "model": TIERS[STATIC].model, "note": ""}
        await anna.call("mesh.memory.remember", content="Espresso needs nine bar", tags=["coffee"])
        await has_memories(bob, 5)  # a matrix that is in memory is kept up to date
        assert (await recalled(bob, "espresso drinks"))[0] == "Espresso needs nine bar"
        assert await recalled(bob, "espresso drinks", tags=["coffee"]) == ["Espresso needs nine bar"]
        await bob.call("mesh.memory.forget", id=(await bob.call("mesh.memory.list"))["items"][0]["id"])
        assert "Espresso needs nine bar" not in await recalled(bob, "espresso drinks")


@needs_static
async def test_vectors_of_other_models_are_left_out_until_they_are_made_again() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = await with_embedder(mesh, "anna", "none"), await with_embedder(mesh, "bob", "static")
        for fact in FACTS:
            await anna.call("mesh.memory.remember", content=fact)
        await bob.call("mesh.memory.remember", content="Bananas are yellow")
        await has_memories(bob, 5)
        before = await bob.call("mesh.memory.recall", q="espresso")
        assert before["left_out"] == 4
        assert FACTS[3] not in [one["content"] for one in before["items"]]
        assert "model" in (await refusal(anna.call("mesh.memory.reembed"))).message
        assert (await bob.call("mesh.memory.reembed"))["total"] == 4

        async def done() -> bool:
            told = await bob.call("mesh.memory.reembed")
            return not told["running"] and told["total"] == 0

        await until(done, "all memories have a vector of the model")
        after = await bob.call("mesh.memory.recall", q="espresso")
        assert after["left_out"] == 0
        found = after["items"][0]
        assert (found["content"], found["author_name"], found["rewritten_by"]) == (FACTS[3], "anna", "bob")
        await until(
            lambda: anna.peer.services.documents.get("memory", found["id"]).value["vector"],  # type: ignore[union-attr, index]
            "the author has the new version",
        )
        assert await anna.peer.services.replica.digest() == await bob.peer.services.replica.digest()


@needs_static
async def test_a_peer_that_joins_later_has_the_same_replica_and_makes_no_vectors() -> None:
    async with a_mesh("anna") as mesh:
        anna = await with_embedder(mesh, "anna", "static")
        for fact in FACTS:
            await anna.call("mesh.memory.remember", content=fact)
        late = await mesh.join("late")
        await has_memories(late, 4)
        assert await late.peer.services.replica.digest() == await anna.peer.services.replica.digest()
        assert await late.events("memory_changed") == []  # they were there before it came


async def test_a_query_with_a_syntax_is_searched_for_as_it_is() -> None:
    async with a_mesh("anna") as mesh:
        anna = await with_embedder(mesh, "anna", "none")
        for query in (
            '"',
            '""" OR',
            "NEAR(a b, 2)",
            "content:x",
            "*",
            "AND",
            "^data",
            "{a b}",
            "\u0000a",
            "🐦",
            "'); --",
        ):
            await anna.call("mesh.memory.remember", content=f"says {query}", tags=[query.strip("\0")])
            assert isinstance(await recalled(anna, query), list)
            query = query.replace("\ud800", "\ufffd")  # noqa: PLW2901 - half a character is kept as a sign for one
            assert f"says {query}" in await recalled(anna, f"says {query}")


async def test_what_cannot_be_remembered_is_refused() -> None:
    async with a_mesh("anna") as mesh:
        anna = await with_embedder(mesh, "anna", "none")
        wrong: list[dict[str, Any]] = [
            {"content": "  "},
            {"content": "x" * 40_000},
            {"content": "x", "tags": ["a\nb"]},
            {"content": "x", "tags": [str(number) for number in range(33)]},
        ]
        for params in wrong:
            assert (await refusal(anna.call("mesh.memory.remember", **params))).code == EXIT_USER_ERROR
        for query in ("", "x" * 3000):
            assert (await refusal(anna.call("mesh.memory.recall", q=query))).code == EXIT_USER_ERROR
        assert (await anna.call("mesh.memory.list"))["items"] == []


async def test_a_vector_that_cannot_be_one_is_refused_by_all() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        model = TIERS[STATIC].model
        sound = {"model": model, "dimensions": 256, "f16": f16([0.0625] * 256)}
        wrong: list[Any] = [
            {**sound, "f16": f16([0.0625] * 255)},
            {**sound, "f16": f16([0.0625] * 255 + [float("nan")])},
            {**sound, "f16": f16([float("-inf")] + [0.0625] * 255)},
            {**sound, "dimensions": 128, "f16": f16([0.125] * 128)},
            {**sound, "f16": "?"},
            {**sound, "dimensions": -1},
            "a text",
        ]
        for number, vector in enumerate(wrong):
            await forge(bob, f"forged{number}", {"content": "x", "vector": vector})
        await forge(bob, "no text", {"content": ""})
        await forge(bob, "tags", {"content": "x", "tags": "ab"})
        await forge(bob, "sound", {"content": "x", "vector": sound})
        for peer in (anna, bob):
            await has_memories(peer, 1)
        assert anna.peer.services.documents.refused == len(wrong) + 2
        with pytest.raises(AgentError):
            await bob.peer.services.documents.put("memory", "own", {"content": "x", "vector": wrong[0]})


def f16(numbers: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}e", *numbers)).decode()


async def forge(peer: MemberPeer, key: str, value: dict[str, Any]) -> None:
    """Publish a document as a peer without checks would."""
    directory, keys = peer.peer.directory, peer.keys
    assert directory.epoch is not None
    token = subject_token(keys, directory.epoch, "memory", key, private=False)
    id_, wire = seal_document(
        keys, directory.epoch, directory.mesh, token, "memory", key, value, written=1, private=False
    )
    subject = document_subject("memory", token, private=False)
    session = peer.peer.link.require()
    await session.publish(subject, wire, message_id=id_, after=0, deadline_s=5)
