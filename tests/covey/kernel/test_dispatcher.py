"""Operations called inside the daemon, and the record of who called them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from covey.contract import Operation, Parameter
from covey.kernel.clock import SystemClock
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.metrics import Metrics
from covey.kernel.operations.call import Call, Caller
from covey.kernel.operations.dispatcher import Dispatcher
from covey.kernel.operations.idempotency import MIGRATIONS, IdempotentCalls
from covey.kernel.operations.stream import Batch, Message
from covey.kernel.store.store import Store
from murli import AgentError, conflict
from tests.covey.conftest import Covey

KEEPER = Caller("internal", subsystem="keeper")
NOTHING_NOTED = {"snapshot": None, "outcome": "", "begun": None}
CLI = {"Covey-Surface": "cli"}
OPERATIONS = (
    Operation(
        "add",
        "Adds.",
        cli=["add"],
        method="POST",
        route="/v1/add",
        mutating=True,
        parameters=[Parameter("n", "A number.", type="int", required=True)],
    ),
    Operation("count", "Counts.", cli=["count"], route="/v1/count", streaming=True, media="text/event-stream"),
    Operation("text", "Prints.", cli=["text"], route="/v1/text", media="text/plain"),
    Operation("slow", "Never ends.", cli=["slow"], route="/v1/slow"),
    Operation("broken", "Raises.", cli=["broken"], route="/v1/broken"),
)


class Handlers:
    """What the operations do."""

    def __init__(self) -> None:
        self.total = 0
        self.callers: list[Caller] = []

    async def add(self, call: Call) -> object:
        self.callers.append(call.caller)
        if call.params["n"] < 0:
            raise conflict("it cannot be less", "Add more.")
        self.total += call.params["n"]
        return {"total": self.total}

    async def count(self, _: Call) -> AsyncIterator[Batch]:
        async def batches() -> AsyncIterator[Batch]:
            yield (Message("number", 1), Message("number", 2))
            yield ()

        return batches()

    async def text(self, _: Call) -> str:
        return "plain"

    async def slow(self, _: Call) -> object:
        await asyncio.Event().wait()
        return None

    async def broken(self, _: Call) -> object:
        raise LookupError("the insides of the daemon")


@contextlib.asynccontextmanager
async def open_dispatcher(folder: Path, *, deadline_s: float = 30.0) -> AsyncIterator[tuple[Dispatcher, Handlers]]:
    """Yield a dispatcher with its handlers installed; before that it refuses every call."""
    async with await Store.open(folder / "db", MIGRATIONS) as store:
        dispatcher = Dispatcher(
            OPERATIONS, metrics=Metrics(), idempotent=IdempotentCalls(store, SystemClock()), deadline_s=deadline_s
        )
        handlers = Handlers()
        with pytest.raises(AgentError, match="the daemon is starting"):
            await dispatcher.call("text", {}, KEEPER)
        dispatcher.install({operation.name: getattr(handlers, operation.name) for operation in OPERATIONS})
        yield dispatcher, handlers


async def test_a_subsystem_calls_an_operation_and_the_handler_knows_who_asks(tmp_path: Path) -> None:
    async with open_dispatcher(tmp_path) as (dispatcher, handlers):
        assert await dispatcher.call("add", {"n": 2}, KEEPER) == {"total": 2}
        assert await dispatcher.call("text", {}, KEEPER) == "plain"
        assert handlers.callers == [KEEPER]
        assert 'covey_calls_total{error="",operation="add",transport="internal"} 1' in dispatcher.metrics.text()


@pytest.mark.parametrize(
    ("name", "params", "error"),
    [("add", {"n": -1}, "conflict"), ("add", {}, "argument_error"), ("add", {"n": "x"}, "argument_error"),
    ("add", {"n": 1, "m": 1}, "argument_error"),
     ("nothing", {}, "not_found"), ("broken", {}, "internal_error")],
)  # fmt: skip
async def test_what_goes_wrong_is_raised_as_the_caller_over_http_would_read_it(
    tmp_path: Path, name: str, params: dict[str, Any], error: str
) -> None:
    async with open_dispatcher(tmp_path) as (dispatcher, handlers):
        with pytest.raises(AgentError) as raised:
            await dispatcher.call(name, params, KEEPER)
        assert (raised.value.error, handlers.total) == (error, 0)
        assert "insides" not in str(raised.value)


async def test_a_guard_refuses_a_call_before_its_handler_is_run(tmp_path: Path) -> None:
    async def guard(call: Call) -> None:
        if call.operation.mutating:
            raise conflict("not now", "Later.")

    async with open_dispatcher(tmp_path) as (dispatcher, handlers):
        dispatcher.install({operation.name: getattr(handlers, operation.name) for operation in OPERATIONS}, [guard])
        with pytest.raises(AgentError, match="not now"):
            await dispatcher.call("add", {"n": 2}, KEEPER)
        assert await dispatcher.call("text", {}, KEEPER) == "plain"
        assert handlers.callers == []


async def test_an_operation_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    async with open_dispatcher(tmp_path, deadline_s=0.05) as (dispatcher, _):
        with pytest.raises(AgentError) as raised:
            await dispatcher.call("slow", {}, KEEPER)
        assert raised.value.error == "timeout"


async def test_a_stream_yields_values(tmp_path: Path) -> None:
    async with open_dispatcher(tmp_path) as (dispatcher, _):
        assert [list(batch) async for batch in await dispatcher.stream("count", {}, KEEPER)] == [
            [("number", 1, None), ("number", 2, None)],
            [],
        ]


async def test_a_repeated_call_with_a_key_is_answered_again(tmp_path: Path) -> None:
    async with open_dispatcher(tmp_path) as (dispatcher, handlers):
        for _ in range(3):
            assert await dispatcher.call("add", {"n": 2}, KEEPER, idempotency_key="k") == {"total": 2}
        assert handlers.total == 2


async def test_handlers_that_do_not_match_the_operations_are_an_error(tmp_path: Path) -> None:
    async with open_dispatcher(tmp_path) as (dispatcher, handlers):
        with pytest.raises(ValueError, match="add, other"):
            dispatcher.install(
                {"other": handlers.add, **dict.fromkeys(("count", "text", "slow", "broken"), handlers.text)}
            )


async def test_calls_that_change_something_are_recorded_with_their_caller(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "home"))
    home.node.prepare()
    async with Daemon.running(home.node) as daemon:
        await daemon.dispatcher.call("backup", {"path": str(tmp_path / "copy")}, KEEPER)
        await daemon.dispatcher.call("status", {}, KEEPER)
        with pytest.raises(AgentError):
            await daemon.dispatcher.call("backup", {"path": str(tmp_path / "copy")}, KEEPER)
        recorded = await daemon.events.history(kinds=["audit."])
    caller = {
        "transport": "internal",
        "uid": None,
        "pid": None,
        "subsystem": "keeper",
        "program": "",
        "surface": "internal",
    }
    assert [event.subject for event in recorded] == ["backup", "backup"]
    assert [event.data for event in recorded] == [
        {"about": "", "error": error, **NOTHING_NOTED, **caller} for error in (None, "conflict")
    ]


def test_a_caller_at_the_socket_is_recorded_with_its_user_and_process(daemon: Covey) -> None:
    key = {"Idempotency-Key": "k"}
    assert daemon.request("PUT", "/v1/config/log.level", json.dumps({"value": "debug"}), key)[0] == 200
    assert daemon.request("PUT", "/v1/config/log.level", json.dumps({"value": "info"}), CLI, tcp=True)[0] == 200
    assert daemon.request("PUT", "/v1/config/log.level", json.dumps({"value": "info"}), key)[0] == 409
    events = [
        json.loads(line)
        for line in daemon.run("events", "--kind", "audit.").stdout.splitlines()
        if '"audit.call"' in line
    ]
    program = Path("/proc/self/comm").read_text().strip()
    unix = {"transport": "unix", "uid": os.getuid(), "pid": os.getpid(), "subsystem": "", "program": program}
    unix["surface"] = "http"
    tcp = {"transport": "tcp", "uid": None, "pid": None, "subsystem": "", "program": "", "surface": "cli"}
    assert [event["data"] for event in events] == [
        {"about": "log.level", "error": error, **NOTHING_NOTED, **caller}
        for error, caller in ((None, unix), (None, tcp), ("conflict", unix))
    ]
