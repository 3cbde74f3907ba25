"""The truth log: in order, on disk, and awake."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lab.truth import TruthLog


async def test_a_task_that_waits_is_woken_by_the_fact_that_makes_its_condition_true() -> None:
    log = TruthLog()
    waiting = asyncio.create_task(log.until(lambda: len(log.facts) == 2, 5))
    log.note("a", "request")
    await asyncio.sleep(0)
    assert not waiting.done()
    log.note("a", "answered")
    await waiting


async def test_what_is_true_already_is_not_waited_for() -> None:
    await TruthLog().until(lambda: True, 5)


async def test_waiting_in_vain_times_out_and_leaves_the_log_usable() -> None:
    log = TruthLog()
    with pytest.raises(TimeoutError):
        await log.until(lambda: False, 0.05)
    log.note("a", "request")
    await log.until(lambda: bool(log.facts), 5)


async def test_many_can_wait_at_once() -> None:
    log = TruthLog()
    waiting = [asyncio.create_task(log.until(lambda: bool(log.of("b")), 5)) for _ in range(3)]
    log.note("a", "request")
    log.note("b", "request")
    await asyncio.gather(*waiting)


async def test_the_facts_of_a_conversation_are_in_order_of_time_and_without_the_others() -> None:
    log = TruthLog()
    log.note("a", "answered", at=20.0)
    log.note("b", "request", at=15.0)
    log.note("a", "request", at=10.0)
    log.note("a", "gone", at=20.0)
    assert [fact.kind for fact in log.of("a")] == ["request", "answered", "gone"]
    assert [fact.kind for fact in log.facts] == ["answered", "request", "request", "gone"]


async def test_every_fact_is_a_line_of_json_on_disk_at_once(tmp_path: Path) -> None:
    file = tmp_path / "truth.jsonl"
    log = TruthLog(file)
    log.note("a", "call", at=1.23456789, tool="Bäsh", waits="")
    log.note("a", "answered", at=2.0)
    assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] == [
        {"at": 1.2346, "conversation": "a", "kind": "call", "tool": "Bäsh", "waits": ""},
        {"at": 2.0, "conversation": "a", "kind": "answered"},
    ]
