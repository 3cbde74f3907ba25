"""Storing: each message once, direct ones in order, with the position of the stream in the same transaction."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.kernel.clock import ManualClock
from covey.mesh.inbox.inbox import HeldBack, Inbox, Message
from covey.mesh.inbox.intake import MOST_OUTBOXES
from tests.covey.mesh.inbox.inboxes import ANNA, BERT, an_inbox, message, texts, topical


async def test_a_message_is_stored_with_all_that_was_sent(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        sent = message(
            1,
            text="hello",
            meta={"a": [1, {"b": None}], "big": 2**70},
            priority="now",
            reply_to="other",
            mentions=["@bert", "ü"],
            hops=3,
            agent="claude",
            from_agent="codex",
        )
        (stored,) = await inbox.store([sent], {"DM": 7})
        assert stored == Message(
            position=1,
            id=sent.id,
            kind="direct",
            sender=ANNA,
            sender_name="anna",
            topic="",
            text="hello",
            meta={"a": [1, {"b": None}], "big": 2**70},
            priority="now",
            reply_to="other",
            mentions=["@bert", "ü"],
            hops=3,
            agent="claude",
            from_agent="codex",
            epoch=0,
            sent_at=1.5,
            received_at=clock.time(),
            late=False,
            seen_at=None,
        )
        (posted,) = await inbox.store([topical(4)], {})
        assert (posted.kind, posted.topic, posted.epoch, posted.meta) == ("topic", "builds", 1, None)
        assert await inbox.get(sent.id) == stored
        assert await inbox.after(0) == [stored, posted]
        assert await inbox.after(1, 1) == [posted]
        assert await inbox.cursor("DM") == 7
    async with an_inbox(tmp_path) as (inbox, _):
        assert await inbox.after(0) == [stored, posted]
        assert await inbox.store([sent, topical(4)], {"DM": 3}) == []
        assert inbox.duplicates == 2
        assert await inbox.cursor("DM") == 7, "a position never goes back"


async def test_direct_messages_are_delivered_in_order_and_held_until_then(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        assert texts(await inbox.store([message(3), message(1), message(3)], {})) == ["1"]
        assert (await inbox.counts()).messages == 1
        assert [one.messages for one in inbox.held_back()] == [1]
        assert inbox.numbers(ANNA) == {"ob1": (1, [3, 3])}, "what is held is in the inbox"
    async with an_inbox(tmp_path) as (inbox, _):
        assert inbox.numbers(ANNA) == {"ob1": (1, [3, 3])}
        released = await inbox.store([message(5), message(2), message(4)], {})
        assert texts(released) == ["2", "3", "4", "5"]
        assert [one.position for one in released] == sorted(one.position for one in released)
        assert inbox.numbers(ANNA) == {"ob1": (5, [])}
        assert ((await inbox.counts()).messages, inbox.held_back()) == (5, [])


async def test_how_many_messages_of_whom_are_held_back_and_until_when_is_right_at_any_moment(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        began = clock.time()
        await inbox.store([message(3), message(4), message(3), topical(9)], {})
        assert inbox.held_back() == [HeldBack(ANNA, 2, began + 300)]
        clock.advance(100)
        await inbox.store([message(6), message(2, sender=BERT), message(2, outbox="ob2")], {})
        both = [HeldBack(ANNA, 4, began + 400), HeldBack(BERT, 1, began + 400)]
        assert inbox.held_back() == both
    async with an_inbox(tmp_path, clock) as (inbox, _):
        assert inbox.held_back() == both, "it is the same after a restart"
        await inbox.store([message(1), message(2)], {})
        assert inbox.held_back()[0] == HeldBack(ANNA, 2, began + 400)
        clock.advance(300)
        assert len(await inbox.release_overdue(clock.time())) == 3, "the last of them was delivered at that time"
        assert inbox.held_back() == []


async def test_senders_and_outboxes_do_not_wait_for_each_other(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        batch = [message(2), message(1, sender=BERT), message(1, outbox="ob2"), topical(9)]
        assert len(await inbox.store(batch, {})) == 3
        assert inbox.numbers(ANNA) == {"ob1": (0, [2, 2]), "ob2": (1, [])}
        assert inbox.numbers(BERT) == {"ob1": (1, [])}
        assert inbox.numbers("nobody") == {}


async def test_a_skipped_number_is_not_waited_for(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        assert texts(await inbox.store([message(1), message(2, skip=True), message(3)], {})) == ["1", "3"]
        assert texts(await inbox.store([message(5, skip=True), message(6), message(4)], {})) == ["4", "6"]
        assert await inbox.store([message(2), message(5)], {}) == []
        assert inbox.numbers(ANNA) == {"ob1": (6, [])}
        assert await inbox.store([topical(1, skip=True)], {}) == []
        assert ((await inbox.counts()).messages, inbox.held_back()) == (4, [])


async def test_a_hole_is_given_up_after_its_time_and_what_comes_then_is_late(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        await inbox.store([message(2), message(3)], {})
        clock.advance(200)
        await inbox.store([message(6)], {})
        assert await inbox.release_overdue(clock.time()) == []
        clock.advance(100)
        assert texts(await inbox.release_overdue(clock.time())) == ["2", "3"], "6 has waited for 100 s only"
        assert inbox.numbers(ANNA) == {"ob1": (0, [2, 3, 6, 6])}, "a receipt never says that 1 has come"
        (late,) = await inbox.store([message(1)], {})
        assert late.late
        assert await inbox.store([message(1), message(2)], {}) == []
    clock.advance(200)
    async with an_inbox(tmp_path, clock) as (inbox, _):
        assert texts(await inbox.release_overdue(clock.time())) == ["6"], "also after a restart"
        assert await inbox.release_overdue(clock.time() + 1e6) == []
        assert texts(await inbox.store([message(7), message(9)], {})) == ["7"]


async def test_the_first_hole_is_waited_for_since_the_first_message_behind_it(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        for n in range(2, 30):
            await inbox.store([message(n)], {})
            clock.advance(15)
        assert len(await inbox.release_overdue(clock.time())) == 28, "later ones do not put it off"


async def test_a_clock_that_is_set_back_does_not_hold_messages_for_that_long(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        await inbox.store([message(2)], {})
        clock.set_wall(clock.time() - 86_400)
        assert await inbox.release_overdue(clock.time()) == []
        clock.advance(300)
        assert texts(await inbox.release_overdue(clock.time())) == ["2"]


async def test_topics_are_delivered_at_once_and_each_number_once(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        released = await inbox.store([topical(n) for n in (5000, 5002, 4999, 5001, 5000, 4999)], {"TOPICS": 6})
        assert texts(released) == ["5000", "5002", "4999", "5001"]
        assert not any(one.late for one in released)
        assert await inbox.store([topical(10)], {}) == [], "that is from long before the first that was seen"
        assert inbox.numbers(ANNA) == {}


async def test_a_message_that_was_sent_again_under_a_new_number_is_delivered_once(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        await inbox.store([message(1, id="same")], {})
        assert texts(await inbox.store([message(2, id="same"), message(3)], {})) == ["3"]
        assert inbox.numbers(ANNA) == {"ob1": (3, [])}, "the number has come all the same"
        assert texts(await inbox.store([message(1, sender=BERT, id="same", text="his")], {})) == ["his"]
        found = await inbox.get("same")
        assert found is not None
        assert found.sender == ANNA, "nobody can put a message in the place of another's"


async def test_concurrent_batches_with_the_same_messages_deliver_each_once(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        batches = [[message(n) for n in range(first, first + 20)] for first in (1, 11, 31, 21, 1)]
        released = await asyncio.gather(*(inbox.store(batch, {"DM": 50}) for batch in batches))
        everything = [one for batch in released for one in batch]
        assert texts(sorted(everything, key=lambda one: one.position)) == [str(n) for n in range(1, 51)]
        assert inbox.numbers(ANNA) == {"ob1": (50, [])}


async def test_a_new_stream_of_the_same_name_is_read_from_its_beginning(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        assert await inbox.cursor("DM", "monday") == 0
        await inbox.store([], {"DM": 10})
        assert await inbox.cursor("DM", "monday") == 10
        assert await inbox.cursor("DM") == 10
        assert await inbox.cursor("DM", "tuesday") == 0
        assert await inbox.cursor("DM", "tuesday") == 0
        assert await inbox.store([], {}) == []
        await inbox.store([], {"TOPICS": 3})
        assert await inbox.cursor("TOPICS", "monday") == 3
    async with an_inbox(tmp_path) as (inbox, _):
        assert await inbox.cursor("DM", "tuesday") == 0
        assert await inbox.cursor("TOPICS", "tuesday") == 0


async def test_what_was_seen_is_told_once_and_kept(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        first, second, posted = await inbox.store([message(1), message(2), topical(1)], {})
        assert await inbox.record_seen(second.id) == (ANNA, "ob1", 2)
        assert await inbox.record_seen(second.id) is None
        assert await inbox.record_seen("unknown") is None
        assert await inbox.record_seen(posted.id) is None, "there are no receipts for topics"
        clock.advance(1)
        await inbox.record_seen(first.id)
        assert inbox.seen(ANNA) == {"ob1": [2, 1]}
        assert inbox.seen(BERT) == {}
        found = await inbox.get(first.id)
        assert found is not None
        assert found.seen_at == clock.time()
    async with an_inbox(tmp_path) as (inbox, _):
        assert inbox.seen(ANNA) == {"ob1": [2, 1]}


async def test_receipts_name_the_thousand_that_were_seen_last(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        stored = await inbox.store([message(n) for n in range(1, 1102)], {})
        await asyncio.gather(*(inbox.record_seen(one.id) for one in [*stored[1:], stored[0]]))
        assert inbox.seen(ANNA) == {"ob1": [*range(103, 1102), 1]}


HOSTILE: list[dict[str, Any]] = [
    {"text": "x" * 1_000_000},
    {"text": "a\0b\0" * 100},
    {"text": "\ud800 half \udc00", "sender_name": "\ud800", "reply_to": "\udfff", "agent": "\ud800"},
    {"text": "\ud83d\ude00 a pair of halves"},
    {"meta": {"\ud800": ["\udfff", {"x": "\ud800"}]}},
    {"meta": {"deep": None}, "hops": -(2**70)},
    {"hops": 2**70, "epoch": 2**70, "priority": "urgent\0"},
    {"at": float("nan")},
    {"at": float("-inf")},
    {"id": "", "sender": "", "outbox": "", "text": ""},
    {"id": "\ud800", "sender": "'; DROP TABLE inbox_message", "outbox": "\0"},
    {"mentions": ["\ud800"] * 1000},
]


@pytest.mark.parametrize("strange", HOSTILE)
async def test_hostile_values_are_stored_and_read_again(tmp_path: Path, strange: dict[str, Any]) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        (stored,) = await inbox.store([message(1, **strange)], {"DM": 1})
        assert await inbox.after(0) == [stored]
        assert await inbox.get(stored.id) == stored
        assert await inbox.index_some() == 1
        sent = str(strange.get("text", "text 1"))
        assert stored.text == sent.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert await inbox.prune(1e12) == 1


async def test_meta_that_is_nested_too_deeply_is_left_out_and_the_text_kept(tmp_path: Path) -> None:
    nested: dict[str, Any] = {}
    for _ in range(100_000):
        nested = {"a": nested}
    async with an_inbox(tmp_path) as (inbox, _):
        (stored,) = await inbox.store([message(1, meta=nested)], {})
        assert (stored.text, stored.meta) == ("text 1", None)


@pytest.mark.parametrize("n", [0, -1, -(2**70), 2**53, 2**63, 2**70])
async def test_a_number_that_cannot_be_one_is_left_out_and_the_stream_goes_on(tmp_path: Path, n: int) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        assert texts(await inbox.store([message(n), message(1)], {"DM": 2, "\ud800": 2**70})) == ["1"]
        assert await inbox.cursor("DM") == 2


async def test_a_sender_that_makes_up_outboxes_costs_no_more_than_the_greatest_number_of_them(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        await inbox.store([message(2, outbox="held")], {})
        clock.advance(1)
        delivered = await inbox.store([message(1, outbox=f"made up {n}") for n in range(300)], {})
        assert len(delivered) == 301, "what was held for one that is forgotten is delivered"
        assert len(inbox.numbers(ANNA)) == MOST_OUTBOXES
        assert "held" not in inbox.numbers(ANNA)
        assert ((await inbox.counts()).messages, inbox.held_back()) == (301, [])
        assert await inbox.release_overdue(clock.time() + 1e6) == []
        assert await inbox.store([message(2, outbox="held")], {}) == [], "held back again, and its id is known"
        assert await inbox.release_overdue(clock.time() + 1e6) == []


async def test_a_sender_that_leaves_holes_on_purpose_gets_its_messages_delivered(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, clock):
        numbers = list(range(3, 4000, 2))
        released = await inbox.store([message(n) for n in numbers], {})
        released += await inbox.store([message(2**53 - 1)], {})
        clock.advance(300)
        released += await inbox.release_overdue(clock.time())
        assert texts(released) == [str(n) for n in [*numbers, 2**53 - 1]]
        assert inbox.held_back() == []


async def test_a_damaged_file_is_moved_aside_and_everything_is_read_again(tmp_path: Path) -> None:
    async with an_inbox(tmp_path) as (inbox, _):
        await inbox.store([message(n) for n in range(1, 200)], {"DM": 199})
    path = tmp_path / "inbox.db"
    content = path.read_bytes()
    path.write_bytes(content[:12_288] + b"\x55" * (len(content) - 12_288))
    async with an_inbox(tmp_path) as (inbox, _):
        assert inbox.recovered_from is not None
        assert inbox.recovered_from.exists()
        assert await inbox.cursor("DM") == 0
        assert len(await inbox.store([message(n) for n in range(1, 200)], {"DM": 199})) == 199


ARRIVALS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "t"]), st.integers(1, 14)), max_size=60)


@settings(max_examples=50)
@given(ARRIVALS, st.lists(st.integers(1, 9), min_size=1, max_size=8), st.sets(st.integers(1, 14), max_size=3))
def test_any_order_with_duplicates_holes_and_restarts_delivers_each_once_and_direct_ones_in_order(
    tmp_path_factory: pytest.TempPathFactory, arrivals: list[tuple[str, str, int]], sizes: list[int], skips: set[int]
) -> None:
    async def main() -> None:
        path, clock = tmp_path_factory.mktemp("inbox") / "inbox.db", ManualClock()
        released, rest, step = list[Message](), arrivals, 0
        inbox = await Inbox.open(path, clock=clock, fsync="off", hold_s=300.0)
        try:
            while rest:
                size = sizes[step % len(sizes)]
                batch = [
                    message(n, sender=sender, scope=scope, topic=scope, skip=not scope and n in skips)
                    for sender, scope, n in rest[:size]
                ]
                released += await inbox.store(batch, {"DM": step})
                assert await inbox.store(batch, {"DM": step}) == [], "the same batch again"
                rest, step = rest[size:], step + 1
                if size == 1:
                    await inbox.aclose()
                    inbox = await Inbox.open(path, clock=clock, fsync="off", hold_s=300.0)
            check_order(released, arrivals, skips)
            clock.advance(300)
            released += await inbox.release_overdue(clock.time())
            assert released == await inbox.after(0)
            wanted = {(a, b, n) for a, b, n in arrivals if b or n not in skips}
            got = [(one.sender, one.topic, int(one.text.removeprefix("text "))) for one in released]
            assert sorted(got) == sorted(wanted)
            assert await inbox.release_overdue(clock.time() + 1e6) == []
        finally:
            await inbox.aclose()

    def check_order(released: list[Message], arrivals: list[tuple[str, str, int]], skips: set[int]) -> None:
        for sender in "ab":
            come = {n for who, scope, n in arrivals if (who, scope) == (sender, "")}
            hole = next(n for n in range(1, 16) if n not in come)
            direct = [one for one in released if (one.sender, one.topic) == (sender, "")]
            assert texts(direct) == [str(n) for n in range(1, hole) if n not in skips]

    asyncio.run(main())
