"""Messages that are given up: the recipient is told not to wait, and a person can send or drop them."""

from __future__ import annotations

from pathlib import Path

from tests.covey.mesh.outbox.outboxes import ANNA, BERT, an_outbox, on, to

HOUR_S = 3600.0


async def test_what_is_too_old_is_dead_and_its_number_is_skipped(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA), to(ANNA), on("*")])
        await outbox.record_failure(handed[1].id, "no route", clock.time())
        clock.advance(HOUR_S)
        await outbox.accept([to(ANNA)])
        assert await outbox.expire(clock.time(), 2 * HOUR_S) == []
        dead = await outbox.expire(clock.time(), HOUR_S / 2)
        assert [(item.n, item.status, item.last_error) for item in dead] == [
            (1, "dead", "it could not be sent in time"),
            (2, "dead", "no route"),
            (1, "dead", "it could not be sent in time"),
        ]
        skips = handed[4:]
        assert [(item.target, item.n, item.skip, item.body) for item in skips] == [
            (ANNA, 1, True, b""),
            (ANNA, 2, True, b""),
        ]
        assert await outbox.pending() == [handed[3], *skips], "nobody waits for a number of a topic"
        assert [item.id for item in await outbox.dead()] == [item.id for item in dead[::-1]]
        assert not {item.id for item in skips} & {item.id for item in await outbox.list()}, "a skip is not a message"


async def test_a_requeued_message_has_a_new_number_and_its_own_id(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA, "first"), to(ANNA, "second")])
        dead = await outbox.record_dead(handed[0].id, "the recipient has left")
        assert dead is not None
        assert dead.last_error == "the recipient has left"
        clock.advance(HOUR_S)
        (requeued,) = await outbox.requeue([dead.id, handed[1].id, "unknown"])
        assert (requeued.former_n, requeued.item.n, requeued.item.id) == (1, 3, dead.id)
        assert (requeued.item.body, requeued.item.status) == (b"first", "pending")
        assert requeued.item.enqueued_at == clock.time(), "it has all the time again"
        assert handed[-1] == requeued.item == await outbox.get(dead.id)
        assert await outbox.dead() == []
        assert [item.n for item in await outbox.pending()] == [2, 1, 3]


async def test_all_dead_messages_are_requeued_or_dropped_by_one_call(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, _):
        await outbox.accept([to(ANNA)] * 1200)
        clock.advance(HOUR_S)
        assert len(await outbox.expire(clock.time(), 1.0)) == 1200
        assert [one.item.n for one in await outbox.requeue()] == list(range(1201, 2401))
        clock.advance(HOUR_S)
        assert len(await outbox.expire(clock.time(), 1.0)) == 1200
        assert len(await outbox.drop()) == 1200
        assert (await outbox.counts())[:3] == (1200, 0, 0), "the skips of the second time; those of the first are old"
        assert await outbox.drop() == []
        assert await outbox.requeue() == []


async def test_a_dropped_message_that_is_pending_is_skipped_and_a_dead_one_only_once(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA), to(BERT), on("*"), to(ANNA)])
        await outbox.record_dead(handed[1].id, "gone")
        await outbox.record_acks([handed[3].id], clock.time())
        dropped = await outbox.drop([item.id for item in handed])
        assert [item.n for item in dropped] == [1, 1, 1]
        assert [(item.target, item.n, item.skip) for item in await outbox.pending()] == [
            (BERT, 1, True),
            (ANNA, 1, True),
        ]
        assert [item.id for item in await outbox.list()] == [handed[3].id], "what is at the broker stays"


async def test_an_acknowledgement_that_comes_after_a_message_was_given_up_counts(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA), to(ANNA)])
        await outbox.record_dead(handed[0].id, "too late")
        await outbox.record_acks([item.id for item in handed[:2]], clock.time())
        assert [item.status for item in await outbox.list()] == ["done", "done"]
        assert (await outbox.counts())[:3] == (1, 2, 0)


async def test_done_and_dead_messages_are_kept_for_as_long_as_asked(tmp_path: Path) -> None:
    async with an_outbox(tmp_path) as (outbox, clock, handed):
        await outbox.accept([to(ANNA)] * 700 + [to(BERT), to(BERT)])
        await outbox.record_acks([item.id for item in handed[:700]], clock.time())
        await outbox.record_dead(handed[700].id, "gone")
        clock.advance(HOUR_S)
        assert await outbox.prune(clock.time() - 2 * HOUR_S) == 0
        assert await outbox.prune(clock.time()) == 700
        assert (await outbox.counts())[:3] == (2, 0, 1)
        assert await outbox.prune(clock.time(), dead_older_than=clock.time()) == 1
        assert [item.n for item in await outbox.pending()] == [2, 1]
