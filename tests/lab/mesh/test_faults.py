"""A few faults in a real mesh, and the verifier on what a real mesh has done."""

from __future__ import annotations

import contextlib
import random
import sqlite3

from lab.mesh.claims import claims
from lab.mesh.frames import mangled
from lab.mesh.kills import kills
from lab.mesh.reminding import reminders
from lab.mesh.shared import shared
from lab.mesh.stage import open_stage
from lab.mesh.traffic import Traffic


def silent(_: str, __: int, ___: int) -> None:
    pass


async def test_kills_of_all_three_lose_and_double_nothing() -> None:
    outcome = await kills(4, 7, silent)
    assert outcome.broken == []
    assert outcome.figures["messages accepted"] > 0
    assert (outcome.figures["lost"], outcome.figures["doubled"]) == (0, 0)


async def test_shared_values_survive_kills_and_all_replicas_are_equal() -> None:
    outcome = await shared(3, 5, silent)
    assert not outcome.broken
    assert outcome.figures["values set"]
    assert outcome.figures["counted up, by compare-and-set"]


async def test_the_verifier_sees_what_an_inbox_has_lost_and_doubled() -> None:
    async with open_stage(members=["b"]) as stage:
        traffic = Traffic(stage, random.Random(1))
        writer = traffic.direct("a", "b")
        for _ in range(5):
            await writer.send()
        await stage.settle(traffic)
        assert (await stage.judge(traffic)).broken == []
        await stage.peers["b"].end()
        with contextlib.closing(sqlite3.connect(stage.peers["b"].folder / "inbox.db")) as database:
            database.execute("DELETE FROM inbox_message WHERE text = ?", (writer.accepted[1],))
            database.execute(
                "UPDATE inbox_message SET text = ? WHERE text = ?", (writer.accepted[4], writer.accepted[2])
            )
            database.commit()
        verdict = await stage.judge(traffic)
        assert (verdict.lost, verdict.doubled) == (2, 1)
        assert verdict.announced_wrong == 1


def test_a_mangled_frame_is_never_the_good_one() -> None:
    good, chance = bytes(range(256)) * 2, random.Random(3)
    frames = [mangled(good, chance) for _ in range(2000)]
    assert good not in frames
    assert b"" in frames
    assert max(map(len, frames)) > 1000 * 60


async def test_claimants_of_tasks_and_reminders_under_a_kill() -> None:
    for outcome in (await claims(40, 1, 7, silent, at=2), await reminders(1, 7, silent)):
        assert outcome.broken == []
        assert outcome.figures
