"""Requests of the past, from the journal, and what a policy would have decided about them."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.agents.registry import TOOLS
from covey.contract.approvals_events import APPROVAL_CLOSED, APPROVAL_OPENED
from covey.kernel.clock import timestamp
from covey.policy.decision import ALLOW, ASK, DENY, Decision
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import ToolCall
from covey.policy.tools import Tools, texts_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from covey.kernel.events.event import Event
    from covey.policy.decision import Effect
    from covey.policy.policy import Policy

APPROVED = "approved"
DENIED = "denied"
BY_POLICY = "policy"
_ANSWERS = {ALLOW: APPROVED, DENY: DENIED}


class PastRequest(Struct, frozen=True, kw_only=True):
    """A request for permission, and what came of it. `outcome` is empty while it is open."""

    request: PolicyRequest
    at: float
    ref: str
    outcome: str = ""
    via: str = ""
    rule: str = ""

    @property
    def decided(self) -> Effect:
        """Return what the policy of that time decided; `ask` if a person was asked."""
        if self.via != BY_POLICY:
            return ASK
        return ALLOW if self.outcome == APPROVED else DENY


class Trial(Struct, frozen=True):
    """What a policy would have decided about a past request."""

    past: PastRequest
    decision: Decision

    @property
    def changed(self) -> bool:
        """Return whether that is not what was decided then."""
        return self.decision.effect != self.past.decided

    @property
    def against(self) -> bool:
        """Return whether a person has answered otherwise."""
        answers = {APPROVED: DENY, DENIED: ALLOW}
        return self.past.via != BY_POLICY and answers.get(self.past.outcome) == self.decision.effect

    def as_dict(self) -> dict[str, Any]:
        """Return the trial for an answer."""
        past, request = self.past, self.past.request
        return {
            "at": timestamp(past.at),
            "ref": past.ref,
            "agent": request.agent,
            "tool": request.tool,
            "command": request.call.command,
            "paths": list(request.call.paths),
            "target": request.target,
            "folder": request.folder,
            "outcome": past.outcome,
            "via": past.via,
            "decided": past.decided,
            "effect": self.decision.effect,
            "rule": self.decision.rule,
            "why": self.decision.why,
            "changed": self.changed,
            "against": self.against,
        }


def past_requests(events: Iterable[Event]) -> Iterator[PastRequest]:
    """Yield the requests of events in their order, each when it was closed; at the end those that are still open."""
    pending: dict[str, PastRequest] = {}
    for event in events:
        if event.kind == APPROVAL_OPENED and event.data["kind"] != "question":
            pending[event.subject] = _opened(event)
        elif event.kind == APPROVAL_CLOSED and (past := pending.pop(event.subject, None)):
            yield PastRequest(
                request=past.request,
                at=past.at,
                ref=past.ref,
                outcome=_ANSWERS.get(event.data["decision"], event.data["status"]),
                via=event.data["via"],
                rule=str(event.data["by"].get("rule", "")),
            )
    yield from pending.values()


def tried(policy: Policy, past: Iterable[PastRequest], limit: int) -> tuple[list[Trial], Counter[str]]:
    """Return the last `limit` trials, and how many there were of each effect, changed and against an answer."""
    last: deque[Trial] = deque(maxlen=limit)
    counts: Counter[str] = Counter()
    for one in past:
        trial = Trial(one, policy.decide(one.request))
        last.append(trial)
        counts[trial.decision.effect] += 1
        counts["changed"] += trial.changed
        counts["against"] += trial.against
    return list(last), counts


def _call(data: Mapping[str, Any]) -> ToolCall:
    """Return the call of a recorded request. Older records have no kind: it is that of the tool, as far as it is known.

    Without its input a request is judged by what was recorded of it.
    """
    tools = TOOLS[data["agent"]] if data["agent"] in TOOLS else Tools({})
    kind = data.get("tool_kind") or tools.kind_of(data["tool"])
    return ToolCall(
        kind=kind,
        command=data["shell_command"],
        paths=tuple(data["paths"]),
        deep=data.get("deep", False),
        folder=data.get("runs_in", ""),
        texts=texts_in(data.get("input") or data["command"]),
        unread=data.get("unread") or ("it was too long to be kept whole" if data.get("left_out") else ""),
    )


def _opened(event: Event) -> PastRequest:
    data = event.data
    request = PolicyRequest(
        agent=data["agent"], tool=data["tool"], call=_call(data), target=data["target"], folder=data["folder"]
    )
    return PastRequest(request=request, at=event.time, ref=data["ref"])
