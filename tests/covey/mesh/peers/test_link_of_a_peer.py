"""The link of a peer to its broker, ended while something is served over it."""

from __future__ import annotations

import asyncio

from covey.kernel.clock import SystemClock
from covey.mesh.link.link import Link
from covey.mesh.link.session import Session
from tests.covey.mesh.peers.mesh_of_peers import LIMIT_S, a_mesh


async def test_link_ends_also_if_a_cancellation_of_what_is_served_is_swallowed() -> None:
    served = asyncio.Event()

    async def serve(session: Session) -> None:
        try:
            served.set()
            await session.broken.wait()
        except asyncio.CancelledError:  # as the library does in the midst of a request
            await session.broken.wait()

    async def ignore(_: str) -> None:
        return

    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        await anna.stop()
        link = Link(
            lambda: anna.membership.address, lambda: anna.membership.credentials(anna.keys), clock=SystemClock()
        )
        running = asyncio.create_task(link.run(serve, ignore))
        await served.wait()
        running.cancel()
        done, _ = await asyncio.wait({running}, timeout=LIMIT_S)
        assert done == {running}
        assert running.cancelled()
