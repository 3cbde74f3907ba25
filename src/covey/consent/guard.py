"""Refuses a person's decisions to callers behind which no person is found: in a daemon, and in the command itself."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from covey.consent.decision import decision_in
from covey.consent.person import AT_A_TERMINAL, PERSON_NEEDED, SETTING, Objection, from_agent, objection_to, unknown
from covey.kernel.operations.call import UNIX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from covey.contract import Operation
    from covey.kernel.config.config import Config, ConfigHolder
    from covey.kernel.operations.call import Call, Caller

FROM_PROGRAMS = "consent.from_programs"


def consent_guard(
    config: ConfigHolder, agent_of: Callable[[Caller], Awaitable[str]]
) -> Callable[[Call], Awaitable[None]]:
    """Return the guard of a daemon. `agent_of` names the agent behind a caller, as far as the daemon knows of agents.

    A call of a subsystem is let through: the subsystem has judged who is behind it.
    """

    async def guard(call: Call) -> None:
        what = decision_in(call.operation, call.params, config.settings)
        if not what or call.caller.transport == "internal":
            return
        objection = _objection_to_surface(call.caller)
        if objection is None and (agent := await agent_of(call.caller)):
            objection = from_agent(agent)
        if objection is None and call.caller.pid is not None:
            objection = await asyncio.to_thread(
                objection_to, call.caller.pid, config.current.get(SETTING), witness=os.getpid()
            )
        if objection is not None and not _is_for_programs(call.operation, objection, config.current):
            raise objection.refusal(what)

    return guard


def check_here(operation: Operation, params: Mapping[str, Any], config: Config) -> None:
    """Raise AgentError if this process is to perform a person's decision itself, and no person is behind it."""
    if what := decision_in(operation, params, config.settings):
        objection = objection_to(os.getpid(), config.get(SETTING))
        if objection is not None and not _is_for_programs(operation, objection, config):
            raise objection.refusal(what)


def _is_for_programs(operation: Operation, objection: Objection, config: Config) -> bool:
    """Return whether the user has said that programs may do this; what comes from an agent is not any program."""
    return objection.error == PERSON_NEEDED and operation.name in config.get(FROM_PROGRAMS)


def _objection_to_surface(caller: Caller) -> Objection | None:
    if caller.scope is not None:
        return from_agent(f"a hook ({caller.scope.name})")
    if caller.surface == "mcp":
        return from_agent("an MCP client")
    if caller.transport != UNIX or caller.pid is None:
        return unknown(
            "it is not known which process asks: over TCP, a program shows a token and no person",
            f"{AT_A_TERMINAL} A program of yours uses the Unix socket, from a terminal.",
        )
    return None
