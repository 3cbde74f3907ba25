"""`watch` and `wait` over a real journal and bus; the fleet is a list that the test changes."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace

from covey.contract.fleet import OPERATIONS
from covey.contract.fleet_events import AGENT_ENDED, AGENT_STARTED, AGENT_STATE
from covey.fleet.answers.view import Row, TargetStatus
from covey.fleet.answers.wait_stream import WaitStream
from covey.fleet.answers.watch_stream import WatchStream
from covey.kernel.clock import SystemClock
from covey.kernel.events.events import Events
from covey.kernel.operations.stream import Batch, frames
from covey.kernel.store.store import Store
from murli import AgentError
from tests.covey.fleet.fleets import TARGETS, row, sketch

LIMIT_S = 120
SHAPES = {operation.name: operation.result for operation in OPERATIONS}
WATCH: dict[str, Any] = {
    "target": None,
    "all_targets": False,
    "scope": "panes",
    "format": None,
    "interval": None,
    "since": None,
    "once": False,
}
WAIT: dict[str, Any] = {"ref": None, "any": False, "all": False, "state": [], "timeout": None}


class Fleet:
    """Rows and their events, as the service keeps them: the row first, then the event."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.book = {one.runtime_id: one for one in sketch()}

    def rows(self) -> list[Row]:
        return list(self.book.values())

    def targets(self) -> list[TargetStatus]:
        return TARGETS

    def named(self, pane: str) -> Row:
        return next(one for one in self.rows() if one.pane_id == pane)

    async def becomes(self, pane: str, state: str) -> None:
        before = self.named(pane)
        after = replace(before, state=state)
        self.book[after.runtime_id] = after
        await self.events.append(AGENT_STATE, after.runtime_id, {**after.as_dict(), "previous": before.state})

    async def ends(self, pane: str) -> None:
        gone = self.named(pane)
        del self.book[gone.runtime_id]
        await self.events.append(
            AGENT_ENDED, gone.runtime_id, {**gone.as_dict(), "previous": gone.state, "why": "exited"}
        )

    def watch(self, **params: Any) -> Lines:
        last = params.pop("resume_after", None)
        return Lines(WatchStream(self, self.events, SystemClock(), {**WATCH, **params}, last).batches())

    def wait(self, **params: Any) -> Lines:
        return Lines(WaitStream(self, self.events, SystemClock(), {**WAIT, **params}).batches())


class Lines:
    """A stream, read event by event."""

    def __init__(self, batches: AsyncGenerator[Batch, None]) -> None:
        self._batches = batches
        self._waiting: list[dict[str, Any]] = []

    async def next(self) -> dict[str, Any]:
        """The next event that is no comment."""
        while not self._waiting:
            for block in frames(await anext(self._batches)).decode().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
                if "data" in fields:
                    self._waiting.append({**fields, "data": json.loads(fields["data"])})
        return self._waiting.pop(0)

    async def rest(self) -> list[dict[str, Any]]:
        found = []
        try:
            while True:
                found.append(await self.next())
        except StopAsyncIteration:
            return found

    async def aclose(self) -> None:
        await self._batches.aclose()


@contextlib.asynccontextmanager
async def open_fleet(path: Path) -> AsyncIterator[Fleet]:
    """A fleet that nobody watches any more in the end."""
    async with asyncio.timeout(LIMIT_S), await Store.open(path / "a.db", Events.MIGRATIONS, fsync="off") as store:
        events = await Events.open(store, clock=SystemClock().time)
        try:
            yield Fleet(events)
            assert events.subscribers == 0
        finally:
            await events.aclose()


