"""What the daemon does for each operation that acts on an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.fleet.actions.interruption import interrupt
from covey.fleet.actions.origin import stamp_of
from covey.fleet.actions.pane import AgentPane, acting_of
from covey.fleet.actions.receipt import Receipts
from covey.fleet.actions.refusal import NOT_SUPPORTED, Refusal
from covey.fleet.actions.sender import Sender
from covey.fleet.actions.signals import send_signal
from covey.fleet.actions.snapshot import take
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.subsystem import Context


class ActionOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, fleet: Fleet, context: Context) -> None:
        self._fleet = fleet
        self._clock = context.clock
        self.receipts = Receipts(context.store, context.events)
        self._sender = Sender(fleet, context.events, self.receipts, context.clock)

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "send": self.send,
            "view": self.view,
            "interrupt": self.interrupt,
            "kill": self.kill,
            "receipts.list": self.list_receipts,
        }

    async def send(self, call: Call) -> dict[str, Any]:
        if call.params["file"]:
            raise user_error("the daemon reads no files for callers", "Give the text itself.", field="file")
        snapshot = self._snapshot(call)
        message = self._sender.message(
            snapshot,
            call.params["text"] or "",
            as_command=call.params["as_command"],
            stamp=stamp_of(self._fleet, call.caller),
        )
        receipt = None
        if call.params["check_only"]:
            await self._sender.check(snapshot)
        else:
            receipt = await self._sender.send(snapshot, message)
        return {
            "receipt": receipt.as_dict() if receipt else None,
            "snapshot": snapshot.as_dict(),
            "stripped": message.stripped,
        }

    async def view(self, call: Call) -> dict[str, Any]:
        snapshot = self._snapshot(call)
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
        snapshot = self._snapshot(call)
        state = await interrupt(self._pane(snapshot), snapshot, acting_of(snapshot), self._clock)
        return {"snapshot": snapshot.as_dict(), "state": state, "stopped": state != "running"}

    async def kill(self, call: Call) -> dict[str, Any]:
        snapshot = self._snapshot(call)
        if snapshot.runtime.target != self._fleet.watches.local_name:
            raise Refusal(
                NOT_SUPPORTED,
                f"{snapshot.ref} is on another machine, and signals are sent on this one only",
                f"Send it there: ssh <host> kill -{call.params['signal']} {snapshot.runtime.pid}",
            )
        ended = await send_signal(snapshot, call.params["signal"], self._clock)
        return {
            "snapshot": snapshot.as_dict(),
            "signal": call.params["signal"],
            "pid": snapshot.runtime.pid,
            "ended": ended,
        }

    async def list_receipts(self, call: Call) -> dict[str, Any]:
        return {"items": [one.as_dict() for one in await self.receipts.latest(call.params["limit"])]}

    def _pane(self, snapshot: Snapshot) -> AgentPane:
        return AgentPane(self._fleet, snapshot, acting_of(snapshot))

    def _snapshot(self, call: Call) -> Snapshot:
        return take(self._fleet, call.params, self._clock.time())
