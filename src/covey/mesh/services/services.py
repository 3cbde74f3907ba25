"""The services of a peer, opened together: one replica, one reader, and each service on top of them."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.mesh.services.documents import Documents
from covey.mesh.services.files.files import Files
from covey.mesh.services.graph.graph import Graph
from covey.mesh.services.leases.leases import LeaseService
from covey.mesh.services.mcp.mcp import Mcp
from covey.mesh.services.memory.memory import Memory
from covey.mesh.services.own_folder import check_outside
from covey.mesh.services.reminders.reminders import Reminders
from covey.mesh.services.replica import Replica
from covey.mesh.services.skill.skill import Skills
from covey.mesh.services.state.state import State
from covey.mesh.services.tasks.tasks import TaskService
from covey.mesh.services.transfer import export_documents, import_documents
from covey.mesh.services.vector.vector import Vector
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.tasks import Tasks
    from covey.mesh.link.session import Session
    from covey.mesh.services.replica import Change, Usage
    from covey.mesh.services.service import Service, Surroundings

SERVICES: tuple[type[Service], ...] = (
    State,
    Skills,
    TaskService,
    LeaseService,
    Files,
    Memory,
    Vector,
    Reminders,
    Mcp,
    Graph,
)
"""Every service that a peer has."""
REPLICA_FILE = "services.db"
COUNT_EVERY_S = 5.0
READY_S = 2.0
"""How long a call waits for a peer that reads for the first time what is shared."""


class Services:
    """Open with `async with Services.running(…)`. `serve` has to run as long as there is a connection."""

    def __init__(
        self, replica: Replica, surroundings: Surroundings, fetch: Callable[[Session, str], Awaitable[object]]
    ) -> None:
        self.replica = replica
        self._surroundings = surroundings
        self.usage: dict[str, Usage] = {}
        """By service, as it was counted last."""
        self.documents = Documents(
            replica,
            link=surroundings.link,
            keys=surroundings.keys,
            directory=surroundings.directory,
            clock=surroundings.context.clock,
            fetch=fetch,
            allows=self._allows,
            is_valid=self._is_valid,
            on_change=self._changed,
        )
        self._serving: list[asyncio.Task[None]] = []
        self._is_closed = False
        self._services = {service.name: service(self.documents, surroundings) for service in SERVICES}

    @classmethod
    @contextlib.asynccontextmanager
    async def running(
        cls, surroundings: Surroundings, tasks: Tasks, fetch: Callable[[Session, str], Awaitable[object]]
    ) -> AsyncIterator[Services]:
        """Open the replica and run the services. Raises AgentError if the replica cannot be opened."""
        replica = await Replica.open(
            Path(surroundings.context.seat.directory) / REPLICA_FILE,
            [migration for service in SERVICES for migration in service.migrations],
            {service.name: service.project for service in SERVICES},
        )
        try:
            services = cls(replica, surroundings, fetch)
            tasks.keep("counting of documents", services._count)
            for service in services._services.values():
                tasks.keep(f"mesh service {service.name}", service.run)
            try:
                yield services
            finally:
                await services._end_serving()
        finally:
            await replica.aclose()

    def handlers(self) -> dict[str, Handler]:
        """Return the handlers of all services by the name of their operation."""
        return {
            "mesh.services.list": self.overview,
            "mesh.services.export": self.export,
            "mesh.services.import": self.import_,
            **{
                name: self._when_ready(handler)
                for service in self._services.values()
                for name, handler in service.handlers().items()
            },
        }

    def _when_ready(self, handler: Handler) -> Handler:
        """Return a handler that is performed when the replica and the broker's time are known, as far as they can be.

        A peer that has just joined or started would else not find what there is, and let claims expire by its own
        clock.
        """

        async def perform(call: Call) -> object:
            await self.documents.wait_until_caught_up(READY_S)
            return await handler(call)

        return perform

    async def serve(self, session: Session, incarnation: str) -> None:
        """Keep the replica up to date, and let the services do what needs the connection, until it breaks."""
        if self._is_closed:
            return
        async with asyncio.TaskGroup() as group:
            self._serving = [group.create_task(self.documents.run(session, incarnation))]
            await self.documents.caught_up.wait()
            self._serving += [group.create_task(service.serve(session)) for service in self._services.values()]

    async def _end_serving(self) -> None:
        """End what needs the connection before the replica is closed, from which it reads."""
        self._is_closed = True
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)

    async def overview(self, _: Call) -> dict[str, Any]:
        """Return what the services keep, counted now."""
        self.usage = await self.replica.usage()
        items = [{"name": name, **self.usage[name]._asdict()} for name in self._services if name in self.usage]
        connection = self._surroundings.connection()
        return {"items": items, **self.status(), "digest": await self.replica.digest(), "connection": connection}

    def status(self) -> dict[str, Any]:
        """Return the services' part of the status, as it was counted last."""
        return {
            "documents": sum(usage.documents for usage in self.usage.values()),
            "bytes": sum(usage.bytes for usage in self.usage.values()),
            "caught_up": self.documents.caught_up.is_set(),
            "refused": self.documents.refused,
        }

    async def _count(self) -> None:
        """Count what there is, after changes, but not often."""
        while True:
            self.replica.changed.clear()
            self.usage = await self.replica.usage()
            await asyncio.sleep(COUNT_EVERY_S)
            await self.replica.changed.wait()

    async def export(self, call: Call) -> dict[str, Any]:
        """Write documents to a file."""
        path, home = Path(call.params["path"]), self._surroundings.context.seat.home
        await asyncio.to_thread(check_outside, str(path), home, "Write it to another folder.", "path")
        return {"path": str(path), "documents": await export_documents(self.documents, path, self._chosen(call))}

    async def import_(self, call: Call) -> dict[str, int]:
        """Write the documents of a file into the mesh."""
        path, replace = Path(call.params["path"]), call.params["replace"]
        chosen = {name: self._services[name] for name in self._chosen(call)}
        return await import_documents(self.documents, path, chosen, replace=replace)

    def _chosen(self, call: Call) -> set[str]:
        """Return the services that a call names, or all. Raises AgentError for one that there is not."""
        known = {name for name, service in self._services.items() if service.exported}
        wrong = set(call.params["service"]) - known
        if wrong:
            raise user_error(
                f"{min(wrong)[:60]!r} is not a service that can be exported",
                f"They are {', '.join(sorted(known))}.",
                field="service",
            )
        return set(call.params["service"]) or known

    def _allows(self, service: str, key: str, author: str) -> bool:
        known = self._services.get(service)
        return known is None or known.allows(key, author)

    def _is_valid(self, service: str, key: str, value: dict[str, Any]) -> bool:
        known = self._services.get(service)
        return known is None or known.is_valid(key, value)

    async def _changed(self, change: Change) -> None:
        known = self._services.get(change.document.service)
        if known is not None:
            await known.changed(change)
