"""Idempotency-Key: a repeated call is answered again, not done again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from covey.contract import Operation
from covey.kernel.clock import ManualClock
from covey.kernel.operations.call import Call, Caller
from covey.kernel.operations.idempotency import KEPT_S, MIGRATIONS, Answer, IdempotentCalls
from covey.kernel.store.store import Store
from murli import AgentError
from tests.covey.conftest import Covey

OPERATION = Operation("op", "Does something.", cli=["op"], route="/v1/op", mutating=True)
OTHER = Operation("other", "Does something else.", cli=["other"], route="/v1/other", mutating=True)


def asked(operation: str, params: dict[str, Any], uid: int = 1000) -> Call:
    return Call(OTHER if operation == "other" else OPERATION, params, Caller("unix", uid))


async def once(
    calls: IdempotentCalls, key: str, operation: str, params: dict[str, Any], perform: Callable[[], Awaitable[Answer]]
) -> Answer:
    return await calls.once(key, asked(operation, params), perform)


class Counter:
    """A call that counts how often it was made."""

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.made = 0
        self.free = asyncio.Event()
        self.free.set()

    async def __call__(self) -> Answer:
        self.made += 1
        made = self.made
        await self.free.wait()
        return Answer(self.code, b"%d" % made)


@contextlib.asynccontextmanager
async def open_calls(folder: Path) -> AsyncIterator[tuple[IdempotentCalls, ManualClock]]:
    async with await Store.open(folder / "db", MIGRATIONS) as store:
        clock = ManualClock()
        yield IdempotentCalls(store, clock), clock


async def test_the_same_key_and_content_is_answered_again(tmp_path: Path) -> None:
    async with open_calls(tmp_path) as (calls, _):
        call = Counter()
        assert await once(calls, "k", "op", {"a": 1, "b": 2}, call) == (0, b"1", False)
        assert await once(calls, "k", "op", {"b": 2, "a": 1}, call) == (0, b"1", True)
        assert await once(calls, "other", "op", {"a": 1, "b": 2}, call) == (0, b"2", False)


async def test_a_refusal_is_kept_and_a_failure_of_ours_may_be_tried_again(tmp_path: Path) -> None:
    async with open_calls(tmp_path) as (calls, _):
        refused, failed = Counter(7), Counter(2)
        assert await once(calls, "r", "op", {}, refused) == (7, b"1", False)
        assert await once(calls, "r", "op", {}, refused) == (7, b"1", True)
        assert await once(calls, "f", "op", {}, failed) == (2, b"1", False)
        failed.code = 0
        assert await once(calls, "f", "op", {}, failed) == (0, b"2", False)
        assert await once(calls, "f", "op", {}, failed) == (0, b"2", True)


@pytest.mark.parametrize(
    ("operation", "params"), [("op", {"a": 2}), ("op", {}), ("op", {"a": "1"}), ("other", {"a": 1})]
)
async def test_the_same_key_for_another_call_is_a_conflict(
    tmp_path: Path, operation: str, params: dict[str, Any]
) -> None:
    async with open_calls(tmp_path) as (calls, _):
        call = Counter()
        await once(calls, "k", "op", {"a": 1}, call)
        with pytest.raises(AgentError) as raised:
            await once(calls, "k", operation, params, call)
        assert (raised.value.error, raised.value.field, call.made) == ("conflict", "Idempotency-Key", 1)


async def test_calls_with_one_key_at_the_same_time_are_done_once(tmp_path: Path) -> None:
    async with open_calls(tmp_path) as (calls, _):
        call = Counter()
        call.free.clear()
        tasks = [asyncio.create_task(once(calls, "k", "op", {}, call)) for _ in range(50)]
        while not call.made:  # noqa: ASYNC110
            await asyncio.sleep(0)
        tasks[-1].cancel()
        call.free.set()
        answers = await asyncio.gather(*tasks[:-1])
        assert call.made == 1
        assert sorted(replayed for _, _, replayed in answers) == [False, *[True] * 48]
        assert not calls._running


async def unknown(calls: IdempotentCalls, key: str, call: Counter) -> None:
    """The call is refused, because it may have been performed, and is not performed."""
    made = call.made
    with pytest.raises(AgentError) as raised:
        await once(calls, key, "op", {}, call)
    assert (raised.value.error, raised.value.code, call.made) == ("outcome_unknown", 7, made)


async def test_a_call_that_was_cut_off_is_not_performed_again(tmp_path: Path) -> None:
    async with open_calls(tmp_path) as (calls, clock):
        call = Counter()
        call.free.clear()
        first = asyncio.create_task(once(calls, "cancelled", "op", {}, call))
        while not call.made:  # noqa: ASYNC110
            await asyncio.sleep(0)
        second = asyncio.create_task(unknown(calls, "cancelled", call))
        await asyncio.sleep(0)
        first.cancel()
        call.free.set()
        await second
        late = Counter(4)
        assert await once(calls, "late", "op", {}, late) == (4, b"1", False)
        await unknown(calls, "late", late)
        clock.advance(KEPT_S + 1)
        assert (await once(calls, "late", "op", {}, call)).code == 0


async def test_a_call_is_written_down_before_it_begins(tmp_path: Path) -> None:
    """So that a daemon that is killed meanwhile knows about it when it is back."""

    async with (
        await Store.open(tmp_path / "db", MIGRATIONS) as store,
        await Store.open(tmp_path / "db", MIGRATIONS) as other,
    ):

        async def meanwhile() -> Answer:
            await unknown(IdempotentCalls(other, ManualClock()), "k", Counter())
            return Answer(0, b"1")

        assert await once(IdempotentCalls(store, ManualClock()), "k", "op", {}, meanwhile) == (0, b"1", False)
        assert await once(IdempotentCalls(other, ManualClock()), "k", "op", {}, Counter()) == (0, b"1", True)


async def test_one_caller_cannot_push_out_the_calls_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.kernel.operations.idempotency.MOST_OF_ONE_CALLER", 3)

    async with open_calls(tmp_path) as (calls, clock):
        call = Counter()
        await calls.once("mine", asked("op", {}, uid=1), call)
        for number in range(5):
            clock.advance(1.0)
            await calls.once(f"k{number}", asked("op", {}, uid=2), call)
        assert (await calls.once("mine", asked("op", {}, uid=1), call)).replayed
        assert [(await calls.once(f"k{number}", asked("op", {}, uid=1), call)).replayed for number in (4, 3, 2, 1)] == [
            True,
            True,
            True,
            False,
        ]


async def test_a_key_is_forgotten_after_a_day_and_not_before(tmp_path: Path) -> None:
    async with open_calls(tmp_path) as (calls, clock):
        call = Counter()
        await once(calls, "k", "op", {}, call)
        clock.advance(KEPT_S - 1)
        assert await once(calls, "k", "op", {}, call) == (0, b"1", True)
        clock.advance(2)
        assert await once(calls, "k", "op", {"other": "content"}, call) == (0, b"2", False)
        clock.advance(KEPT_S + 1)
        await once(calls, "new", "op", {}, call)

    with sqlite3.connect(tmp_path / "db") as db:
        assert db.execute("SELECT key FROM idempotent_call").fetchall() == [("new",)]
    db.close()


@pytest.mark.parametrize("key", ["", " ", "a b", "a\tb", "é", "a\x7f", "x" * 201])
async def test_a_key_that_is_not_usable_is_refused_and_nothing_is_done(tmp_path: Path, key: str) -> None:
    async with open_calls(tmp_path) as (calls, _):
        call = Counter()
        with pytest.raises(AgentError) as raised:
            await once(calls, key, "op", {}, call)
        assert (raised.value.field, call.made) == ("Idempotency-Key", 0)


async def test_what_was_done_is_told_even_if_no_space_is_left_to_keep_the_answer(tmp_path: Path) -> None:
    async def large() -> Answer:
        return Answer(0, b"x" * 1_000_000)

    async with await Store.open(tmp_path / "db", MIGRATIONS) as store:
        await store.write(lambda db: db.execute("PRAGMA max_page_count = 20").fetchone())
        assert await once(IdempotentCalls(store, ManualClock()), "k", "op", {}, large) == (
            0,
            b"x" * 1_000_000,
            False,
        )
        await unknown(IdempotentCalls(store, ManualClock()), "k", Counter())


# The same with a real daemon.


def put(
    covey: Covey, key: str, level: str, *, tcp: bool = False, setting: str = "log.level"
) -> tuple[int, dict[str, str], Any]:
    status, headers, body = covey.request(
        "PUT", f"/v1/config/{setting}", json.dumps({"value": level}), {"Idempotency-Key": key}, tcp=tcp
    )
    return status, headers, json.loads(body)


def test_a_repeated_request_is_replayed_on_both_transports_and_after_a_restart(covey: Covey) -> None:
    assert covey.run("up").code == 0
    status, headers, first = put(covey, "key-1", "debug")
    assert (status, "idempotency-replayed" in headers) == (200, False)
    assert put(covey, "key-2", "error")[2]["old"] == "debug"
    status, headers, again = put(covey, "key-1", "debug", tcp=True)
    assert (status, headers["idempotency-replayed"], again) == (200, "true", first)
    assert covey.run("config", "get", "log.level").result["value"] == "error"
    covey.run("down")
    assert covey.run("up").code == 0
    status, headers, again = put(covey, "key-1", "debug")
    assert (status, headers["idempotency-replayed"], again) == (200, "true", first)
    status, _, error = put(covey, "key-1", "info")
    assert (status, error["error"], error["field"]) == (409, "conflict", "Idempotency-Key")
    assert put(covey, "key-1", "debug", setting="http.tcp")[0] == 409
    for bad in ("", "a b", "x" * 201, "é"):
        status, _, error = put(covey, bad, "info")
        assert (status, error["field"]) == (400, "Idempotency-Key")
    assert covey.run("config", "get", "log.level").result["value"] == "error"


def test_of_many_backups_with_one_key_at_once_one_is_made_and_all_are_answered(daemon: Covey) -> None:
    target = daemon.folder / "copy.db"

    def backup(_: int) -> tuple[int, bool, Any]:
        status, headers, body = daemon.request(
            "POST", "/v1/backup", json.dumps({"path": str(target)}), {"Idempotency-Key": "backup"}
        )
        return status, "idempotency-replayed" in headers, json.loads(body)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(backup, range(16)))
    assert {status for status, _, _ in answers} == {200}
    assert [replayed for _, replayed, _ in answers].count(False) == 1
    assert len({json.dumps(body) for _, _, body in answers}) == 1
    assert backup(0)[1] is True
    assert (
        daemon.request("POST", "/v1/backup", json.dumps({"path": str(target)}), {"Idempotency-Key": "another"})[0]
        == 409
    )


async def test_only_so_many_answers_are_kept_and_the_oldest_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covey.kernel.operations.idempotency.MOST", 3)

    async with open_calls(tmp_path) as (calls, clock):
        call = Counter()
        for number in range(5):
            await once(calls, f"k{number}", "op", {}, call)
            clock.advance(1.0)
        assert [await once(calls, f"k{number}", "op", {}, call) for number in (4, 3, 2)] == [
            (0, b"5", True),
            (0, b"4", True),
            (0, b"3", True),
        ]
        assert (await once(calls, "k0", "op", {}, call))[2] is False
