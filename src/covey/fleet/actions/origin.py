"""Which agent of the fleet is behind a call. What an agent sends says so."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from covey.kernel.processes.process import ancestry, environment_of, terminal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.fleet.fleet import Fleet
    from covey.fleet.watch.runtimes import Runtime
    from covey.kernel.operations.call import Caller

STAMP = "[from {who}, through covey; not from a person]"
UNKNOWN = "a program"
_UNSAFE = re.compile(r"[^\w@%:./+-]")
_LIKE_A_STAMP = re.compile(r"^(?=[^\S\n]*\[\s*from\b)", re.IGNORECASE | re.MULTILINE)


def origin_of(fleet: Fleet, caller: Caller) -> Runtime | None:
    """Return the agent that has started the caller; None if there is none, or it cannot be found out.

    It is found for callers on the Unix socket, on Linux, and for agents that the fleet sees on this machine.
    """
    if caller.pid is None:
        return None
    local, line = fleet.watches.local_name, list(ancestry(caller.pid))
    above = next(filter(None, (fleet.runtimes.of_process(local, pid) for pid in line)), None)
    return above or _left_behind_by(fleet, line)


def _left_behind_by(fleet: Fleet, line: Sequence[int]) -> Runtime | None:
    """Return the agent whose pane a process was started in but is no longer below, as after `nohup`; None if none.

    A process that somebody started from a terminal of their own has that terminal.
    """
    environment = environment_of(line[0]) if line else {}
    socket, _, rest = environment.get("TMUX", "").rpartition(",")[0].rpartition(",")
    if not socket or not rest.isdecimal() or int(rest) in line:
        return None
    place = (fleet.watches.local_name, os.path.realpath(socket), environment.get("TMUX_PANE", ""))
    for runtime in fleet.runtimes.all:
        same = (runtime.target, os.path.realpath(runtime.socket), runtime.pane_id) == place
        if same and not runtime.suspended and terminal_of(line[0]) in {0, terminal_of(runtime.pid)}:
            return runtime
    return None


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


async def agent_of(fleet: Fleet, caller: Caller) -> str:
    """Return the agent of the fleet that has started the caller, in words; empty if there is none."""
    runtime = origin_of(fleet, caller)
    return f"{runtime.agent} in {runtime.pane_id}" if runtime is not None else ""
