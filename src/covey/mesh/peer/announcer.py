"""From the inbox to everybody who listens: an event for each message, then its hooks and its agent.

The position of the last message that was announced is stored with its event, so that each has one event, also after a
crash. Hooks are run after that: once at most.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from covey.contract.mesh_events import MESSAGE_RECEIVED
from covey.mesh.names import EVERYBODY
from covey.mesh.peer.bridge import OUTCOMES
from covey.mesh.peer.message_view import mentions, message_view
from covey.mesh.peer.replies import NOTICE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable

    from covey.kernel.events.events import Events
    from covey.mesh.directory.record_store import RecordStore
    from covey.mesh.hooks.hooks import Hooks
    from covey.mesh.inbox.inbox import Inbox, Message
    from covey.mesh.peer.bridge import Bridge

FACT = "announced"
BATCH = 200


class Announcer:
    """Announces the messages of an inbox, in their order."""

    def __init__(
        self,
        *,
        slug: str,
        inbox: Inbox,
        events: Events,
        records: RecordStore,
        hooks: Hooks,
        own_name: Callable[[], str],
        bridge: Bridge,
        on_notice: Callable[[Message], Awaitable[None]],
    ) -> None:
        """`on_notice` gets what another peer says about a message of ours to its agent, at least once."""
        self._slug = slug
        self._inbox = inbox
        self._events = events
        self._records = records
        self._hooks = hooks
        self._own_name = own_name
        self._bridge = bridge
        self._on_notice = on_notice
        self._wake = asyncio.Event()
        self._wake.set()

    def wake(self) -> None:
        """Look for new messages."""
        self._wake.set()

    async def run(self) -> None:
        """Announce messages for ever."""
        position = await self._begin()
        while True:
            await self._wake.wait()
            self._wake.clear()
            while batch := await self._inbox.after(position, BATCH):
                for message in batch:
                    if message.kind == "direct" and (message.meta or {}).get(NOTICE) in OUTCOMES:
                        await self._on_notice(message)
                views = [message_view(message, self._slug, self._own_name()) for message in batch]
                await asyncio.gather(*(self._append(message, view) for message, view in zip(batch, views, strict=True)))
                position = batch[-1].position
                for message, view in zip(batch, views, strict=True):
                    self._hooks.fire(
                        self._hooks_of(message), {"event": str(MESSAGE_RECEIVED), **view}, hops=message.hops
                    )
                if any(message.agent for message in batch):
                    self._bridge.wake()

    async def _begin(self) -> int:
        """Return the position to begin after; 0 if the inbox is not the one that was announced before."""
        position = int(await self._records.fact(FACT) or 0)
        newest = await self._inbox.list(limit=1)
        return position if newest and newest[0].position >= position else 0

    async def _append(self, message: Message, view: dict[str, Any]) -> None:
        def also(database: sqlite3.Connection) -> None:
            database.execute("INSERT OR REPLACE INTO mesh_fact VALUES (?, ?)", (FACT, str(message.position)))
            if message.agent and message.kind == "direct":
                self._bridge.store(database, message)

        await self._events.append(MESSAGE_RECEIVED, message.id, view, source="mesh", also=also)

    def _hooks_of(self, message: Message) -> list[str]:
        names = ["on-message"]
        if message.kind == "direct":
            names.append("on-dm")
        if message.topic and message.topic != EVERYBODY:
            names.append(f"on-topic-{message.topic}")
        if mentions(message, self._own_name()):
            names.append("on-mention")
        return names
