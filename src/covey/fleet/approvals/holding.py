"""Requests of agents held open in their hooks: each until it is answered, withdrawn or too old.

The hook is connected to the daemon meanwhile. Letting go means that it ends without a word, and the agent asks at its
terminal; that is what happens whenever anything goes wrong.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from covey.agents.claim import SURE, WAITING, Claim
from covey.agents.registry import APPROVALS
from covey.contract.fleet_events import AGENT_ENDED, AGENT_STATE
from covey.fleet.approvals.approval import (
    ANSWERED,
    DENY,
    EXPIRED,
    HOOK,
    TERMINAL,
    WITHDRAWN,
    Approval,
    opened,
)
from covey.fleet.approvals.held import SOURCE, Held, claim_of, command_lines, is_nested, settling
from covey.fleet.approvals.refusal import too_late
from covey.kernel.operations.stream import Message
from covey.kernel.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from typing import Self

    from covey.agents.approvals import PermissionRequest
    from covey.fleet.answers.view import Row
    from covey.fleet.approvals.pending import PendingApprovals
    from covey.fleet.approvals.policy_answer import PolicyAnswers
    from covey.fleet.fleet import Fleet
    from covey.fleet.ingest.delivery import HookDelivery
    from covey.kernel.clock import Clock
    from covey.kernel.events.event import Event
    from covey.kernel.events.events import Events
    from covey.kernel.metrics import Metrics
    from covey.kernel.operations.stream import Batch

DECISION = "covey.decision"
LONGEST_S = 3540.0
"""For which a request is held; the hook may want less."""
PULSE_S = 5.0
"""Between two signs of life for the hook, which gives up a silent daemon."""
OWNER_S, LOOK_S = 1.0, 0.05
"""How long to wait for an agent in a pane that has not been detected yet."""
SETTLES_S = 0.5
"""An agent that does not wait any more for as long has been answered at its terminal."""
HANDED_S = 5.0
UNDECIDED = frozenset({"unknown"})
"""States that do not show that the agent went on."""
BACK, ENDED = "you are here: it asks at its terminal", "the agent has ended"
STOPS = "the daemon stops: it asks at its terminal"
CLOSE_S = 8.0
"""How long a daemon that stops waits for approvals that are being closed."""


class Holding:
    """All requests that are held. `async with` watches the agents meanwhile."""

    def __init__(
        self,
        fleet: Fleet,
        events: Events,
        clock: Clock,
        metrics: Metrics,
        pending: PendingApprovals,
        *,
        is_away: Callable[[], bool],
        policy: PolicyAnswers,
    ) -> None:
        self._fleet = fleet
        self._events = events
        self._clock = clock
        self._pending = pending
        self._is_away = is_away
        self._policy = policy
        self._held: dict[str, Held] = {}
        self._denied: dict[str, Approval] = {}
        """By runtime, the last request that was denied while its dialog was on the screen."""
        self._tasks = Tasks(clock, metrics)
        self._stopping = False

    async def __aenter__(self) -> Self:
        for approval in await self._pending.interrupt_open(self._clock.time()):
            self._publish(approval.runtime_id)
        self._tasks.keep("approvals", self._watch_agents)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.drain(CLOSE_S)
        await self._tasks.aclose()

    # The side of the hook.

    async def batches(
        self, delivery: HookDelivery, request: PermissionRequest, limit_s: float
    ) -> AsyncGenerator[Batch, None]:
        """Yield nothing while a request waits, and the decision as the last message; end without one to let go."""
        yield ()
        agent = APPROVALS[delivery.agent]
        row = await self._owner(delivery)
        if row is None or self._stopping:
            return
        limit_s = min(limit_s, LONGEST_S)
        approval = opened(self._fleet.new_id(), row, request, self._clock.time(), limit_s)
        printed = await self._policy.answer(approval)
        if printed is not None:
            self._resume(approval)
            yield (Message(DECISION, printed),)
            return
        if request.hidden and (not self._is_away() or agent.allows_all(command_lines(delivery.pids))):
            return
        async with aclosing(self._hold(approval, limit_s)) as batches:
            async for batch in batches:
                yield batch

    async def _hold(self, approval: Approval, limit_s: float) -> AsyncGenerator[Batch, None]:
        until = self._clock.monotonic() + limit_s
        held = Held(approval)
        held.waited = self._state(approval.runtime_id) in WAITING
        self._denied.pop(approval.runtime_id, None)
        if not approval.request.hidden and APPROVALS[approval.agent].one_dialog:
            self._supersede(approval)
        self._held[approval.id] = held
        try:
            await self._pending.add(approval)
            self._publish(approval.runtime_id)
            self._check_still_asked(held)
            while not held.outcome.done():
                left = until - self._clock.monotonic()
                if left <= 0:
                    held.let_go(approval.closed(EXPIRED, self._clock.time(), why="nobody answered in time"))
                    break
                await asyncio.wait({held.outcome}, timeout=min(left, PULSE_S))
                if not held.outcome.done():
                    yield ()
            printed = held.outcome.result()
            if printed is not None:
                self._resume(approval)
                yield (Message(DECISION, printed),)
                held.handed.set_result(True)
        finally:
            self._release(held)

    def _check_still_asked(self, held: Held) -> None:
        """Let go of a request for which something has changed while it was being opened."""
        if held.approval.runtime_id not in self._fleet.states.rows:
            self._withdraw(held, ENDED)
        elif held.approval.request.hidden and not self._is_away():
            self._withdraw(held, BACK)
        elif self._stopping:
            self._withdraw(held, STOPS)

    def _release(self, held: Held) -> None:
        """Forget a request whose hook has its outcome, or has gone."""
        approval = held.approval
        del self._held[approval.id]
        if not held.handed.done():
            held.handed.set_result(False)
        if not held.claimed:  # the connection was closed
            hidden = approval.request.hidden
            why = "its hook was ended" if hidden else "it was answered at its terminal, or interrupted"
            held.end = approval.closed(WITHDRAWN, self._clock.time(), via=TERMINAL, why=why)
        if held.end is not None:
            self._pending.open.pop(approval.id, None)
            self._tasks.spawn("end of an approval", self._close(held.end))
        self._publish(approval.runtime_id)

    async def _close(self, approval: Approval) -> None:
        await self._pending.close(approval)

    async def _owner(self, delivery: HookDelivery) -> Row | None:
        """Return the row of the agent that asks, as soon as it is detected; None if it is not."""
        until = self._clock.monotonic() + (OWNER_S if delivery.pane_id else 0.0)
        local = self._fleet.watches.local
        while True:
            runtime = self._fleet.runtimes.owner_of(delivery, local.name if local else "")
            row = self._fleet.states.rows.get(runtime.runtime_id) if runtime else None
            if row is not None or local is None or self._clock.monotonic() >= until:
                return None if self._is_nested(delivery) else row
            local.rescan()
            await asyncio.sleep(LOOK_S)

    def _is_nested(self, delivery: HookDelivery) -> bool:
        """Return whether an agent without a terminal asks, which another agent runs as a tool: nobody would see it."""
        of_process, here = self._fleet.runtimes.of_process, self._fleet.watches.local_name
        below = takewhile(lambda pid: of_process(here, pid) is None, delivery.pids)
        return is_nested(delivery.agent, command_lines(below))

    # The side of the person.

    async def answer(
        self, approval: Approval, printed: dict[str, Any], by: Mapping[str, Any], **changes: Any
    ) -> Approval:
        """Have the hook of an approval print this, and return the approval as it is then.

        The answer is recorded before it is given. Raises Refusal if it comes too late.
        """
        held = self._held.get(approval.id)
        if held is None or held.claimed:
            raise too_late(await self._ended(approval))
        held.claimed = True
        return await self._tasks.shield("answer to an approval", self._answer(held, printed, dict(by), changes))

    async def _answer(
        self, held: Held, printed: dict[str, Any], by: dict[str, Any], changes: dict[str, Any]
    ) -> Approval:
        try:
            closed = await self._pending.close(
                held.approval.closed(ANSWERED, self._clock.time(), via=HOOK, by=by, **changes)
            )
        except BaseException:
            held.outcome.set_result(None)
            raise
        held.outcome.set_result(printed)
        async with asyncio.timeout(HANDED_S):
            handed = await held.handed
        if handed:
            if closed.decision == DENY and not closed.request.hidden:
                self._denied[closed.runtime_id] = closed
            return closed
        why = "its hook had ended a moment before"
        raise too_late(await self._pending.close(held.approval.closed(WITHDRAWN, self._clock.time(), why=why)))

    async def _ended(self, approval: Approval) -> Approval:
        """Return an approval after its end, which may be under way."""
        until = self._clock.monotonic() + HANDED_S
        while (now := await self._pending.get(approval.id)) is None or now.closed_at is None:
            if self._clock.monotonic() >= until:
                return approval.closed(WITHDRAWN, self._clock.time(), why="it ends just now")
            await asyncio.sleep(LOOK_S)
        return now

    def let_go_hidden(self) -> None:
        """Let go of the requests whose dialogs do not show: the person is back."""
        for held in list(self._held.values()):
            if held.approval.request.hidden:
                self._withdraw(held, BACK)

    # The agents meanwhile.

    def is_asking(self, runtime_id: str) -> bool:
        """Return whether a request of an agent is held."""
        return any(held.approval.runtime_id == runtime_id for held in self._held.values())

    def on_delivery(self, runtime_id: str, delivery: HookDelivery) -> None:
        """Withdraw the request of a call whose end a hook reports: the person at the terminal has allowed it."""
        if delivery.agent not in APPROVALS:
            return
        agent = APPROVALS[delivery.agent]
        call = agent.ended_call(delivery.payload)
        for held in list(self._held.values()):
            request = held.approval.request
            same = held.approval.runtime_id == runtime_id and request.call_key == call
            if same and not request.hidden:
                self._withdraw(held, "it was answered at its terminal", TERMINAL)
        denied = self._denied.get(runtime_id)
        if denied is not None and denied.request.call_key == agent.ran_call(delivery.payload):
            del self._denied[runtime_id]
            why = "the person at its terminal had allowed it a moment before it was denied"
            self._tasks.spawn(
                "denial that came too late",
                self._close(
                    denied.closed(WITHDRAWN, self._clock.time(), decision="", message="", via=TERMINAL, why=why)
                ),
            )

    async def _watch_agents(self) -> None:
        async with self._events.subscribe(kinds=[AGENT_STATE, AGENT_ENDED]) as heard:
            while not heard.closed:
                for event in await heard.take():
                    self._on_agent(event)
        self._stopping = True
        for held in list(self._held.values()):
            self._withdraw(held, STOPS)

    def _on_agent(self, event: Event) -> None:
        if event.kind == AGENT_ENDED:
            self._denied.pop(event.subject, None)
        for held in [one for one in self._held.values() if one.approval.runtime_id == event.subject]:
            if event.kind == AGENT_ENDED:
                self._withdraw(held, ENDED)
            elif event.data["state"] in WAITING:
                held.waited = True
            elif held.waited and not held.approval.request.hidden:
                asyncio.get_running_loop().call_later(SETTLES_S, self._withdraw_if_gone_on, held)

    def _withdraw_if_gone_on(self, held: Held) -> None:
        if self._state(held.approval.runtime_id) not in WAITING | UNDECIDED:
            self._withdraw(held, "it was answered at its terminal", TERMINAL)

    def _supersede(self, approval: Approval) -> None:
        """Withdraw what the same conversation asked before: it shows one dialog at a time."""
        for held in list(self._held.values()):
            if held.approval.runtime_id == approval.runtime_id and not held.approval.request.hidden:
                self._withdraw(held, "it asks something else now", TERMINAL)

    def _withdraw(self, held: Held, why: str, via: str = "") -> None:
        held.let_go(held.approval.closed(WITHDRAWN, self._clock.time(), via=via, why=why))

    def _resume(self, approval: Approval) -> None:
        """Have the fleet know that an agent goes on: its own hooks say so only when its tool has ended."""
        now = self._fleet.states.now()
        claim = Claim(
            source=HOOK,
            state="running",
            at=now,
            level=False,
            strength=SURE,
            reason="answered",
            evidence="its request was answered through the hook",
        )
        self._fleet.states.apply(approval.runtime_id, HOOK, claim, self._fleet.new_id(), now)

    def _state(self, runtime_id: str) -> str:
        row = self._fleet.states.rows.get(runtime_id)
        return row.state if row else "unknown"

    def _publish(self, runtime_id: str) -> None:
        """Have the attention item of an agent name the commands that settle what it asks.

        An agent that shows no dialog looks as if it worked: that it waits, only we know.
        """
        own = [held.approval for held in self._held.values() if held.approval.runtime_id == runtime_id]
        states, now = self._fleet.states, self._fleet.states.now()
        claim = next((claim_of(one) for one in own if one.request.hidden), None)
        before = next((one for one in states.claims(runtime_id) if one.source == SOURCE), None)
        if (claim is None) != (before is None) or (claim and before and claim.detail != before.detail):
            states.apply(runtime_id, SOURCE, claim, self._fleet.new_id(), now)
        states.name_settling(runtime_id, settling(own))
