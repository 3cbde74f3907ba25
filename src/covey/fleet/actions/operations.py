"""What the daemon does for each operation that acts on an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.fleet.actions.answer import Answer
from covey.fleet.actions.conversation import read_turns
from covey.fleet.actions.interruption import interrupt
from covey.fleet.actions.origin import stamp_of
from covey.fleet.actions.pane import AgentPane, acting_of
from covey.fleet.actions.queue import PASSING, WAITS_S, Queue
from covey.fleet.actions.queued import QueuedMessages
from covey.fleet.actions.receipt import Receipts
from covey.fleet.actions.refusal import NOT_SUPPORTED, QUEUE_NOT_EMPTY, Refusal
from covey.fleet.actions.sender import Sender
from covey.fleet.actions.signals import send_signal
from covey.fleet.actions.snapshot import begin, check_conditions, take
from covey.kernel.clock import timestamp
from covey.kernel.moments import seconds
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from covey.fleet.actions.receipt import Receipt
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.operations.stream import Batch
    from covey.kernel.subsystem import Context
    from covey.kernel.tasks import Tasks

TURNS = 3
"""How many of the last turns `view --turn` shows."""


class ActionOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, fleet: Fleet, context: Context, tasks: Tasks) -> None:
        self._fleet = fleet
        self._events = context.events
        self._clock = context.clock
        self.receipts = Receipts(context.store, context.events)
        self._sender = Sender(fleet, context.events, self.receipts, context.clock)
        table = QueuedMessages(context.store, self.receipts)
        self.queue = Queue(fleet, context.events, self._sender, self.receipts, table, context.clock, tasks)

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "send": self.send,
            "view": self.view,
            "interrupt": self.interrupt,
            "kill": self.kill,
            "receipts.list": self.list_receipts,
            "receipts.cancel": self.cancel,
            "receipts.wait": self.wait,
        }

    async def send(self, call: Call) -> dict[str, Any]:
        if call.params["file"]:
            raise user_error("the daemon reads no files for callers", "Give the text itself.", field="file")
        if call.params["wait"]:
            raise user_error("send does not wait for answers", "Call receipts.wait with the receipt.", field="wait")
        queues = call.params["when_ready"]
        waits_s = seconds(call.params["timeout"] or f"{WAITS_S:g}", "timeout")
        check_conditions(call.params)
        # What must hold for a message that may wait is checked when it is sent; that it is this agent, now.
        snapshot = await begin(self._fleet, call, self._clock.time(), force_stale=queues)
        message = self._sender.message(
            snapshot,
            call.params["text"] or "",
            as_command=call.params["as_command"],
            stamp=stamp_of(self._fleet, call.caller),
        )
        result: dict[str, Any] = {"receipt": None, "snapshot": snapshot.as_dict(), "stripped": message.stripped}
        if call.params["check_only"]:
            return {**result, **await self._would_wait(call)}
        if queues:
            # A subsystem follows the receipt by its events, and must know which it is before anything is typed.
            returns = call.caller.transport == "internal"
            receipt = await self.queue.put(snapshot, message, call.params, waits_s, returns=returns)
        else:
            self.queue.check_empty(snapshot)
            receipt = await self._sender.send(snapshot, message)
        call.note(outcome=receipt.rung)
        return {**result, "receipt": self._shown(receipt)}

    async def _would_wait(self, call: Call) -> dict[str, Any]:
        """Raise Refusal if a message would be refused now; with `when_ready`, return what it would wait for."""
        try:
            snapshot = self._snapshot(call)
            self.queue.check_empty(snapshot)
            await self._sender.check(snapshot)
        except Refusal as refusal:
            if not call.params["when_ready"] or refusal.error not in {*PASSING, QUEUE_NOT_EMPTY}:
                raise
            return {"waits_for": refusal.message}
        return {}

    async def wait(self, call: Call) -> AsyncIterator[Batch]:
        receipt = await self.receipts.find(call.params["id"])
        limit = seconds(call.params["timeout"], "timeout") if call.params["timeout"] is not None else None
        return Answer(self._fleet, self._events, self.receipts, self._clock, receipt, limit).batches()

    async def cancel(self, call: Call) -> dict[str, Any]:
        return (await self.queue.cancel(await self.receipts.find(call.params["id"]))).as_dict()

    async def view(self, call: Call) -> dict[str, Any]:
        snapshot = self._snapshot(call)
        if call.params["turn"]:
            return await self._turns(snapshot)
        screen = await self._pane(snapshot).screen()
        last = call.params["lines"]
        return {
            "ref": snapshot.ref,
            "agent": snapshot.runtime.agent,
            "state": snapshot.state,
            "composer": screen.composer.state,
            "lines": screen.lines[-last:],
            "coloured": screen.coloured[-last:],
        }

    async def interrupt(self, call: Call) -> dict[str, Any]:
        snapshot = await begin(self._fleet, call, self._clock.time())
        state = await interrupt(self._pane(snapshot), snapshot, acting_of(snapshot), self._clock)
        call.note(outcome=f"it is {state} now")
        return {"snapshot": snapshot.as_dict(), "state": state, "stopped": state != "running"}

    async def kill(self, call: Call) -> dict[str, Any]:
        snapshot = await begin(self._fleet, call, self._clock.time())
        watch = self._fleet.watches[snapshot.runtime.target]
        ended = await send_signal(watch, snapshot, call.params["signal"], self._clock)
        call.note(outcome=f"SIG{call.params['signal']}, {'it has ended' if ended else 'it still runs'}")
        return {
            "snapshot": snapshot.as_dict(),
            "signal": call.params["signal"],
            "pid": snapshot.runtime.pid,
            "ended": ended,
        }

    async def list_receipts(self, call: Call) -> dict[str, Any]:
        return {"items": [self._shown(one) for one in await self.receipts.latest(call.params["limit"])]}

    def _shown(self, receipt: Receipt) -> dict[str, Any]:
        return {**receipt.as_dict(), **self.queue.place(receipt.id)}

    async def _turns(self, snapshot: Snapshot) -> dict[str, Any]:
        row = self._fleet.states.rows.get(snapshot.runtime.runtime_id)
        turns = await read_turns(self._fleet, row) if row else None
        if turns is None:
            raise Refusal(
                NOT_SUPPORTED,
                f"the conversation of {snapshot.ref} cannot be read: it has no transcript that Covey reads",
                f"Look at its screen: covey view {snapshot.runtime.pane_id}",
            )
        shown = [
            {"prompt": turn.prompt, "reply": turn.reply, "at": timestamp(turn.at) if turn.at else None}
            for turn in turns[-TURNS:]
        ]
        return {
            "ref": snapshot.ref,
            "agent": snapshot.runtime.agent,
            "state": snapshot.state,
            "composer": "",
            "lines": [],
            "coloured": [],
            "turns": shown,
        }

    def _pane(self, snapshot: Snapshot) -> AgentPane:
        return AgentPane(self._fleet, snapshot, acting_of(snapshot))

    def _snapshot(self, call: Call) -> Snapshot:
        return take(self._fleet, call.params, self._clock.time())
