"""What the node does for a mesh: creating, joining and leaving, and keeping the peers and the broker running."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.mesh_shapes import KIND
from covey.kernel.seat_choice import chosen_seat, joined_names
from covey.mesh.broker_process import has_broker
from murli import conflict, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.home import Home
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.tasks import Tasks
    from covey.mesh.broker_process import BrokerProcess
    from covey.mesh.peer_processes import PeerProcesses

ASIDE = ".left"
"""The folder beside those of the meshes that has what is left of a mesh after leaving it."""


class NodeOperations:
    """The handlers of the node. Those that change which meshes there are, are performed one after the other."""

    def __init__(self, home: Home, peers: PeerProcesses, broker: BrokerProcess, tasks: Tasks) -> None:
        self._home = home
        self._peers = peers
        self._broker = broker
        self._tasks = tasks
        self._turn = asyncio.Lock()

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by the name of their operation."""
        return {
            "mesh.create": self.create,
            "mesh.join": self.join,
            "mesh.leave": self.leave,
            "mesh.reset": self.reset,
            "mesh.up": self.up,
            "mesh.down": self.down,
            "mesh.list": self.list_all,
            "mesh.expose": self.expose,
        }

    async def create(self, call: Call) -> dict[str, Any]:
        """Create a mesh; its broker is started before, its peer after it."""
        params = call.params
        call.note(about=params["slug"])
        return await self._tasks.shield("creation of a mesh", self._create(params))

    async def _create(self, params: dict[str, Any]) -> dict[str, Any]:
        from covey.mesh import membership  # noqa: PLC0415 - it loads NATS, which most nodes do not need
        from covey.mesh.names import check_slug  # noqa: PLC0415 - as above

        async with self._turn:
            slug = check_slug(params["slug"])
            self._check_new(slug)
            if not params["nats"]:
                await self._broker.keep()
            await membership.create(
                self._home,
                slug,
                params["name"] or "",
                nats=params["nats"],
                operator=params["operator"] or "",
                replicas=params["replicas"],
            )
            return await self._started(slug)

    async def join(self, call: Call) -> dict[str, Any]:
        """Join a mesh, and start its peer."""
        return await self._tasks.shield("joining a mesh", self._join(call))

    async def _join(self, call: Call) -> dict[str, Any]:
        from covey.mesh import membership  # noqa: PLC0415 - as above

        params = call.params
        async with self._turn:
            before = joined_names(self._home, KIND)
            made = await membership.join(self._home, params["token"], params["name"] or "", params["slug"] or "")
            call.note(about=made.slug)
            if made.slug in before:  # its broker is elsewhere now
                await self._peers.restart(made.slug)
            return await self._started(made.slug)

    async def leave(self, call: Call) -> dict[str, Any]:
        """Tell the others, end the peer, and put its folder aside."""
        slug = self._named(call)
        return await self._tasks.shield("leaving a mesh", self._leave(slug))

    async def _leave(self, slug: str) -> dict[str, Any]:
        from covey.mesh import membership  # noqa: PLC0415 - as above

        async with self._turn:
            told = await membership.leave(self._home, slug)
            await self._peers.end(slug)
            path = await asyncio.to_thread(self._put_aside, slug)
            return {"slug": slug, "told": bool(told), "path": path}

    async def reset(self, call: Call) -> dict[str, Any]:
        """End the peer, and remove its folder."""
        slug = self._named(call)
        return await self._tasks.shield("removing a mesh", self._reset(slug))

    async def _reset(self, slug: str) -> dict[str, Any]:
        async with self._turn:
            await self._peers.end(slug)
            path = await asyncio.to_thread(self._put_aside, slug)
            await asyncio.to_thread(shutil.rmtree, path)
            return {"slug": slug, "removed": True}

    async def up(self, call: Call) -> dict[str, Any]:
        """Keep one peer or all of them running."""
        slugs = self._chosen(call)
        if has_broker(self._home):
            await self._broker.keep()
        await asyncio.gather(*(self._peers.up(slug) for slug in slugs))
        return await self._rows(slugs)

    async def down(self, call: Call) -> dict[str, Any]:
        """End one peer, or all of them and the broker."""
        slugs = self._chosen(call)
        await asyncio.gather(*(self._peers.down(slug) for slug in slugs))
        if call.params["all"]:
            await self._broker.down()
        return await self._rows(slugs)

    async def list_all(self, _: Call) -> dict[str, Any]:
        """Return all meshes."""
        return await self._rows(None)

    async def expose(self, call: Call) -> dict[str, Any]:
        """Open the broker to other machines, close it, or show how it is."""
        params = call.params
        if params["off"] and params["listen"]:
            raise user_error("--off and --listen exclude each other", "Give one of them.", field="off")
        if not params["listen"] and (params["websocket"] or params["names"]):
            raise user_error("it is not said where to listen", "Add --listen 0.0.0.0:4222.", field="listen")
        if params["listen"] or params["off"]:
            call.note(about=params["listen"] or "off")
            await self._tasks.shield("opening of the broker", self._expose(params))
        found = await self._broker.row()
        if found is None:
            raise self._broker.missing()
        return found

    async def _expose(self, params: dict[str, Any]) -> None:
        from covey.mesh.exposure import Wish  # noqa: PLC0415 - as above

        async with self._turn:
            listen = "" if params["off"] else params["listen"]
            changed = await self._broker.expose(Wish(listen, params["websocket"] or "", params["names"]))
            for slug in changed:
                await self._peers.restart(slug)

    async def _started(self, slug: str) -> dict[str, Any]:
        await self._peers.up(slug)
        (row,) = await self._peers.rows([slug])
        return row

    async def _rows(self, slugs: list[str] | None) -> dict[str, Any]:
        return {"items": await self._peers.rows(slugs), "broker": await self._broker.row()}

    def _named(self, call: Call) -> str:
        slug = chosen_seat(self._home, KIND, call.params["slug"], {}).name
        call.note(about=slug)
        return slug

    def _chosen(self, call: Call) -> list[str]:
        """Return the meshes that a call is about. Raises AgentError."""
        if call.params["all"]:
            call.note(about="all")
            return joined_names(self._home, KIND)
        return [self._named(call)]

    def _check_new(self, slug: str) -> None:
        if slug in joined_names(self._home, KIND):
            raise conflict(f"there is a mesh called {slug} already", "Choose another slug.", field="slug")

    def _put_aside(self, slug: str) -> str:
        """Move the folder of a mesh to where it is not a mesh any more; return the new path."""
        seat = self._home.seat(KIND, slug)
        folder = Path(self._home.path, KIND, ASIDE)
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{slug}-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}"
        Path(seat.directory).rename(path)
        return str(path)
