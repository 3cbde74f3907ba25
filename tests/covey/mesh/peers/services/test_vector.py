"""Collections: stored by one, found by all by meaning, with filters; odd names and filters are errors."""

from __future__ import annotations

from typing import Any

import pytest

from covey.mesh.services.embedding.embedder import STATIC, TIERS, is_installed
from murli import EXIT_NOT_FOUND, EXIT_USER_ERROR
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, refusal, until

needs_static = pytest.mark.skipif(not is_installed(TIERS[STATIC]), reason="the static embedder is not installed")
TEXTS = {
    "How to bake bread with yeast": {"lang": "en", "kind": "recipe", "stars": 4},
    "Roasting vegetables in the oven": {"lang": "en", "kind": "recipe", "stars": 5.0},
    "Compiling a program with optimisation": {"lang": "en", "kind": "manual", "topics": ["c", "linker"]},
    "Debugging memory leaks in software": {"lang": "de", "kind": "manual", "deep": {"a": 1}, "draft": None},
}


async def found(peer: MemberPeer, query: str, **params: Any) -> list[str]:
    answer = await peer.call("mesh.vector.search", collection="docs/ä x", q=query, **params)
    return [one["text"] for one in answer["items"]]


async def has_texts(peer: MemberPeer, count: int) -> None:
    async def there() -> bool:
        items = (await peer.call("mesh.vector.collections"))["items"]
        return sum(int(one["texts"]) for one in items) == count

    await until(there, f"{peer.name} has {count} texts")


@needs_static
async def test_texts_are_found_by_meaning_within_their_collection_and_by_filters() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        for peer in (anna, bob):
            peer.configure(services__embedder="static")
            await peer.call("reload")
        for text, metadata in TEXTS.items():
            await anna.call("mesh.vector.store", collection="docs/ä x", text=text, metadata=metadata)
        other = await anna.call("mesh.vector.store", collection="other", text="Baking bread")
        await has_texts(bob, 5)
        answer = await bob.call("mesh.vector.search", collection="docs/ä x", q="cooking in a kitchen", limit=2)
        assert {one["text"] for one in answer["items"]} == set(list(TEXTS)[:2])
        assert all(one["found_by"] == ["meaning"] and one["similarity"] > 0.2 for one in answer["items"])
        assert answer["embedder"]["model"] == TIERS[STATIC].model
        bread, roast, compiler, leaks = TEXTS
        filters: list[tuple[dict[str, Any], set[str]]] = [
            ({"stars": 5}, {roast}),
            ({"stars": [4.0, 5]}, {bread, roast}),
            ({"topics": "linker"}, {compiler}),
            ({"lang": "de", "kind": "manual"}, {leaks}),
            ({"lang": "de", "kind": "recipe"}, set()),
            ({"draft": None}, {leaks}),
            ({"stars": "5"}, set()),
        ]
        for filter_, expected in filters:
            texts = await found(bob, "bread, vegetables, oven, program, software, memory", filter=filter_)
            assert set(texts) <= expected, filter_
            assert texts or not expected, filter_
        assert (await bob.call("mesh.vector.search", collection="none", q="x"))["items"] == []
        await bob.call("mesh.vector.delete", collection="other", id=other["id"])
        await has_texts(anna, 4)
        wrong = anna.call("mesh.vector.delete", collection="other", id=other["id"])
        assert (await refusal(wrong)).code == EXIT_NOT_FOUND
        assert await anna.peer.services.replica.digest() == await bob.peer.services.replica.digest()


async def test_without_a_model_texts_are_found_by_their_words_and_the_answer_says_so() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        anna.configure(services__embedder="none")
        await anna.call("reload")
        for text, metadata in TEXTS.items():
            await anna.call("mesh.vector.store", collection="docs/ä x", text=text, metadata=metadata)
        await anna.call("mesh.vector.store", collection="other", text="bread")
        bread, _, compiler, _ = TEXTS
        assert set(await found(anna, "bread programs")) == {bread, compiler}
        assert await found(anna, "bread programs", filter={"kind": "manual"}) == [compiler]
        answer = await anna.call("mesh.vector.search", collection="other", q="bread")
        assert answer["items"][0]["found_by"] == ["words"]
        assert answer["embedder"]["tier"] == "none"
        collections = (await anna.call("mesh.vector.collections"))["items"]
        assert [(one["collection"], one["without_vector"]) for one in collections] == [("docs/ä x", 4), ("other", 1)]


async def test_what_cannot_be_stored_or_filtered_by_is_refused() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        store: list[dict[str, Any]] = [
            {"collection": ""},
            {"collection": " a"},
            {"collection": "a\nb"},
            {"collection": "x" * 600},
            {"text": ""},
            {"text": "x" * 40_000},
            {"metadata": {"": 1}},
            {"metadata": {"a": "x" * 20_000}},
            {"metadata": {str(number): number for number in range(65)}},
        ]
        for params in store:
            call = anna.call("mesh.vector.store", **{"collection": "c", "text": "t", **params})
            assert (await refusal(call)).code == EXIT_USER_ERROR, params
        many = {str(number): 1 for number in range(65)}
        filters: list[dict[str, Any]] = [{"a": {"$gt": 1}}, {"a": []}, {"a": [[1]]}, many]
        for filter_ in filters:
            call = anna.call("mesh.vector.search", collection="c", q="t", filter=filter_)
            assert (await refusal(call)).code == EXIT_USER_ERROR, filter_
        assert (await anna.call("mesh.vector.collections"))["items"] == []
