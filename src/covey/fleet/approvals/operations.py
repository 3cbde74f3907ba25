"""What the daemon does for each operation about approvals."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.agents.approvals import APPROVAL, PLAN, QUESTION
from covey.agents.registry import APPROVALS
from covey.fleet.actions.refusal import NOT_SUPPORTED, RUNTIME_CHANGED, Refusal
from covey.fleet.answers.references import ReferenceNotFound, resolve
from covey.fleet.approvals import far
from covey.fleet.approvals.answers import chosen
from covey.fleet.approvals.approval import ALLOW, ANSWER, DENY, OPEN
from covey.fleet.approvals.holding import LONGEST_S, Holding
from covey.fleet.approvals.pending import PendingApprovals
from covey.fleet.approvals.policy_answer import PolicyAnswers
from covey.fleet.approvals.presence import Presence
from covey.fleet.approvals.refusal import NOTHING_ASKED, too_late
from covey.fleet.ingest.delivery import repeats_a_key
from covey.fleet.ingest.sender import checked
from covey.fleet.state.model import WAITING
from covey.kernel.http.request import read_deadline
from covey.kernel.moments import seconds
from murli import AgentError, not_found, user_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence

    from covey.agents.approvals import PermissionRequest
    from covey.fleet.answers.view import Row
    from covey.fleet.approvals.approval import Approval
    from covey.fleet.approvals.policy_answer import CurrentPolicy
    from covey.fleet.fleet import Fleet
    from covey.fleet.ingest.ingest import HookIngest
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.operations.stream import Batch
    from covey.kernel.subsystem import Context
    from covey.kernel.tasks import Tasks

log = logging.getLogger("covey.fleet")
DENIED = "The person who runs this agent denied this."


class ApprovalOperations:
    """The handlers, each a method that takes a call and returns a result. Open it with `running`."""

    def __init__(self, fleet: Fleet, context: Context, ingest: HookIngest, policy: CurrentPolicy) -> None:
        self._fleet = fleet
        self._clock = context.clock
        self._ingest = ingest
        self._pending = PendingApprovals(context.store, context.events)
        self.presence = Presence(context.store, context.events, context.clock)
        self._holding = Holding(
            fleet,
            context.events,
            context.clock,
            context.metrics,
            self._pending,
            is_away=lambda: self.presence.away,
            policy=PolicyAnswers(policy, self._pending, context.events, context.clock),
        )
        self.presence.on_here = self._holding.let_go_hidden
        ingest.on_accepted = self._holding.on_delivery
        ingest.is_asking = self._holding.is_asking

    @contextlib.asynccontextmanager
    async def running(self, tasks: Tasks) -> AsyncIterator[None]:
        """Continue where the last daemon ended, and watch the agents that are held meanwhile."""
        await self.presence.load()
        tasks.keep("presence", self.presence.watch)
        async with self._holding:
            yield

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "approvals": self.approvals,
            "approve": self.approve,
            "deny": self.deny,
            "answer": self.answer,
            "away": self.away,
            "here": self.here,
            "hooks.decision": self.decision,
        }

    def status(self) -> dict[str, Any]:
        """Its part of `covey status`."""
        return {"presence": self._presence(), "approvals": len(self._pending.open)}

    async def approvals(self, call: Call) -> dict[str, Any]:
        limit = call.params["limit"]
        found = list(self._pending.open.values())[:limit]
        if call.params["all"]:
            found += [one for one in await self._pending.latest(limit) if one.status != OPEN][: limit - len(found)]
        now = self._clock.time()
        rows = self._fleet.rows()
        there = [] if call.params["here"] else await far.listed(self._fleet, rows)
        asking = {one.runtime_id for one in self._pending.open.values()} | {one["runtime_id"] for one in there}
        return {
            "open": len(self._pending.open) + len(there),
            "presence": self._presence(),
            "items": ([one.as_dict(now) for one in found if one.status == OPEN] + there)[:limit]
            + [one.as_dict(now) for one in found if one.status != OPEN],
            "others": [_other(row) for row in rows if row.state in WAITING and row.runtime_id not in asking][:limit],
        }

    async def approve(self, call: Call) -> dict[str, Any]:
        always = bool(call.params["always"])

        def printed(approval: Approval) -> dict[str, Any]:
            agent, request = APPROVALS[approval.agent], approval.request
            _check_kind(approval, APPROVAL, PLAN)
            if always and (agent.always_refused or not request.suggestions):
                why = agent.always_refused or "it suggests no rule for this"
                raise Refusal(
                    NOT_SUPPORTED,
                    f"{approval.agent} cannot be told to allow this always: {why}",
                    f"Approve it once: covey approve {approval.short_id}",
                )
            return agent.allow(request, always=always)

        return await self._settle(call, printed, decision=ALLOW, always=always)

    async def deny(self, call: Call) -> dict[str, Any]:
        message = call.params["message"] or DENIED

        def printed(approval: Approval) -> dict[str, Any]:
            return APPROVALS[approval.agent].deny(approval.request, message)

        return await self._settle(call, printed, decision=DENY, message=message)

    async def answer(self, call: Call) -> dict[str, Any]:
        options, text = call.params["option"], call.params["text"]
        if bool(options) == bool(text):
            raise user_error(
                "give the answer either with --option or with --text",
                "See what is offered: covey approvals",
                error="argument_error",
                field="option",
            )

        def printed(approval: Approval) -> dict[str, Any]:
            _check_kind(approval, QUESTION)
            answers = chosen(approval.request.questions, options, text)
            return APPROVALS[approval.agent].answer(approval.request, answers)

        return await self._settle(call, printed, decision=ANSWER, message=text or ", ".join(options))

    async def away(self, call: Call) -> dict[str, Any]:
        given = call.params["for"]
        until = None if given is None else self._clock.time() + seconds(given, "for", least=1.0)
        return (await self.presence.set(away=True, until=until)).as_dict()

    async def here(self, _: Call) -> dict[str, Any]:
        return (await self.presence.set(away=False)).as_dict()

    async def decision(self, call: Call) -> AsyncGenerator[Batch, None]:
        limit = read_deadline(call.headers, LONGEST_S)
        agent = call.params["agent"]
        delivery = self._ingest.parse(agent, call.headers, call.params["payload"])
        if delivery is None or agent not in APPROVALS:
            return _nothing()
        # What a person is shown of a megabyte takes a second to be written.
        request = await asyncio.to_thread(_read, agent, delivery.payload, call.params["payload"])
        if request is None:
            return _nothing()
        delivery = await checked(delivery, call.caller)
        if not delivery.verified:
            log.warning("a request is not held: its sender does not come from the agent", extra={"agent": agent})
            return _nothing()
        return self._holding.batches(delivery, request, limit)

    # One approval.

    async def _settle(
        self, call: Call, printed: Callable[[Approval], dict[str, Any]], **changes: Any
    ) -> dict[str, Any]:
        """Answer the approval that a call names with what `printed` returns for it, and return it."""
        call.note(about=call.params["ref"])
        row, approval = await self._named(call.params)
        if approval is None:
            assert row is not None
            return await far.settle(self._fleet, row, call.operation.name, call.params)
        call.note(about=approval.ref)
        if approval.status != OPEN:
            raise too_late(approval)
        text = printed(approval)
        await call.begin(approval.for_audit())
        call.note(outcome=changes["decision"])
        closed = await self._holding.answer(approval, text, call.caller.as_dict(), **changes)
        return closed.as_dict(self._clock.time())

    async def _named(self, params: Mapping[str, Any]) -> tuple[Row | None, Approval | None]:
        """Return the approval that `ref` names, or the agent on another machine that asks there.

        Raises AgentError if it is no name, or one of several; Refusal if that agent asks nothing.
        """
        ref, row = params["ref"], None
        by_id = await self._pending.find(ref)
        try:
            row = resolve(ref, self._fleet.rows())
        except ReferenceNotFound:
            there = [] if by_id else await far.find(self._fleet, self._fleet.rows(), ref)
            if not by_id and len(there) != 1:
                raise _unknown(ref) from None
            row = there[0] if there else None
        except AgentError:
            if not by_id:
                raise
        if len(by_id) + (row is not None) > 1:
            raise _ambiguous(ref, by_id)
        approval = by_id[0] if by_id else None
        runtime_id = approval.runtime_id if approval else row.runtime_id if row else ""
        if (wanted := params.get("if_runtime") or "") and runtime_id != wanted.removeprefix("runtime:"):
            raise Refusal(
                RUNTIME_CHANGED,
                f"{ref} is runtime:{runtime_id} now, not runtime:{wanted.removeprefix('runtime:')}",
                f"See who is there: covey why runtime:{runtime_id}",
            )
        if row is not None and row.target == self._fleet.watches.local_name:
            approval = self._only(row)
        return row, approval

    def _only(self, row: Row) -> Approval:
        """Return the one approval that an agent of this machine waits for."""
        asked = [one for one in self._pending.open.values() if one.runtime_id == row.runtime_id]
        if len(asked) > 1:
            raise _ambiguous(row.ref, asked)
        if not asked:
            raise Refusal(
                NOTHING_ASKED,
                f"{row.agent} in {row.ref} asks nothing that can be answered through its hook; it is {row.state}",
                f"See what it asks on its screen: covey dialog show runtime:{row.runtime_id}",
            )
        return asked[0]

    def _presence(self) -> dict[str, Any]:
        return {**self.presence.state.as_dict(), "away": self.presence.away}


def _read(agent: str, payload: dict[str, Any], body: bytes) -> PermissionRequest | None:
    """Return what a hook asks for; None if that is nothing."""
    request = APPROVALS[agent].read(payload)
    if request is None or not repeats_a_key(body):
        return request
    return replace(request, call=replace(request.call, unread="a key of its input is given twice"))


def _other(row: Row) -> dict[str, Any]:
    """Return an agent that waits for an answer that no hook can give."""
    return {
        "runtime_id": row.runtime_id,
        "ref": row.ref,
        "target": row.target,
        "agent": row.agent,
        "state": row.state,
        "detail": row.detail,
        "command": f"covey dialog show runtime:{row.runtime_id}",
    }


async def _nothing() -> AsyncGenerator[Batch, None]:
    """A stream that ends at once: there is nothing to decide."""
    batches: Sequence[Batch] = ()
    for batch in batches:
        yield batch


def _check_kind(approval: Approval, *kinds: str) -> None:
    if approval.request.kind not in kinds:
        is_question = approval.request.kind == QUESTION
        what = "a question, and no approval" if is_question else "for approval, and no question"
        raise Refusal(
            NOT_SUPPORTED,
            f"{approval.agent} in {approval.ref} asks {what}",
            f"Use: {'   or   '.join(approval.commands)}",
        )


def _unknown(ref: str) -> AgentError:
    return not_found(
        f"neither an agent nor an approval is called {ref[:120]!r}", "See what is asked: covey approvals --all"
    )


def _ambiguous(ref: str, found: list[Approval]) -> AgentError:
    shown = "; ".join(f"{one.short_id} ({one.agent}, {one.request.tool})" for one in found)
    return user_error(
        f"{ref[:120]!r} names {len(found)} approvals" if len(found) > 1 else f"{ref[:120]!r} names an agent, too",
        f"Use the id of one of them: {shown}",
        error="E_REF_AMBIGUOUS",
        field="ref",
        valid_values=tuple(one.id for one in found),
    )
