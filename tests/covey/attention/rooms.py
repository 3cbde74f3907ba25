"""A daemon with nothing on it but the attention queue, in this process; and words to speak to it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from covey.attention.operations import ATTENTION
from covey.contract import OPERATIONS
from covey.contract.attention_events import ATTENTION_ASKED, ATTENTION_SETTLED
from covey.kernel.client import Client
from covey.kernel.config.config import set_value
from covey.kernel.daemon import Daemon
from covey.kernel.events.event import Event
from covey.kernel.home import Home
from covey.node.settings import SETTINGS

BY_NAME = {operation.name: operation for operation in OPERATIONS}
PATIENCE_S = 60.0


class Room:
    """A running daemon and those who speak in it."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon

    def status(self) -> dict[str, Any]:
        """The queue's part of the daemon's status."""
        status = self.daemon.opened["attention"].status
        assert status is not None
        return status()

    async def ask(self, key: str, title: str = "look", detail: str = "", **data: Any) -> Event:
        return await self.daemon.events.append(
            ATTENTION_ASKED, subject=key, data={"title": title, "detail": detail, **data}, source="test"
        )

    async def settle(self, key: str, why: str = "well again") -> Event:
        return await self.daemon.events.append(ATTENTION_SETTLED, subject=key, data={"why": why}, source="test")

    async def call(self, name: str, **params: Any) -> Any:
        operation = BY_NAME[name]
        given = {
            parameter.name: parameter.default for parameter in operation.parameters if parameter.default is not None
        } | params
        return await asyncio.to_thread(Client(self.daemon.seat.socket).call, operation, given)

    async def items(self, **params: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.call("attention.list", **params))["items"]
        return found

    async def told(self, *kinds: str) -> list[tuple[str, str]]:
        """What the queue has said: kind and key."""
        wanted = kinds or ("attention.opened", "attention.changed", "attention.closed")
        return [(event.kind, event.subject) for event in await self.daemon.events.history(kinds=wanted, limit=100_000)]

    async def count(self, open_: int) -> None:
        """Wait until so many items are open."""
        await until(lambda: self.status()["open"] == open_, f"{open_} open items")

    async def repeated(self, key: str, times: int) -> None:
        """Wait until an item was asked so often."""
        async with asyncio.timeout(PATIENCE_S):
            while {item["key"]: item["times"] for item in await self.items()}.get(key) != times:  # noqa: ASYNC110 - as below
                await asyncio.sleep(0.01)

    async def notified(self, after: Event) -> None:
        """Wait until the notifier is done with what an event has opened."""
        query = "SELECT count(*) FROM event_cursor WHERE consumer = 'attention.notify' AND cursor > ?"
        async with asyncio.timeout(PATIENCE_S):
            while (  # noqa: ASYNC110 - nothing tells us
                await self.daemon.store.read(lambda database: database.execute(query, (after.cursor,)).fetchone())
            ) == (0,):
                await asyncio.sleep(0.01)

    async def heard(self) -> None:
        """Wait until all that was said is in the queue."""
        await self.ask("mark:", "mark")
        await until(lambda: "mark" in self.status()["titles"], "the mark")
        await self.settle("mark:")
        await until(lambda: "mark" not in self.status()["titles"], "the end of the mark")


async def until(true: Callable[[], bool], what: str) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():  # noqa: ASYNC110 - nothing tells us
            await asyncio.sleep(0.01)
    assert true(), what


@contextlib.contextmanager
def homes() -> Iterator[Home]:
    """A home whose path is short, as a Unix socket's must be."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    home = Home(str(folder / "home"))
    home.node.prepare()
    try:
        yield home
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.asynccontextmanager
async def opened(home: Home, notify: str = "") -> AsyncIterator[Room]:
    if notify:
        set_value(home.node, SETTINGS, "attention.notify", notify)
    async with Daemon.running(home.node, subsystems=(ATTENTION,)) as daemon:
        yield Room(daemon)


@contextlib.asynccontextmanager
async def in_room(notify: str = "") -> AsyncIterator[Room]:
    """A room in a home of its own."""
    with homes() as home:
        async with opened(home, notify) as room:
            yield room
