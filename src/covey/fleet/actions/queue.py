"""Messages that wait until their agent can be given them: in order for each agent, over restarts of the daemon.

A message is in the database before it is tried, and marked there before anything is typed: so a daemon that is killed
leaves either a message for which nothing was typed, which the next one delivers, or one that is closed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.contract.actions_events import RECEIPT_CHANGED
from covey.contract.fleet_events import AGENT_ENDED, AGENT_STATE
from covey.fleet.actions.queued import CONDITIONS, Queued
from covey.fleet.actions.refusal import (
    ACTION_EXPIRED,
    COMPOSER_HOLDS_DRAFT,
    COMPOSER_NOT_FOUND,
    DIALOG_OPEN,
    NOT_IN_FOREGROUND,
    NOT_QUEUED,
    PANE_IN_MODE,
    QUEUE_FULL,
    QUEUE_NOT_EMPTY,
    RUNTIME_CHANGED,
    SCREEN_CHANGING,
    SCREEN_NOT_UNDERSTOOD,
    SOMEBODY_TYPES,
    STATE_CHANGED,
    STATE_STALE,
    TARGET_UNREACHABLE,
    Refusal,
)
from covey.fleet.actions.snapshot import take
from covey.fleet.answers.references import ReferenceNotFound
from covey.kernel.clock import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from covey.fleet.actions.message import Message
    from covey.fleet.actions.queued import QueuedMessages
    from covey.fleet.actions.receipt import Receipt, Receipts
    from covey.fleet.actions.sender import Sender
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.tasks import Tasks

WAITS_S = 3600.0
"""How long a message waits if the caller does not say."""
MOST = 100
"""Messages that may wait for one agent."""
RETURNS_S = 25.0
"""After which the call returns that has accepted a message, although it is still being tried."""
RETRY_S = 1.0
"""After which an agent is looked at again, although nothing was heard of it."""
PASSING = frozenset(
    {
        ACTION_EXPIRED,
        COMPOSER_HOLDS_DRAFT,
        COMPOSER_NOT_FOUND,
        DIALOG_OPEN,
        NOT_IN_FOREGROUND,
        PANE_IN_MODE,
        RUNTIME_CHANGED,
        SCREEN_CHANGING,
        SCREEN_NOT_UNDERSTOOD,
        SOMEBODY_TYPES,
        STATE_CHANGED,
        STATE_STALE,
        TARGET_UNREACHABLE,
    }
)
"""Refusals after which a message waits. While its agent is observed, a runtime that seems to have changed is one whose
pane was not listed yet, or whose end will be noticed in a moment."""
ENDED = "the agent has ended; nothing was typed"


class Queue:
    """The messages that wait, by runtime. One task wakes it; each agent is served by a task of its own."""

    def __init__(
        self,
        fleet: Fleet,
        events: Events,
        sender: Sender,
        receipts: Receipts,
        table: QueuedMessages,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._fleet = fleet
        self._events = events
        self._sender = sender
        self._receipts = receipts
        self._table = table
        self._clock = clock
        self._tasks = tasks
        self._lines: dict[str, list[Queued]] = {}
        """By runtime, in order. None is empty."""
        self._served: set[str] = set()
        """Runtimes whose messages are being tried now."""

    async def open(self) -> None:
        """Take over what the last daemon left, close what it may have typed, and begin to serve."""
        for queued in await self._table.resume():
            self._lines.setdefault(queued.receipt.runtime_id, []).append(queued)
        waiting = {queued.receipt.id for line in self._lines.values() for queued in line}
        await self._receipts.interrupt_open(self._clock.time(), waiting)
        self._tasks.keep("message queue", self._run)

    def check_empty(self, snapshot: Snapshot) -> None:
        """Raise Refusal if messages wait for the agent: another one must not overtake them."""
        if line := self._lines.get(snapshot.runtime.runtime_id):
            raise Refusal(
                QUEUE_NOT_EMPTY,
                f"{len(line)} message{'s wait' if len(line) > 1 else ' waits'} for {snapshot.ref}, "
                "and this one would overtake them",
                "Let it wait, too: --when-ready   or see them: covey receipts list",
            )

    def place(self, receipt_id: str) -> dict[str, Any]:
        """Return where a message stands in its queue and until when it waits; empty if it does not wait."""
        for line in self._lines.values():
            for position, queued in enumerate(line, 1):
                if queued.receipt.id == receipt_id:
                    return {"position": position, "expires_at": timestamp(queued.expires_at)}
        return {}

    async def put(
        self, snapshot: Snapshot, message: Message, params: Mapping[str, Any], waits_s: float, *, returns: bool = False
    ) -> Receipt:
        """Accept a message. Returns its closed receipt if it could be sent at once, else the open one.

        With `returns`, the open one is returned as soon as the message is stored. Raises Refusal if too many messages
        wait for that agent.
        """
        line = self._lines.setdefault(snapshot.runtime.runtime_id, [])
        if len(line) >= MOST:
            raise Refusal(
                QUEUE_FULL,
                f"{len(line)} messages wait for {snapshot.ref}, and no more can",
                "Take some out: covey receipts cancel <id>",
            )
        first = not line
        queued = Queued(
            receipt=replace(self._sender.receipt(snapshot, message), why="" if first else "others wait before it"),
            conditions={name: params[name] for name in CONDITIONS},
            expires_at=self._clock.time() + waits_s,
            stored=False,
            tried=asyncio.get_running_loop().create_future(),
        )
        line.append(queued)
        await self._tasks.shield("queued message", self._add(queued, message.text))
        if queued.tried is not None and first and not returns:
            await asyncio.wait([queued.tried], timeout=RETURNS_S)
        return queued.receipt

    async def _add(self, queued: Queued, text: str) -> None:
        """Store a message and try it. Whoever has given it may be gone meanwhile."""
        try:
            await self._table.add(queued, text)
        except BaseException:
            self._drop(queued)
            raise
        queued.stored = True
        self._serve(queued.receipt.runtime_id)

    async def cancel(self, receipt: Receipt) -> Receipt:
        """Take a message out and return its closed receipt. Raises Refusal if it does not wait any more."""
        line = self._lines.get(receipt.runtime_id, [])
        queued = next((one for one in line if one.receipt.id == receipt.id), None)
        if queued is None or queued.begun:
            raise Refusal(
                NOT_QUEUED,
                "it is being typed now" if queued else f"it does not wait any more: {receipt.why or receipt.rung}",
                "See how far it came: covey receipts list",
            )
        return await self._close(queued, "it was cancelled; nothing was typed")

    async def _run(self) -> None:
        """Try messages again when something is heard of their agents, and after a while in any case."""
        async with self._events.subscribe(kinds=[AGENT_STATE, AGENT_ENDED, RECEIPT_CHANGED]) as heard:
            due = self._clock.monotonic()
            while not heard.closed:
                if self._clock.monotonic() >= due:
                    due = self._clock.monotonic() + RETRY_S
                    for runtime_id in self._lines:
                        self._serve(runtime_id)
                for event in await heard.take(max(due - self._clock.monotonic(), 0.0) if self._lines else None):
                    if event.kind != RECEIPT_CHANGED:
                        self._serve(event.subject)

    def _serve(self, runtime_id: str) -> None:
        if runtime_id in self._lines and runtime_id not in self._served:
            self._served.add(runtime_id)
            self._tasks.spawn("queued messages", self._try_all(runtime_id))

    async def _try_all(self, runtime_id: str) -> None:
        """Send what can be sent now, the first first, and close what has waited for too long."""
        try:
            for queued in list(self._lines.get(runtime_id, ())):
                if queued.stored and self._clock.time() >= queued.expires_at:
                    await self._close(queued, f"it has waited for too long: {queued.receipt.why or 'not tried'}")
            while (line := self._lines.get(runtime_id)) and line[0].stored:
                if not await self._try(line[0]):
                    break
        finally:
            self._served.discard(runtime_id)

    async def _try(self, queued: Queued) -> bool:
        """Try one message. Returns whether the next one may be tried: this one is done with."""
        try:
            if queued.receipt.runtime_id not in self._fleet.sources:
                await self._close(queued, ENDED)
            else:
                queued.receipt = await self._send(queued)
                self._drop(queued)
                await self._table.forget(queued.receipt.id)
        except (Refusal, ReferenceNotFound) as refusal:
            if queued not in self._lines.get(queued.receipt.runtime_id, ()):  # it was cancelled
                return True
            if isinstance(refusal, Refusal) and refusal.error not in PASSING:
                await self._close(queued, refusal.message)
                return True
            await self._wait(queued, refusal.message)
            return False
        except BaseException:
            if queued.begun:  # its receipt is closed, or will be by the next daemon
                self._drop(queued)
            raise
        return True

    async def _send(self, queued: Queued) -> Receipt:
        conditions = {**queued.conditions, "ref": f"runtime:{queued.receipt.runtime_id}"}
        snapshot = take(self._fleet, conditions, self._clock.time())
        snapshot = replace(snapshot, action_id=queued.receipt.id)
        return await self._sender.send_accepted(snapshot, queued.receipt, lambda: self._begin(queued))

    async def _begin(self, queued: Queued) -> str:
        """Note that the message may be typed from now on, and return its text. Raises Refusal if it was cancelled."""
        if queued not in self._lines.get(queued.receipt.runtime_id, ()):
            raise Refusal(NOT_QUEUED, "it was cancelled", "Send it again.")
        queued.begun = True
        try:
            return await self._table.begin(queued.receipt.id)
        except Exception:
            queued.begun = False
            raise

    async def _wait(self, queued: Queued, why: str) -> None:
        """Note why a message has to wait, if that was not known."""
        changed = queued.begun or queued.receipt.why != why
        queued.begun = False
        if changed and queued in self._lines.get(queued.receipt.runtime_id, ()):
            queued.receipt = replace(queued.receipt, why=why, updated_at=self._clock.time())
            await self._table.wait_again(queued.receipt)
        _let_return(queued)

    async def _close(self, queued: Queued, why: str) -> Receipt:
        self._drop(queued)
        queued.receipt = replace(queued.receipt, open=False, why=why, updated_at=self._clock.time())
        return await self._table.close(queued.receipt)

    def _drop(self, queued: Queued) -> None:
        line = self._lines.get(queued.receipt.runtime_id, [])
        if queued in line:
            line.remove(queued)
        if not line:
            self._lines.pop(queued.receipt.runtime_id, None)
        _let_return(queued)


def _let_return(queued: Queued) -> None:
    """Let the call return that has accepted the message."""
    if queued.tried is not None and not queued.tried.done():
        queued.tried.set_result(None)
