"""Accepting: durable, numbered without holes, once per key, all or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.kernel.clock import ManualClock
from covey.kernel.store.errors import StoreClosedError
from covey.mesh.outbox.outbox import Accepted, Draft, Item, Limits, Outbox
from murli import AgentError
from tests.covey.mesh.outbox.outboxes import ANNA, BERT, an_outbox, on, to

DAY_S = 24 * 3600.0


async def test_each_target_is_numbered_from_one_without_holes(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        first = await outbox.accept([to(ANNA), to(BERT), to(ANNA), on(ANNA), on("*")])
        second = await outbox.accept([to(ANNA), on("*")])
        assert [(item.kind, item.target, item.n) for item in first.items + second.items] == [
            ("direct", ANNA, 1),
            ("direct", BERT, 1),
            ("direct", ANNA, 2),
            ("topic", ANNA, 1),
            ("topic", "*", 1),
            ("direct", ANNA, 3),
            ("topic", "*", 2),
        ]
        assert handed == [*first.items, *second.items] == await outbox.pending()
        assert {len(item.id) for item in handed} == {26}
        assert len({item.id for item in handed}) == 7
        assert handed[0].enqueued_at == handed[0].next_attempt_at == clock.time()
        assert await outbox.pending(2, after=handed[1].position) == handed[2:4]
    async with an_outbox(tmp_path) as (outbox, _, again):
        assert await outbox.pending() == handed, "they are still there after a restart"
        assert (await outbox.accept([to(ANNA)])).items[0].n == 4
        assert len(again) == 1


async def test_the_id_of_the_outbox_is_made_with_its_file(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, _):
        made = outbox.outbox_id
    async with an_outbox(tmp_path) as (outbox, _, _):
        assert outbox.outbox_id == made
        assert outbox.recovered_from is None
    (tmp_path / "other").mkdir()
    async with an_outbox(tmp_path / "other") as (outbox, _, _):
        assert outbox.outbox_id != made


async def test_a_key_stores_once_and_returns_the_same_answer(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        first = await outbox.accept([to(ANNA)], key="k", fingerprint=b"f", answer=lambda items: items[0].id.encode())
        clock.advance(DAY_S - 1)
        again = await outbox.accept([to(ANNA)], key="k", fingerprint=b"f", answer=lambda _: b"something else")
        assert again == Accepted(items=(), replayed=True, answer=first.answer)
        assert first.answer == first.items[0].id.encode()
        assert len(handed) == len(await outbox.pending()) == 1
        with pytest.raises(AgentError) as refused:
            await outbox.accept([to(ANNA)], key="k", fingerprint=b"other")
        assert (refused.value.error, refused.value.field) == ("conflict", "Idempotency-Key")
        clock.advance(2)
        assert not (await outbox.accept([to(ANNA)], key="k", fingerprint=b"other")).replayed, "a day later it is free"


async def test_a_key_is_remembered_over_a_restart_until_it_is_pruned(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, _):
        first = await outbox.accept([to(ANNA)], key="k", fingerprint=b"f")
    async with an_outbox(tmp_path, clock) as (outbox, _, _):
        assert (await outbox.accept([to(ANNA)], key="k", fingerprint=b"f")).answer == first.answer
        clock.advance(DAY_S + 1)
        await outbox.prune(0.0)
        count = "SELECT count(*) FROM outbox_key"
        assert await outbox.database.read(lambda db: db.execute(count).fetchone()[0]) == 0


async def test_concurrent_calls_with_one_key_store_one_message(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, handed):
        answers = await asyncio.gather(
            *(outbox.accept([to(ANNA, str(n))], key="k", fingerprint=b"f") for n in range(50))
        )
        assert len({one.answer for one in answers}) == 1
        assert [one.replayed for one in answers] == [False] + [True] * 49
        assert len(handed) == 1
        others = await asyncio.gather(
            *(outbox.accept([to(ANNA)], key="l", fingerprint=b"%d" % n) for n in range(5)), return_exceptions=True
        )
        assert [getattr(one, "error", "accepted") for one in others] == ["accepted"] + ["conflict"] * 4


async def test_a_full_queue_takes_nothing_of_a_call_and_still_answers_known_keys(tmp_path: Path) -> None:
    limits = Limits(max_queue_size=3)
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        known = await outbox.accept([to(ANNA), to(ANNA)], key="k", limits=limits)
        with pytest.raises(AgentError) as refused:
            await outbox.accept([to(ANNA), to(BERT)], key="l", limits=limits)
        assert (refused.value.error, refused.value.recoverable) == ("queue_full", True)
        assert refused.value.suggestion
        await outbox.accept([to(ANNA)], limits=limits)
        assert (await outbox.accept([to(ANNA), to(ANNA)], key="k", limits=limits)).answer == known.answer
        assert [item.n for item in handed] == [1, 2, 3], "a refused call uses no numbers"
        await outbox.record_acks([handed[0].id], clock.time())
        assert not (await outbox.accept([to(BERT)], key="l", limits=limits)).replayed, "a refused call used no key"
        assert (await outbox.counts())[:3] == (3, 1, 0)


async def test_many_concurrent_calls_never_exceed_the_limit_nor_leave_holes(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, handed):
        tried = await asyncio.gather(
            *(outbox.accept([to(ANNA)] * 3, limits=Limits(max_queue_size=100)) for _ in range(60)),
            return_exceptions=True,
        )
        assert sum(isinstance(one, Accepted) for one in tried) == 33
        assert [item.n for item in handed] == list(range(1, 100))
        assert [item.position for item in handed] == list(range(1, 100))


async def test_a_call_that_is_cancelled_is_accepted_or_not_and_handed_over_if_it_is(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, handed):
        calls = [asyncio.create_task(outbox.accept([to(ANNA, str(n))])) for n in range(40)]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await outbox.accept([to(BERT)])
        assert handed == await outbox.pending()
        assert [item.n for item in handed if item.target == ANNA] == list(range(1, len(handed)))


async def test_a_call_that_fails_takes_nothing_with_it(tmp_path: Path) -> None:
    def fail(_: Sequence[Item]) -> bytes:
        raise ZeroDivisionError

    async with an_outbox(tmp_path) as (outbox, _, handed):
        results = await asyncio.gather(
            outbox.accept([to(ANNA), to(BERT)]),
            outbox.accept([to(ANNA)] * 3, key="k", answer=fail),
            outbox.accept([to(ANNA), to(BERT)], key="k"),
            return_exceptions=True,
        )
        assert isinstance(results[1], ZeroDivisionError)
        assert [(item.target, item.n) for item in handed] == [(ANNA, 1), (BERT, 1), (ANNA, 2), (BERT, 2)]
        assert await outbox.pending() == handed


async def test_what_was_called_before_the_closing_is_accepted(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, handed):
        calls = [asyncio.create_task(outbox.accept([to(ANNA)])) for _ in range(20)]
        await asyncio.sleep(0)
    await asyncio.gather(*calls)
    assert len(handed) == 20


@pytest.mark.parametrize("key", ["", "two words", "x" * 201, "ä", "\ud800", "a\0b", "a\n"])
async def test_a_key_that_cannot_be_one_is_refused(tmp_path: Path, key: str) -> None:
    async with an_outbox(tmp_path) as (outbox, _, _):
        with pytest.raises(AgentError, match="not usable"):
            await outbox.accept([to(ANNA)], key=key)
        assert await outbox.pending() == []


async def test_hostile_values_are_stored_or_refused_with_words(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        strange = Draft(kind="topic", target="a\0b' OR 1=1 --\u202e", body=b"\xff\0" * 400_000, request="r\0")
        await outbox.accept([strange, to("")])
        assert [(item.target, item.body, item.request) for item in await outbox.pending()] == [
            (strange.target, strange.body, strange.request),
            ("", b"hello", ""),
        ]
        for draft, error in ((to("\ud800"), "user_error"), (to(ANNA, "x" * 1_000_001), "message_too_large")):
            with pytest.raises(AgentError) as refused:
                await outbox.accept([to(BERT), draft])
            assert refused.value.error == error
        assert len(handed) == 2
        assert (await outbox.accept([])).items == ()
        for id_ in ("", "\ud800", "ä", "x" * 10_000, "'; DROP TABLE outbox_item"):
            assert await outbox.get(id_) is None
            await outbox.record_acks([id_], clock.time())
            await outbox.record_failure(id_, "\ud800" * 10_000, 0.0)
            assert await outbox.record_dead(id_, "\ud800") is None
            assert await outbox.drop([id_]) == []
            assert await outbox.requeue([id_]) == []
            assert await outbox.list(target=id_ or "x") == []
            assert await outbox.record_receipt(id_ or "x", 1, [], [], 0.0) == ([], [])
        assert len(await outbox.pending()) == 2


async def test_a_closed_outbox_refuses_with_words(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, _):
        pass
    with pytest.raises(StoreClosedError):
        await outbox.accept([to(ANNA)])
    await outbox.aclose()


async def test_a_damaged_file_is_moved_aside_and_a_new_outbox_begins(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, _, _):
        await outbox.accept([to(ANNA)] * 50)
        former = outbox.outbox_id
    path = tmp_path / "outbox.db"
    content = path.read_bytes()
    path.write_bytes(content[:12_288] + b"\x55" * (len(content) - 12_288))
    async with an_outbox(tmp_path) as (outbox, _, _):
        assert outbox.recovered_from is not None
        assert outbox.recovered_from.read_bytes()[:12_288] == content[:12_288]
        assert outbox.outbox_id != former, "its numbers must not be taken for those of the former"
        assert (await outbox.accept([to(ANNA)])).items[0].n == 1


STEPS = st.sampled_from(["accept", "acknowledge", "fail", "bury", "requeue", "drop", "restart"])


class Run:
    """An outbox, and what was done to it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "outbox.db"
        self.clock = ManualClock()
        self.numbers: dict[str, list[int]] = {}
        """Those that were given, by target."""
        self.acknowledged = set[str]()

    async def open(self) -> None:
        self.outbox = await Outbox.open(self.path, clock=self.clock, fsync="off")

    async def step(self, name: str, target: str, amount: int) -> None:
        if name == "accept":
            for item in (await self.outbox.accept([to(target)] * amount)).items:
                self.numbers.setdefault(target, []).append(item.n)
        elif name == "requeue":
            for one in await self.outbox.requeue([item.id for item in await self.outbox.dead(amount)]):
                self.numbers[one.item.target].append(one.item.n)
        elif name == "restart":
            await self.outbox.aclose()
            await self.open()
        else:
            await self.change([item.id for item in await self.outbox.pending() if not item.skip][:amount], name)

    async def change(self, pending: list[str], name: str) -> None:
        if name == "acknowledge":
            await self.outbox.record_acks(pending, self.clock.time())
            self.acknowledged.update(pending)
        elif name == "drop":
            await self.outbox.drop(pending + [item.id for item in await self.outbox.dead(1)])
        else:
            for id_ in pending:
                if name == "fail":
                    await self.outbox.record_failure(id_, "no", self.clock.time())
                else:
                    await self.outbox.record_dead(id_, "never")

    async def check(self) -> None:
        items, counts = await self.outbox.list(limit=1000), await self.outbox.counts()
        assert counts.pending == len(await self.outbox.pending())
        assert counts.dead == sum(item.status == "dead" for item in items)
        assert {item.id for item in items if item.status == "done"} == self.acknowledged
        query = "SELECT target, n FROM outbox_item WHERE status != 'dead'"
        rows = await self.outbox.database.read(lambda db: db.execute(query).fetchall())
        for target, numbers in self.numbers.items():
            assert numbers == list(range(1, len(numbers) + 1))
            assert sorted(n for other, n in rows if other == target) == numbers, "each is sent or skipped, once"


@settings(max_examples=40)
@given(st.lists(st.tuples(STEPS, st.sampled_from([ANNA, BERT]), st.integers(1, 3)), max_size=25))
def test_whatever_happens_numbers_are_dense_and_what_is_pending_is_counted(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    async def main() -> None:
        run = Run(tmp_path_factory.mktemp("outbox"))
        await run.open()
        try:
            for step in steps:
                await run.step(*step)
                await run.check()
        finally:
            await run.outbox.aclose()

    asyncio.run(main())
