"""Who has sent a delivery: what it says of its processes, compared with the process at the other end of the socket."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from covey.consent.lineage import ancestors
from covey.hosts.errors import ProcessesError
from covey.hosts.processes import ProcessTable
from covey.kernel.operations.call import UNIX
from covey.kernel.processes.process import ancestry

if TYPE_CHECKING:
    from covey.fleet.ingest.delivery import HookDelivery
    from covey.kernel.operations.call import Caller


async def checked(delivery: HookDelivery, caller: Caller) -> HookDelivery:
    """Return a delivery with those of its processes that its sender is or comes from; `verified` if there are any.

    One over TCP, and one whose sender has ended, is returned as it is: what it says of its processes is only a claim.
    """
    if caller.transport != UNIX or caller.pid is None or not delivery.pids:
        return delivery
    line = await _line_of(caller.pid)
    own = [pid for pid in delivery.pids if pid in line]
    return delivery._replace(pids=own, verified=True) if own else delivery


async def _line_of(pid: int) -> frozenset[int]:
    """Return a process and its ancestors; empty where they cannot be read."""
    if sys.platform != "linux":
        try:
            table = await asyncio.to_thread(ProcessTable.read)
        except (ProcessesError, OSError):
            return frozenset()
        return frozenset(ancestors(pid, table))
    return frozenset(ancestry(pid))