async def test_a_watcher_is_told_how_things_are_and_then_every_change_once(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.watch()
        first = (await lines.next())["data"]
        jsonschema_rs.validate(SHAPES["watch"], first)
        assert (first["event"], len(first["items"]), first["summary"]["needs_action"]) == ("snapshot", 6, 2)
        await fleet.becomes("%9", "waiting_input")
        await fleet.ends("%7")
        second, third = await lines.next(), await lines.next()
        jsonschema_rs.validate(SHAPES["watch"], second["data"])
        assert set(second["data"]) == set(first)
        assert (second["event"], second["id"], second["data"]["previous"]) == ("agent.state", "1", "running")
        [item] = second["data"]["items"]
        assert (item["state"], item["identity"]["pane_id"]) == ("waiting_input", "%9")
        assert item["age_ms"] > 0
        assert "previous" not in item
        assert (third["event"], third["data"]["summary"]["total"]) == ("agent.ended", 5)
        await lines.aclose()


async def test_a_change_between_the_subscription_and_the_picture_is_not_missed(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.watch()
        await lines.next()
        cursor = fleet.events.cursor
        await fleet.becomes("%9", "idle")
        await lines.aclose()
        resumed = fleet.watch(since=f"cursor:{cursor}")
        told = [(await resumed.next())["event"] for _ in range(2)]
        assert told == ["agent.state", "snapshot"]
        await resumed.aclose()
        by_header = fleet.watch(resume_after=cursor, once=True)
        assert [line["event"] for line in await by_header.rest()] == ["agent.state", "snapshot"]


async def test_once_tells_how_things_are_and_ends(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        assert [line["event"] for line in await fleet.watch(once=True).rest()] == ["snapshot"]


async def test_since_a_moment_the_changes_come_first_without_a_summary_of_a_past_that_is_gone(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        await fleet.becomes("%9", "idle")
        await fleet.becomes("%9", "running")
        lines = await fleet.watch(since="1h", once=True).rest()
        assert [line["event"] for line in lines] == ["agent.state", "agent.state", "snapshot"]
        assert lines[0]["data"]["summary"] is None
        jsonschema_rs.validate(SHAPES["watch"], lines[0]["data"])
        assert [line["event"] for line in await fleet.watch(since="2999-01-01", once=True).rest()] == ["snapshot"]


async def test_only_the_target_that_was_asked_for_is_watched(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.watch(target="vm1")
        assert {item["identity"]["target"] for item in (await lines.next())["data"]["items"]} == {"vm1"}
        await fleet.becomes("%9", "idle")
        await fleet.becomes("%1", "idle")
        assert (await lines.next())["data"]["items"][0]["identity"]["target"] == "vm1"
        await lines.aclose()


@pytest.mark.parametrize(("scope", "count"), [("windows", 6), ("sessions", 5)])
async def test_windows_and_sessions_tell_which_of_them_changed(tmp_path: Path, scope: str, count: int) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.watch(scope=scope)
        assert len((await lines.next())["data"]["items"]) == count
        await fleet.becomes("%9", "error")
        line = (await lines.next())["data"]
        assert (line["event"], [item["top_state"] for item in line["items"]]) == ("changed", ["error"])
        await fleet.ends("%9")
        line = (await lines.next())["data"]
        assert (line["event"], line["items"][0]["identity"]["session_name"]) == ("gone", "web")
        await lines.aclose()


async def test_with_an_interval_the_picture_comes_again_although_nothing_happens(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.watch(interval="100ms")
        assert [(await lines.next())["event"] for _ in range(3)] == ["snapshot"] * 3
        await lines.aclose()


@pytest.mark.parametrize(
    "params", [{"target": "vm9"}, {"interval": "1ms"}, {"interval": "x"}, {"since": "yesterday"}, {"since": "cursor:x"}]
)
async def test_a_watcher_that_asks_for_nonsense_is_told_before_the_stream_begins(
    tmp_path: Path, params: dict[str, Any]
) -> None:
    async with open_fleet(tmp_path) as fleet:
        with pytest.raises(AgentError):
            fleet.watch(**params)


async def test_a_wait_ends_at_once_if_it_is_so_already(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        [line] = await fleet.wait(ref="%14", state=["waiting_approval"]).rest()
        jsonschema_rs.validate(SHAPES["wait"], line["data"])
        assert (line["event"], line["data"]["outcome"], line["data"]["items"][0]["state"]) == (
            "done",
            "met",
            "waiting_approval",
        )
        [line] = await fleet.wait(any=True, state=["idle", "completed"]).rest()
        assert [item["identity"]["pane_id"] for item in line["data"]["items"]] == ["%7"]


async def test_a_wait_without_a_state_ends_when_there_is_something_to_do_or_nobody_left(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        [line] = await fleet.wait(ref="%14").rest()
        assert line["data"]["outcome"] == "met"
        lines = fleet.wait(ref="%9")
        assert (await lines.next())["data"]["outcome"] == "waiting"
        await fleet.becomes("%9", "completed")
        assert (await lines.rest())[-1]["data"]["outcome"] == "met"
        await fleet.becomes("%9", "running")
        lines = fleet.wait(ref="%9")
        assert (await lines.next())["data"]["outcome"] == "waiting"
        await fleet.ends("%9")
        assert (await lines.rest())[-1]["data"]["outcome"] == "met"
        [line] = await fleet.wait(ref="%14", state=["idle,waiting_approval"]).rest()
        assert line["data"]["states"] == ["idle", "waiting_approval"]


async def test_a_watcher_of_some_states_hears_of_agents_that_come_to_them_and_leave_them(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.watch(needs_action=True, agent_type=["claude"])
        first = await lines.next()
        assert [item["identity"]["pane_id"] for item in first["data"]["items"]] == ["%14"]
        await fleet.becomes("%1", "waiting_approval")  # of another kind
        await fleet.becomes("%7", "running")
        await fleet.becomes("%9", "error")
        await fleet.becomes("%14", "running")
        told = [await lines.next(), await lines.next()]
        assert [(one["data"]["items"][0]["identity"]["pane_id"], one["data"]["items"][0]["state"]) for one in told] == [
            ("%9", "error"),
            ("%14", "running"),
        ]
        await lines.aclose()


async def test_a_wait_ends_when_it_becomes_so_however_short_it_was(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.wait(ref="%9", state=["waiting_input"])
        assert (await lines.next())["data"]["outcome"] == "waiting"
        await fleet.becomes("%9", "waiting_input")
        await fleet.becomes("%9", "running")
        line = (await lines.rest())[-1]["data"]
        assert (line["outcome"], line["items"][0]["state"]) == ("met", "waiting_input")


async def test_a_wait_for_any_sees_an_agent_that_comes_later(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.wait(any=True, state=["error"])
        assert (await lines.next())["event"] == "waiting"
        new = row("host/new:0.0", "%50", "error")
        fleet.book[new.runtime_id] = new
        await fleet.events.append(AGENT_STARTED, new.runtime_id, {**new.as_dict(), "previous": None})
        assert (await lines.rest())[-1]["data"]["items"][0]["identity"]["pane_id"] == "%50"


async def test_a_wait_for_all_ends_when_the_last_is_there(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.wait(all=True, state=["idle"])
        for one in fleet.rows():
            assert (await lines.next())["event"] == "waiting"
            fleet.book[one.runtime_id] = replace(one, state="idle")
            await fleet.events.append(
                AGENT_STATE, one.runtime_id, {**fleet.book[one.runtime_id].as_dict(), "previous": one.state}
            )
        line = (await lines.rest())[-1]["data"]
        assert (line["outcome"], len(line["items"])) == ("met", 6)


async def test_an_agent_that_ends_is_gone_and_not_late(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        lines = fleet.wait(ref="%9", state=["idle"], timeout="60s")
        await lines.next()
        await fleet.ends("%9")
        assert [line["data"]["outcome"] for line in await lines.rest()] == ["gone"]
        between = fleet.wait(ref="%7", state=["running"])
        await fleet.ends("%7")  # after the name was found, before anybody listened
        assert [line["data"]["outcome"] for line in await between.rest()] == ["gone"]


async def test_a_wait_ends_when_its_time_is_up(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        line = (await fleet.wait(ref="%9", state=["idle"], timeout="50ms").rest())[-1]["data"]
        assert line["outcome"] == "timeout"
        assert line["waited_ms"] >= 50
        assert (await fleet.wait(ref="%9", state=["idle"], timeout="0").rest())[0]["data"]["outcome"] == "timeout"


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({}, "argument_error"),
        ({"any": True, "all": True}, "argument_error"),
        ({"ref": "%14", "any": True}, "argument_error"),
        ({"ref": "%99"}, "E_REF_NOT_FOUND"),
        ({"ref": "%3"}, "E_REF_AMBIGUOUS"),
        ({"any": True, "timeout": "soon"}, "argument_error"),
    ],
)
async def test_a_wait_for_nobody_in_particular_is_refused(tmp_path: Path, params: dict[str, Any], error: str) -> None:
    async with open_fleet(tmp_path) as fleet:
        with pytest.raises(AgentError) as caught:
            fleet.wait(state=["idle"], **params)
        assert caught.value.error == error


async def test_a_wait_for_all_of_none_is_refused_and_not_taken_for_done(tmp_path: Path) -> None:
    async with open_fleet(tmp_path) as fleet:
        fleet.book.clear()
        with pytest.raises(AgentError, match="no agents to wait for"):
            fleet.wait(all=True, state=["idle"])
