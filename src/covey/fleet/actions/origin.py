"""Who is behind a call: a person, or an agent. What an agent sends says so, and an agent takes no person's decision."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from covey.fleet.actions.refusal import AGENTS_CANNOT_APPROVE, Refusal
from covey.kernel.processes.process import parent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from covey.fleet.fleet import Fleet
    from covey.fleet.watch.runtimes import Runtime
    from covey.kernel.operations.call import Call, Caller

MOST_ANCESTORS = 64
GUARDED_SETTINGS = ("mcp.", "policy.")
"""Settings by which a person allows agents to do something."""
STAMP = "[from {who}, through covey; not from a person]"
UNKNOWN = "a program"
_UNSAFE = re.compile(r"[^\w@%:./+-]")
_LIKE_A_STAMP = re.compile(r"^(?=\s*\[\s*from\b)", re.IGNORECASE | re.MULTILINE)


def origin_of(fleet: Fleet, caller: Caller) -> Runtime | None:
    """Return the agent in whose process tree the caller runs; None if there is none, or it cannot be found out.

    It is found for callers on the Unix socket, on Linux, and for agents that the fleet sees on this machine.
    """
    if caller.pid is None:
        return None
    local = fleet.watches.local_name
    return next(filter(None, (fleet.runtimes.of_process(local, pid) for pid in ancestry(caller.pid))), None)


def ancestry(pid: int) -> Iterator[int]:
    """Yield a process, its parent and so on up to the first process of the machine, which is left out."""
    for _ in range(MOST_ANCESTORS):
        if pid <= 1:
            return
        yield pid
        pid = parent_of(pid)


def stamp_of(fleet: Fleet, caller: Caller) -> str:
    """Return the line that a message of this caller has to begin with; empty if nothing says that it is no person."""
    runtime = origin_of(fleet, caller)
    if runtime is not None:
        ref = next((row.ref for row in fleet.rows() if row.runtime_id == runtime.runtime_id), runtime.pane_id)
        return STAMP.format(who=f"{runtime.agent} in {_UNSAFE.sub('_', ref)[:100]}")
    return STAMP.format(who=UNKNOWN) if caller.surface == "mcp" else ""


def stamped(text: str, stamp: str) -> str:
    """Return a text below its stamp. Lines of the text that look like a stamp are marked as a quotation."""
    return f"{stamp}\n{_LIKE_A_STAMP.sub('> ', text)}"


def refuse_agents(fleet: Fleet, caller: Caller, what: str) -> None:
    """Raise Refusal if the caller runs in the process tree of an agent. `what` is what only a person may do."""
    runtime = origin_of(fleet, caller)
    if runtime is not None:
        raise Refusal(
            AGENTS_CANNOT_APPROVE,
            f"{what} is for a person to decide, and this call comes from {runtime.agent} in {runtime.pane_id}",
            "Ask the person to do it, in a terminal of their own.",
        )


def guard_of(fleet: Fleet) -> Callable[[Call], None]:
    """Return a guard that refuses a person's decisions to agents: operations of consent, and settings that allow."""

    def guard(call: Call) -> None:
        if call.operation.consent:
            refuse_agents(fleet, call.caller, call.operation.name)
        elif call.operation.name in {"config.set", "config.unset"} and call.params["key"].startswith(GUARDED_SETTINGS):
            refuse_agents(fleet, call.caller, f"the setting {call.params['key']}")

    return guard
