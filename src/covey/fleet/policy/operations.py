"""What the daemon does for each operation of the policy."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.approvals_events import APPROVAL_CLOSED, APPROVAL_OPENED
from covey.fleet.policy.answers import explained, listed, problems_as_dicts
from covey.fleet.policy.past_requests import past_requests, tried
from covey.kernel.events.event import Kinds
from covey.kernel.moments import moment
from covey.policy.policy import Policy
from covey.policy.rules_text import placed, tables_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.fleet.policy.live_policy import LivePolicy
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.subsystem import Context

RULES_NAME = "the rules"
"""What a text of rules is called in errors: the daemon does not know its file."""
_KINDS = Kinds([APPROVAL_OPENED, APPROVAL_CLOSED])


class PolicyOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, context: Context, policy: LivePolicy) -> None:
        self._events = context.events
        self._clock = context.clock
        self._policy = policy
        self._home = str(Path.home())

    def handlers(self) -> Mapping[str, Handler]:
        return {"policy.list": self.list, "policy.explain": self.explain, "policy.test": self.test}

    async def list(self, _: Call) -> dict[str, Any]:
        policy = await self._policy.current()
        return listed(policy, await self._policy.problems())

    async def explain(self, call: Call) -> dict[str, Any]:
        return await asyncio.to_thread(explained, await self._policy.current(), call.params)

    async def test(self, call: Call) -> dict[str, Any]:
        since = moment(call.params["since"], "since", self._clock.time())
        if call.params["rules"] is None:
            policy = await self._policy.current()
            problems = await self._policy.problems()
        else:
            policy = Policy(tables_in(call.params["rules"], RULES_NAME), home=self._home)
            problems = placed(policy.problems, call.params["rules"])
        trials, counts = await self._events.read(
            lambda reader: tried(
                policy, past_requests(reader.stretch(_KINDS, reader.upto(since))), call.params["limit"]
            )
        )
        return {
            "items": [trial.as_dict() for trial in trials],
            "total": sum(counts[effect] for effect in ("allow", "deny", "ask")),
            **{name: counts[name] for name in ("allow", "deny", "ask", "changed", "against")},
            "problems": problems_as_dicts(problems),
        }
