"""The channels that are configured, each with a notifier of its own: one that fails or waits does not stop another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from covey.attention.channel import CONSUMER, from_setting, from_tables
from covey.attention.notification import TEST
from covey.attention.notify import Notifier
from covey.attention.senders import Senders
from covey.contract.kernel_events import Lifecycle
from covey.kernel.events.consumer import store_cursor
from covey.kernel.tasks import Tasks

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from covey.attention.channel import Channel
    from covey.attention.queue import Queue
    from covey.kernel.subsystem import Context


class Channels:
    """Keeps a notifier for each channel of the configuration while `live` runs."""

    def __init__(self, queue: Queue, context: Context) -> None:
        self._queue = queue
        self._context = context
        self._send = Senders(context.dispatcher).send
        self._notify = self._notifier(from_setting([]), follows_setting=True)
        self._running: dict[str, tuple[Channel, Notifier, asyncio.Task[None]]] = {}

    async def live(self) -> None:
        """Notify until cancelled. A channel that is edited begins again where it was."""
        context = self._context
        reloaded = Lifecycle(context.seat.kind).reloaded
        self._running.clear()
        async with Tasks(context.clock, context.metrics) as tasks, context.events.subscribe(kinds=[reloaded]) as edits:
            tasks.keep("notifications", self._notify.live)
            while not edits.closed:
                await self._apply(tasks)
                await edits.take()

    def status(self) -> dict[str, Any]:
        """Return the channels with their problems, for the status."""
        notifiers = self._notifiers()
        problems = [
            notifier.problem if notifier is self._notify else f"{name}: {notifier.problem}"
            for name, notifier in notifiers.items()
            if notifier.problem
        ]
        return {
            "notify_problem": "; ".join(problems),
            "channels": [
                {"name": name, "kind": notifier.channel().kind, "problem": notifier.problem, "held": notifier.held}
                for name, notifier in notifiers.items()
            ],
        }

    async def test(self) -> list[dict[str, Any]]:
        """Send a test notification through every channel, whatever its rules, and return what came of it."""

        async def tried(channel: Channel) -> dict[str, Any]:
            try:
                problem = await self._send(channel, TEST)
            except OSError as error:
                problem = f"a command cannot be run: {error.strerror or error}"
            return {"name": channel.name, "kind": channel.kind, "problem": problem}

        return list(await asyncio.gather(*(tried(one.channel()) for one in self._notifiers().values())))

    def _notifiers(self) -> Mapping[str, Notifier]:
        """Return the notifiers by the names of their channels; that of `attention.notify` only if it is set."""
        first = {self._notify.channel().name: self._notify} if self._notify.channel().command else {}
        return {**first, **{name: notifier for name, (_, notifier, _) in self._running.items()}}

    def _notifier(self, channel: Channel, *, follows_setting: bool = False) -> Notifier:
        context = self._context

        def current() -> Channel:
            return from_setting(context.config.current.get("attention.notify")) if follows_setting else channel

        return Notifier(current, self._send, self._queue, context.store, context.events, context.clock)

    async def _apply(self, tasks: Tasks) -> None:
        """Stop the channels that are gone or different in the configuration, and start those that are new."""
        wanted = {one.name: one for one in from_tables(self._context.config.current.get("attention.channel"))}
        for name, (channel, _, task) in list(self._running.items()):
            if wanted.get(name) != channel:
                task.cancel()
                await asyncio.wait({task})
                del self._running[name]
        await self._context.store.write(lambda connection: self._begin(connection, wanted))
        for name, channel in wanted.items():
            if name not in self._running:
                notifier = self._notifier(channel)
                task = tasks.keep(f"notifications: {name}", notifier.live)
                self._running[name] = (channel, notifier, task)

    def _begin(self, connection: sqlite3.Connection, wanted: Mapping[str, Channel]) -> None:
        """Have channels that are new tell what comes from now on; forget those that are gone."""
        known = {
            consumer.removeprefix(CONSUMER)
            for (consumer,) in connection.execute("SELECT consumer FROM event_cursor")
            if consumer.startswith(CONSUMER)
        }
        for name in known - wanted.keys():
            connection.execute("DELETE FROM event_cursor WHERE consumer = ?", (f"{CONSUMER}{name}",))
            connection.execute("DELETE FROM attention_channel WHERE name = ?", (name,))
        for name in wanted.keys() - known:
            store_cursor(connection, wanted[name].consumer, self._context.events.cursor)
