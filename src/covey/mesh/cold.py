"""An operation of a peer that does not run: the peer is started within this process, for this one call.

The result and the receipts are the same as with a running peer. While it works it holds the lock of the peer, and
serves its socket: another command that comes meanwhile asks this one. It logs to the peer's log file, as the peer does,
and not to the caller's terminal.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from covey.contract import mesh_services
from covey.contract.mesh_shapes import KIND
from covey.kernel.config.config import ConfigHolder
from covey.kernel.daemon import Daemon
from covey.kernel.lock import PidLock
from covey.kernel.logs import logs
from covey.kernel.operations.call import Caller
from covey.kernel.subsystem import settings_of
from covey.mesh.membership_file import Membership
from covey.mesh.peer.subsystem import peer_subsystem
from murli import tool_error

if TYPE_CHECKING:
    from covey.contract import Operation
    from covey.kernel.home import Home
    from covey.mesh.peer.peer import Peer

CONNECT_S = 6.0
FLUSH_S = 10.0
CAUGHT_UP_S = 10.0
READING = frozenset({"mesh.inbox", "mesh.search", "mesh.topic.list"})
"""Operations that show the inbox: what waits at the broker is fetched first."""
SHARING = frozenset(operation.name for operation in mesh_services.OPERATIONS)
"""Operations on what the members share: the replica is brought up to date first."""


def perform(home: Home, slug: str, operation: Operation, params: dict[str, Any], *, key: str = "") -> Any:
    """Return the result of an operation. Raises AgentError, also if a peer has been started meanwhile."""
    seat = home.seat(KIND, slug)
    Membership.load(seat)
    lock = PidLock(seat.pid_file)
    if not lock.acquire():
        raise tool_error(
            f"the peer of {slug} starts or stops just now", "Try again in a moment.", error="daemon_not_running"
        )
    try:
        return asyncio.run(_perform(home, slug, operation, params, key, lock))
    finally:
        lock.release()
        logs.close()


async def _perform(home: Home, slug: str, operation: Operation, params: dict[str, Any], key: str, lock: PidLock) -> Any:
    peers: list[Peer] = []
    seat = home.seat(KIND, slug)
    subsystems = [peer_subsystem(peers.append)]
    config = ConfigHolder(seat, settings_of(subsystems))
    logs.configure(seat, config.current)  # before anything is logged
    async with Daemon.running(seat, subsystems, config=config, lock=lock) as daemon:
        peer = peers[0]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_S):
                await peer.link.tried.wait()
        if peer.link.session is not None and operation.name in READING:
            await peer.caught_up(CAUGHT_UP_S)
        if peer.link.session is not None and operation.name in SHARING:
            await peer.services.documents.wait_until_caught_up(CAUGHT_UP_S)
        caller = Caller("internal", subsystem="cold", surface="cli")
        result = await daemon.dispatcher.call(operation.name, params, caller, idempotency_key=key or None)
        if peer.link.session is not None:
            await peer.flush(FLUSH_S)
        return result
