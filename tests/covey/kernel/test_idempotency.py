"""Idempotency-Key: a repeated call is answered again, not done again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.idempotency import KEPT_S, MIGRATION, Replies
from covey.kernel.store import Store
from murli import AgentError
from tests.covey.conftest import Covey

Answer = Callable[[], Awaitable[tuple[int, bytes]]]


class Counter:
    """A call that counts how often it was made."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.made = 0
        self.free = asyncio.Event()
        self.free.set()

    async def __call__(self) -> tuple[int, bytes]:
        self.made += 1
        made = self.made
        await self.free.wait()
        return self.status, b"%d" % made


def with_replies(folder: Path, scenario: Callable[[Replies, ManualClock], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with await Store.open(folder / "db", [MIGRATION]) as store:
            clock = ManualClock()
            await scenario(Replies(store, clock), clock)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_the_same_key_and_content_is_answered_again(tmp_path: Path) -> None:
    async def scenario(replies: Replies, _: ManualClock) -> None:
        call = Counter()
        assert await replies.once("k", "op", {"a": 1, "b": 2}, call) == (200, b"1", False)
        assert await replies.once("k", "op", {"b": 2, "a": 1}, call) == (200, b"1", True)
        assert await replies.once("other", "op", {"a": 1, "b": 2}, call) == (200, b"2", False)

    with_replies(tmp_path, scenario)


def test_a_refusal_is_kept_and_a_failure_of_ours_may_be_tried_again(tmp_path: Path) -> None:
    async def scenario(replies: Replies, _: ManualClock) -> None:
        refused, failed = Counter(409), Counter(500)
        assert await replies.once("r", "op", {}, refused) == (409, b"1", False)
        assert await replies.once("r", "op", {}, refused) == (409, b"1", True)
        assert await replies.once("f", "op", {}, failed) == (500, b"1", False)
        failed.status = 200
        assert await replies.once("f", "op", {}, failed) == (200, b"2", False)
        assert await replies.once("f", "op", {}, failed) == (200, b"2", True)

    with_replies(tmp_path, scenario)


@pytest.mark.parametrize(("operation", "params"), [("op", {"a": 2}), ("op", {}), ("op", {"a": "1"}), ("other", {"a": 1})])
def test_the_same_key_for_another_call_is_a_conflict(tmp_path: Path, operation: str, params: dict[str, Any]) -> None:
    async def scenario(replies: Replies, _: ManualClock) -> None:
        call = Counter()
        await replies.once("k", "op", {"a": 1}, call)
        with pytest.raises(AgentError) as raised:
            await replies.once("k", operation, params, call)
        assert (raised.value.error, raised.value.field, call.made) == ("conflict", "Idempotency-Key", 1)

    with_replies(tmp_path, scenario)


def test_calls_with_one_key_at_the_same_time_are_done_once(tmp_path: Path) -> None:
    async def scenario(replies: Replies, _: ManualClock) -> None:
        call = Counter()
        call.free.clear()
        calls = [asyncio.create_task(replies.once("k", "op", {}, call)) for _ in range(50)]
        while not call.made:  # noqa: ASYNC110
            await asyncio.sleep(0)
        calls[-1].cancel()
        call.free.set()
        answers = await asyncio.gather(*calls[:-1])
        assert call.made == 1
        assert sorted(replayed for _, _, replayed in answers) == [False, *[True] * 48]
        assert not replies._running

    with_replies(tmp_path, scenario)


def test_when_the_first_of_many_fails_or_is_cancelled_the_next_one_does_it(tmp_path: Path) -> None:
    async def scenario(replies: Replies, _: ManualClock) -> None:
        call = Counter()
        call.free.clear()
        first = asyncio.create_task(replies.once("k", "op", {}, call))
        while not call.made:  # noqa: ASYNC110
            await asyncio.sleep(0)
        second = asyncio.create_task(replies.once("k", "op", {}, call))
        await asyncio.sleep(0)
        first.cancel()
        call.free.set()
        assert await second == (200, b"2", False)

        async def raising() -> tuple[int, bytes]:
            raise LookupError

        with pytest.raises(LookupError):
            await replies.once("raises", "op", {}, raising)
        assert await replies.once("raises", "op", {}, call) == (200, b"3", False)

    with_replies(tmp_path, scenario)


def test_a_key_is_forgotten_after_a_day_and_not_before(tmp_path: Path) -> None:
    async def scenario(replies: Replies, clock: ManualClock) -> None:
        call = Counter()
        await replies.once("k", "op", {}, call)
        clock.advance(KEPT_S - 1)
        assert await replies.once("k", "op", {}, call) == (200, b"1", True)
        clock.advance(2)
        assert await replies.once("k", "op", {"other": "content"}, call) == (200, b"2", False)
        clock.advance(KEPT_S + 1)
        await replies.once("new", "op", {}, call)

    with_replies(tmp_path, scenario)
    with sqlite3.connect(tmp_path / "db") as db:
        assert db.execute("SELECT key FROM replies").fetchall() == [("new",)]
    db.close()


@pytest.mark.parametrize("key", ["", " ", "a b", "a\tb", "é", "a\x7f", "x" * 201])
def test_a_key_that_is_not_usable_is_refused_and_nothing_is_done(tmp_path: Path, key: str) -> None:
    async def scenario(replies: Replies, _: ManualClock) -> None:
        call = Counter()
        with pytest.raises(AgentError) as raised:
            await replies.once(key, "op", {}, call)
        assert (raised.value.field, call.made) == ("Idempotency-Key", 0)

    with_replies(tmp_path, scenario)


def test_what_was_done_is_told_even_if_no_space_is_left_to_keep_the_answer(tmp_path: Path) -> None:
    async def large() -> tuple[int, bytes]:
        return 200, b"x" * 1_000_000

    async def main() -> None:
        async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
            await store.write(lambda db: db.execute("PRAGMA max_page_count = 20").fetchone())
            assert await Replies(store, ManualClock()).once("k", "op", {}, large) == (200, b"x" * 1_000_000, False)
            assert await Replies(store, ManualClock()).once("k", "op", {}, Counter()) == (200, b"1", False)

    asyncio.run(asyncio.wait_for(main(), 60))


# The same with a real daemon.


def put(covey: Covey, key: str, level: str, *, tcp: bool = False, setting: str = "log.level") -> tuple[int, dict[str, str], Any]:
    status, headers, body = covey.request("PUT", f"/v1/config/{setting}", json.dumps({"value": level}), {"Idempotency-Key": key}, tcp=tcp)
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
        status, headers, body = daemon.request("POST", "/v1/backup", json.dumps({"path": str(target)}), {"Idempotency-Key": "backup"})
        return status, "idempotency-replayed" in headers, json.loads(body)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(backup, range(16)))
    assert {status for status, _, _ in answers} == {200}
    assert [replayed for _, replayed, _ in answers].count(False) == 1
    assert len({json.dumps(body) for _, _, body in answers}) == 1
    assert backup(0)[1] is True
    assert daemon.request("POST", "/v1/backup", json.dumps({"path": str(target)}), {"Idempotency-Key": "another"})[0] == 409


def test_only_so_many_answers_are_kept_and_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.kernel.idempotency.MOST", 3)

    async def scenario(replies: Replies, clock: ManualClock) -> None:
        call = Counter()
        for number in range(5):
            await replies.once(f"k{number}", "op", {}, call)
            clock.advance(1.0)
        assert [await replies.once(f"k{number}", "op", {}, call) for number in (4, 3, 2)] == [(200, b"5", True), (200, b"4", True), (200, b"3", True)]
        assert (await replies.once("k0", "op", {}, call))[2] is False

    with_replies(tmp_path, scenario)
