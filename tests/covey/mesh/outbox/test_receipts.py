"""Receipts: what a recipient has, told as a state, and applied once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.kernel.clock import ManualClock
from covey.mesh.outbox.outbox import Outbox
from tests.covey.mesh.outbox.outboxes import ANNA, BERT, an_outbox, on, to


async def test_a_receipt_says_what_newly_arrived_and_was_seen(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA)] * 8 + [to(BERT), on(ANNA)])
        ids = [item.id for item in handed]
        await outbox.record_acks(ids, clock.time())
        assert await outbox.record_receipt(ANNA, 2, [5, 6], [1], 7.0) == (
            [ids[0], ids[1], ids[4], ids[5]],
            [ids[0]],
        )
        assert await outbox.record_receipt(ANNA, 2, [5, 6], [1], 8.0) == ([], [])
        assert await outbox.record_receipt(ANNA, 6, [8, 8], [1, 7], 9.0) == (
            [ids[2], ids[3], ids[6], ids[7]],
            [ids[6]],
        )
        assert await outbox.record_receipt(ANNA, 1, [], [], 10.0) == ([], []), "an older one changes nothing"
        item = await outbox.get(ids[0])
        assert item is not None
        assert (item.delivered_at, item.inbox_at, item.seen_at) == (clock.time(), 7.0, 7.0)
        assert await outbox.open_recipients() == [ANNA, BERT]
        assert await outbox.record_receipt(ANNA, 8, [], [], 11.0) == ([], [])
        assert await outbox.open_recipients() == [BERT]
        other = await outbox.get(ids[9])
        assert other is not None
        assert other.inbox_at is None, "a topic with the name of a member is not that member"


async def test_a_receipt_that_is_faster_than_the_broker_counts_as_its_acknowledgement(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA)] * 3)
        assert (await outbox.record_receipt(ANNA, 2, [], [], 5.0)).inbox == [item.id for item in handed[:2]]
        assert [item.n for item in await outbox.pending()] == [3]
        assert (await outbox.counts())[:3] == (1, 2, 0)
        await outbox.record_acks([item.id for item in handed], clock.time())
        assert (await outbox.counts())[:3] == (0, 3, 0)
        item = await outbox.get(handed[0].id)
        assert item is not None
        assert item.delivered_at == 5.0


async def test_a_receipt_for_a_skip_is_not_one_for_the_dead_message(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, handed):
        await outbox.accept([to(ANNA)] * 2)
        await outbox.record_dead(handed[0].id, "no")
        assert await outbox.record_receipt(ANNA, 2, [], [1, 2], 5.0) == ([handed[1].id], [handed[1].id])
        assert [item.id for item in await outbox.dead()] == [handed[0].id]
        assert await outbox.pending() == []


async def test_receipts_go_on_after_a_restart_and_for_pruned_messages(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA)] * 4)
        await outbox.record_receipt(ANNA, 2, [], [], 5.0)
    async with an_outbox(tmp_path, clock) as (outbox, _, _):
        assert await outbox.record_receipt(ANNA, 2, [], [], 6.0) == ([], [])
        await outbox.prune(1e12)
        assert (await outbox.record_receipt(ANNA, 3, [], [1, 3], 7.0)).inbox == [handed[2].id]


@pytest.mark.parametrize(
    ("upto", "extra", "seen"),
    [
        (2**63, [], []),
        (-(2**70), [2**70, 2**71], [2**70, -1, 0]),
        (0, [5, 1, -3, -1, 0, 0, 2, 2**80], []),
        (0, list(range(1, 100_001)), list(range(100_000))),
        (0, [3], []),
    ],
)
async def test_a_hostile_receipt_covers_no_more_than_was_sent(
    tmp_path: Path, upto: int, extra: list[int], seen: list[int]
) -> None:
    async with an_outbox(tmp_path) as (outbox, _, handed):
        await outbox.accept([to(ANNA), to(ANNA), to(BERT)])
        told = await outbox.record_receipt(ANNA, upto, extra, seen, 5.0)
        assert set(told.inbox + told.seen) <= {item.id for item in handed[:2]}
        assert await outbox.record_receipt("nobody", upto, extra, seen, 5.0) == ([], [])
        assert (await outbox.accept([to(ANNA)])).items[0].n == 3
        later = await outbox.record_receipt(ANNA, 3, [], [], 6.0)
        assert (await outbox.accept([to(ANNA)])).items[0].id not in later.inbox


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 12), st.lists(st.integers(1, 12), max_size=4, unique=True)), max_size=8))
def test_receipts_in_any_order_tell_each_message_once(
    tmp_path_factory: pytest.TempPathFactory, states: list[tuple[int, list[int]]]
) -> None:
    async def main() -> None:
        path = tmp_path_factory.mktemp("outbox") / "outbox.db"
        async with await Outbox.open(path, clock=ManualClock(), fsync="off") as outbox:
            ids = [item.id for item in (await outbox.accept([to(ANNA)] * 10)).items]
            told, expected, seen_expected = list[str](), set[str](), set[str]()
            for upto, seen in states:
                receipt = await outbox.record_receipt(ANNA, upto, [], seen, 5.0)
                told += receipt.inbox
                expected |= set(ids[:upto]) | {ids[n - 1] for n in seen if n <= 10}
                seen_expected |= {ids[n - 1] for n in seen if n <= 10}
                assert set(told) == expected
            assert len(told) == len(set(told))
            assert {item.id for item in await outbox.list() if item.seen_at is not None} == seen_expected

    asyncio.run(main())
