"""Asking the inbox: lists from a time or a position, search in any words, and what is pruned is gone."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.kernel.clock import ManualClock
from covey.mesh.inbox.inbox import Inbox
from tests.covey.mesh.inbox.inboxes import ANNA, BERT, an_inbox, message, texts, topical


async def filled(inbox: Inbox, clock: ManualClock) -> float:
    """Store 1 to 4 of Anna, 1 to 4 of Bert and two in topics, ten seconds apart; return the time of the first."""
    begun = clock.time()
    for n in range(1, 5):
        await inbox.store([message(n)], {})
        clock.advance(10)
        await inbox.store([message(n, sender=BERT, sender_name="bert", text=f"text b{n}")], {})
        clock.advance(10)
    await inbox.store([topical(1, text="text t1"), topical(2, topic="other", scope="o", text="text t2")], {})
    return begun


@pytest.mark.parametrize("fts", [True, False])
async def test_messages_are_listed_from_a_time_or_a_position_and_by_topic_and_sender(tmp_path: Path, fts: bool) -> None:  # noqa: FBT001
    async with an_inbox(tmp_path, fts=fts) as (inbox, clock):
        begun = await filled(inbox, clock)
        assert texts(await inbox.list()) == ["1", "b1", "2", "b2", "3", "b3", "4", "b4", "t1", "t2"]
        assert texts(await inbox.list(limit=2)) == ["t1", "t2"], "the newest, in order"
        assert texts(await inbox.list(limit=2, before=9)) == ["4", "b4"]
        assert texts(await inbox.list(since=begun + 60)) == ["4", "b4", "t1", "t2"]
        assert texts(await inbox.list(since=begun + 55, limit=2)) == ["4", "b4"]
        assert texts(await inbox.list(after=7, limit=2)) == ["b4", "t1"]
        assert texts(await inbox.list(after=2, before=5)) == ["2", "b2"]
        assert texts(await inbox.list(sender=BERT)) == ["b1", "b2", "b3", "b4"]
        assert texts(await inbox.list(sender=ANNA, since=begun + 30)) == ["3", "4", "t1", "t2"]
        assert texts(await inbox.list(topic="builds")) == ["t1"]
        assert texts(await inbox.list(topic="", sender=ANNA)) == ["1", "2", "3", "4"]
        assert await inbox.list(topic="\ud800", sender="'") == []
        assert await inbox.list(since=1e12) == []


async def test_a_list_since_a_time_is_complete_when_the_clock_was_set_back(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        begun = clock.time()
        await inbox.store([message(1)], {})
        clock.set_wall(begun - 1000)
        await inbox.store([message(2)], {})
        assert texts(await inbox.list(since=begun - 2000)) == ["1", "2"]
        assert texts(await inbox.list(since=begun)) == ["1"]


@pytest.mark.parametrize("fts", [True, False])
async def test_messages_are_found_by_their_words(tmp_path: Path, fts: bool) -> None:  # noqa: FBT001
    async with an_inbox(tmp_path, fts=fts) as (inbox, _):
        said = [
            "The build is broken: OOM in worker",
            "OOM again, worker restarted",
            "Größe der Datei, naïve café",
            "構建失敗了",
            "100% done_now (really)",
            "nul\0inside",
        ]
        await inbox.store([message(n, text=text) for n, text in enumerate(said, 1)], {})
        await inbox.store([topical(1, text="green", sender_name="carla")], {})

        async def found(query: str, limit: int = 50) -> list[str]:
            return [one.text for one in await inbox.search(query, limit)]

        assert await found("oom worker") == [said[1], said[0]], "newest first"
        assert await found("OOM", limit=1) == [said[1]]
        assert await found('"OOM in"') == [said[0]]
        assert await found('"in OOM"') == []
        assert await found("restart*") == [said[1]]
        assert await found("構建") == [said[3]], "a part of what the index takes for one word"
        assert await found("0% done_") == [said[4]]
        assert await found("(really)") == [said[4]]
        assert await found("inside") == [said[5]]
        assert await found("Größe") == [said[2]]
        assert await found("builds") == await found("CARLA") == ["green"]
        if fts:
            assert await found("grosse") == []
            assert await found("cafe NAIVE") == [said[2]]
        assert await found("") == await found("   ") == await found('""') == await found("\0") == []


NASTY = [
    '"',
    '"a',
    "a AND",
    "NOT",
    "OR OR",
    "NEAR(a b",
    "text:x",
    "a*b*",
    "*",
    "^a",
    "-",
    "a\0b",
    "\ud800",
    "(" * 400,
    "{a}:b",
]


async def test_no_query_is_a_syntax_error(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        await inbox.store([message(1, text="a b AND NOT x"), message(2, text="* ^a - ( {")], {})
        for query in [*NASTY, "x " * 10_000, "y" * 1_000_000]:
            await inbox.search(query)
        assert len(await inbox.search("AND")) == 1
        assert len(await inbox.search("^a")) == 2


@settings(max_examples=60)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_any_text_can_be_stored_and_searched_for(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> None:
    async def main() -> None:
        path = tmp_path_factory.mktemp("inbox") / "inbox.db"
        async with await Inbox.open(path, clock=ManualClock(), fsync="off") as inbox:
            stored = await inbox.store([message(n, text=text) for n, text in enumerate(said, 1)], {})
            assert [one.text for one in stored] == said
            for text in said:
                await inbox.search(text)
            assert await inbox.prune(1e12) == len(said)
            assert await inbox.search(said[0]) == []
            assert await inbox.database.check() == []

    asyncio.run(main())


async def test_the_index_is_filled_in_parts_and_search_fills_the_rest(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        await inbox.store([message(n, text=f"word{n} common") for n in range(1, 451)], {})
        assert [await inbox.index_some(), await inbox.index_some(50)] == [200, 50]
        assert len(await inbox.search("common", 1000)) == 450
        assert await inbox.index_some() == 0
        await inbox.store([message(n, text="x" * 200_000) for n in range(451, 461)], {})
        assert await inbox.index_some() == 2, "not too many bytes at once"
    async with an_inbox(tmp_path, fts=False) as (inbox, _):
        assert await inbox.index_some() == 0
        assert await inbox.prune(1e12) == 460
    async with an_inbox(tmp_path) as (inbox, _):
        await inbox.store([message(461, text="common again")], {})
        assert texts(await inbox.search("common")) == ["common again"]


async def test_what_is_pruned_is_gone_from_the_index_and_its_numbers_stay_duplicates(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        await inbox.store([message(n, text="old words") for n in range(1, 1201)], {})
        await inbox.search("old")
        clock.advance(10)
        await inbox.store([message(1201, text="new words")], {})
        assert await inbox.prune(clock.time()) == 1200
        assert texts(await inbox.search("words")) == ["new words"]
        assert await inbox.search("old") == []
        assert (await inbox.counts()).messages == 1
        assert await inbox.store([message(5)], {}) == []
        assert await inbox.prune(clock.time()) == 0
        assert await inbox.database.check() == []


async def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        await inbox.store([message(n, text=f"word{n} common") for n in range(1, 300)], {})
        assert len(await inbox.search("common", 1000)) == 299
    with closing(sqlite3.connect(tmp_path / "inbox.db")) as db:
        db.execute("UPDATE inbox_text_data SET block = x'00ff00ff00ff00ff00ff' WHERE id > 10")
        db.commit()
    async with an_inbox(tmp_path) as (inbox, _):
        assert inbox.recovered_from is None
        assert len(await inbox.search("common", 1000)) == 299
        assert len(await inbox.search("word7")) == 1
        await inbox.store([message(300, text="common")], {})
        assert len(await inbox.search("common", 1000)) == 300
