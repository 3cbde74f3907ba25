"""The audit: what is recorded of a call, and how it is listed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from covey.contract import Operation, Parameter
from covey.contract.kernel_events import AUDIT_BEGUN, AUDIT_CALL
from covey.kernel.clock import SystemClock
from covey.kernel.events.events import Events
from covey.kernel.metrics import Metrics
from covey.kernel.operations import audit_list
from covey.kernel.operations.audit import LONGEST, Audit
from covey.kernel.operations.call import UNIX, Call, Caller
from covey.kernel.operations.dispatcher import Dispatcher
from covey.kernel.operations.idempotency import MIGRATIONS, IdempotentCalls
from covey.kernel.store.store import Store
from murli import AgentError, conflict

ME = Caller(UNIX, os.getuid(), os.getpid())
ACT = Operation(
    "act",
    "Acts.",
    cli=["act"],
    method="POST",
    route="/v1/act",
    mutating=True,
    parameters=[
        Parameter("ref", "On what.", required=True),
        Parameter("check_only", "Only check.", type="bool", default=False),
    ],
)
LOOK = Operation("look", "Looks.", cli=["look"], route="/v1/look")


async def act(call: Call) -> object:
    call.note(about=call.params["ref"])
    if call.params["ref"] == "nobody":
        raise conflict("there is nobody", "Look.")
    await call.begin({"ref": call.params["ref"], "password": "hunter2", "note": "token=abcdef123456"})
    if call.params["ref"] == "broken":
        raise LookupError("the insides")
    if call.params["ref"] == "busy":
        raise conflict("it is busy", "Wait.")
    call.note(outcome="typed, and " + "very " * 100 + "well")
    return {}


class Audited:
    """A dispatcher with an audit, on a journal of its own."""

    def __init__(self, events: Events, audit: Audit, dispatcher: Dispatcher) -> None:
        self.events = events
        self.audit = audit
        self.dispatcher = dispatcher

    async def call(self, name: str = "act", **params: Any) -> None:
        try:
            await self.dispatcher.call(name, params, ME)
        except AgentError:
            return

    async def page(self, **wanted: Any) -> audit_list.Page:
        chosen = {"operations": (), "before": None, "limit": 50, **wanted}
        return await self.events.read(
            lambda reader: audit_list.page(reader.backwards(audit_list.KINDS), self.dispatcher.acting, **chosen)
        )


@asynccontextmanager
async def audited(folder: Path) -> AsyncIterator[Audited]:
    async with await Store.open(folder / "db", [*Events.MIGRATIONS, *MIGRATIONS]) as store:
        events = await Events.open(store, clock=SystemClock().time)
        audit = Audit(events)
        dispatcher = Dispatcher(
            [ACT, LOOK], metrics=Metrics(), idempotent=IdempotentCalls(store, SystemClock()), audit=audit
        )
        dispatcher.install({"act": act, "look": look})
        yield Audited(events, audit, dispatcher)


async def look(_: Call) -> object:
    return {}


async def test_an_action_is_recorded_with_who_what_and_what_came_of_it(tmp_path: Path) -> None:
    async with audited(tmp_path) as room:
        await room.call(ref="api")
        (entry,) = (await room.page()).entries
        assert entry["who"] == {
            "uid": os.getuid(),
            "pid": os.getpid(),
            "program": Path("/proc/self/comm").read_text().strip(),
            "transport": "unix",
            "subsystem": "",
            "surface": "internal",
        }
        assert (entry["operation"], entry["about"], entry["status"], entry["error"]) == ("act", "api", "done", None)
        assert entry["outcome"].startswith("typed, and very")
        assert len(entry["outcome"]) == LONGEST
        assert [event.kind for event in await room.events.history()] == [AUDIT_BEGUN, AUDIT_CALL]


async def test_secrets_are_taken_out(tmp_path: Path) -> None:
    async with audited(tmp_path) as room:
        await room.call(ref="api password=hunter2")
        for event in await room.events.history():
            assert "hunter2" not in event.text
            assert "abcdef123456" not in event.text


@pytest.mark.parametrize(
    ("ref", "status", "error", "has_snapshot"),
    [
        ("nobody", "refused", "conflict", False),
        ("busy", "refused", "conflict", True),
        ("broken", "failed", "internal_error", True),
    ],
)
async def test_a_call_that_was_not_done_is_recorded(
    tmp_path: Path,
    ref: str,
    status: str,
    error: str,
    has_snapshot: bool,  # noqa: FBT001 - one of a table
) -> None:
    async with audited(tmp_path) as room:
        await room.call(ref=ref)
        (entry,) = (await room.page()).entries
        assert (entry["about"], entry["status"], entry["error"]) == (ref, status, error)
        assert (entry["snapshot"] is not None) == has_snapshot


async def test_reading_and_dry_runs_are_not_recorded(tmp_path: Path) -> None:
    async with audited(tmp_path) as room:
        await room.call("look")
        await room.call(ref="api", check_only=True)
        await room.call(ref="nobody", check_only=True)
        assert await room.events.history() == []


async def test_a_call_that_has_begun_and_not_ended_was_cut_off_or_is_under_way(tmp_path: Path) -> None:
    async with audited(tmp_path) as room:
        call = Call(ACT, {"ref": "api", "check_only": False}, ME)
        room.audit.expect(call)
        await call.begin({"ref": "api"})
        assert [entry["status"] for entry in (await room.page()).entries] == ["under_way"]
        await room.call(ref="other")
    async with audited(tmp_path) as room:  # the next daemon
        assert [entry["status"] for entry in (await room.page()).entries] == ["cut_off", "done"]


async def test_entries_are_paged_and_filtered_newest_last(tmp_path: Path) -> None:
    async with audited(tmp_path) as room:
        for number in range(5):
            await room.call(ref=str(number))
        page = await room.page(limit=2)
        assert [entry["about"] for entry in page.entries] == ["3", "4"]
        page = await room.page(limit=2, before=page.earlier)
        assert [entry["about"] for entry in page.entries] == ["1", "2"]
        page = await room.page(limit=2, before=page.earlier)
        assert ([entry["about"] for entry in page.entries], page.earlier) == (["0"], None)
        assert (await room.page(operations=["look"])).entries == []


async def test_events_of_earlier_releases_are_listed(tmp_path: Path) -> None:
    async with audited(tmp_path) as room:
        old = {"about": "log.level", "error": None, "transport": "unix", "uid": 1, "pid": 2, "subsystem": ""}
        kind = type(AUDIT_CALL)(str(AUDIT_CALL), "As it was.")
        await room.events.append(kind, "config.set", old)
        (entry,) = (await room.page()).entries
        assert (entry["about"], entry["snapshot"], entry["outcome"]) == ("log.level", None, "")
