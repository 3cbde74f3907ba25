"""A daemon: one process that owns the lock, the database, the events and the API of a seat.

What it serves beyond the kernel's own operations comes from its subsystems.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from covey import __version__
from covey.contract.kernel_events import Lifecycle
from covey.kernel.clock import SystemClock
from covey.kernel.config.config import ConfigHolder
from covey.kernel.config.reload import ConfigReload
from covey.kernel.events.events import Events
from covey.kernel.http.api import HttpApi
from covey.kernel.http.listeners import Listeners, make_token
from covey.kernel.http.server import HttpServer
from covey.kernel.logs import logs
from covey.kernel.loop_watch import LoopWatch
from covey.kernel.metrics import Metrics
from covey.kernel.operations import idempotency
from covey.kernel.operations.audit import Audit
from covey.kernel.operations.dispatcher import Dispatcher
from covey.kernel.operations.kernel_operations import handlers
from covey.kernel.operations.offline import OfflineOperations
from covey.kernel.processes import service_notify as notify
from covey.kernel.processes.supervisor import Supervisor
from covey.kernel.seat_files import CHECK_EVERY_S, SeatFiles
from covey.kernel.store.errors import StoreError
from covey.kernel.store.store import Store
from covey.kernel.subsystem import Context, events_of, migrations_of, operations_of, settings_of
from covey.kernel.tasks import Tasks
from covey.kernel.telemetry import tracing
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.http.exchange import Application
    from covey.kernel.lock import PidLock
    from covey.kernel.operations.call import Handler
    from covey.kernel.seat import Seat
    from covey.kernel.subsystem import Opened, Subsystem

PRUNE_EVERY_S = 3600.0
DAY_S, MEGABYTE = 86400.0, 1024 * 1024

log = logging.getLogger("covey.daemon")


class Daemon:
    """A running daemon and its parts. `async with Daemon.running(seat, subsystems)` is its whole life."""

    def __init__(self, context: Context, subsystems: Sequence[Subsystem]) -> None:
        self.seat = context.seat
        self.lifecycle = Lifecycle(context.seat.kind)
        self.config = context.config
        self.store = context.store
        self.events = context.events
        self.metrics = context.metrics
        self.supervisor = context.supervisor
        self.dispatcher = context.dispatcher
        self.reload = context.reload
        self.tracing = context.tracing
        self.clock = context.clock
        self.offline = OfflineOperations(
            context.seat,
            context.config.settings,
            operations_of(subsystems),
            events_of(context.seat.kind, subsystems),
            lambda: subsystems,
        )
        self.started_at = self.clock.monotonic()
        self.loop_watch = LoopWatch(context.metrics)
        self.port: int | None = None
        self.files: SeatFiles | None = None
        """What is kept in place while the daemon runs; none before it listens."""
        self.opened: dict[str, Opened] = {}
        """Its subsystems, by name."""
        self._stop = asyncio.Event()

    @classmethod
    @contextlib.asynccontextmanager
    async def running(
        cls,
        seat: Seat,
        subsystems: Sequence[Subsystem] = (),
        *,
        config: ConfigHolder | None = None,
        clock: Clock | None = None,
        lock: PidLock | None = None,
    ) -> AsyncIterator[Daemon]:
        """Start everything in order, and end it in reverse. `lock` is the one by which the caller holds the seat."""
        _check_kind(seat, subsystems)
        config = config or ConfigHolder(seat, settings_of(subsystems))
        clock = clock or SystemClock()
        async with contextlib.AsyncExitStack() as stack:
            context = await _context(stack, seat, config, clock, subsystems)
            daemon = cls(context, subsystems)
            for subsystem in subsystems:
                daemon.opened[subsystem.name] = await stack.enter_async_context(subsystem.open(context))
            await daemon._serve(stack, lock)
            if context.store.recovered_from is not None:
                moved = str(context.store.recovered_from)
                log.error("the database was damaged and has been moved aside", extra={"moved_to": moved})
            await context.events.append(daemon.lifecycle.started, data={"version": __version__, "pid": os.getpid()})
            yield daemon

    async def _serve(self, stack: contextlib.AsyncExitStack, lock: PidLock | None) -> None:
        """Install the handlers and listen. The server is ended before the subsystems are left."""
        get = self.config.current.get
        found: dict[str, Handler] = dict(handlers(self))
        mounts: dict[str, Application] = {}
        for opened in self.opened.values():
            found |= opened.handlers
            mounts |= opened.mounts
        token = make_token(self.seat.token_file)
        logs.redactor.register(token)
        guards = [opened.guard for opened in self.opened.values() if opened.guard is not None]
        self.dispatcher.install(self.tracing.handlers(found), guards)
        scopes = [opened.scope for opened in self.opened.values() if opened.scope is not None]
        limit = int(get("http.body_limit_kb")) * 1024
        api = HttpApi(self.dispatcher, token=token, body_limit=limit, seat=self.seat, scopes=scopes)
        listeners = Listeners(
            self.seat.socket, self.seat.port_file, tcp=bool(get("http.tcp")), port=int(get("http.port"))
        )
        self.port = listeners.port
        server = HttpServer(api, listeners, mounts=mounts)
        await server.start()
        self.files = SeatFiles(self.seat, lock, server)
        stack.push_async_callback(server.aclose)
        stack.push_async_callback(self.events.aclose)

    def stop(self) -> None:
        """End the daemon soon."""
        self._stop.set()

    async def until_stopped(self) -> None:
        """Do the chores of a daemon until `stop` is called."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.create_task(self._reload_on_signal()))
        async with Tasks(self.clock, self.metrics) as tasks:
            tasks.keep("pruning of events", self._prune)
            tasks.keep("files of the home", self._keep_files)
            tasks.keep("configuration file", lambda: self.reload.watch(self.clock))
            tasks.keep("watchdog", lambda: notify.watchdog(self.clock))
            await self._stop.wait()
        notify.notify("STOPPING=1")
        await self.events.append(self.lifecycle.stopping)

    async def _reload_on_signal(self) -> None:
        try:
            await self.reload.reload()
        except AgentError as error:
            log.error(  # noqa: TRY400 - the reason says it all
                "the configuration was not reloaded", extra={"reason": error.message, "suggestion": error.suggestion}
            )

    async def _keep_files(self) -> None:
        while self.files is not None and await self.files.check():
            await self.clock.sleep(CHECK_EVERY_S)
        self.stop()

    async def _prune(self) -> None:
        while True:
            try:
                get = self.config.current.get
                self.events.limit(max_age_s=get("events.max_days") * DAY_S, max_bytes=get("events.max_mb") * MEGABYTE)
                await self.events.prune()
            except StoreError as error:
                log.warning("old events could not be pruned", extra={"reason": error.message})
            await self.clock.sleep(PRUNE_EVERY_S)


def _check_kind(seat: Seat, subsystems: Sequence[Subsystem]) -> None:
    """Raise `ValueError` if a subsystem has an operation that another kind of daemon serves."""
    for subsystem in subsystems:
        for operation in subsystem.operations:
            if operation.served_by != seat.kind:
                raise ValueError(f"{operation.name} is served by {operation.served_by}, not by {seat.kind}")


async def _context(
    stack: contextlib.AsyncExitStack,
    seat: Seat,
    config: ConfigHolder,
    clock: Clock,
    subsystems: Sequence[Subsystem],
) -> Context:
    """Open the database and what stands on it."""
    get = config.current.get
    store = await stack.enter_async_context(
        await Store.open(Path(seat.database), migrations_of(subsystems), fsync=get("store.fsync"))
    )
    events = await Events.open(
        store,
        clock=clock.time,
        max_age_s=get("events.max_days") * DAY_S,
        max_bytes=get("events.max_mb") * MEGABYTE,
    )
    supervisor = Supervisor(Path(seat.directory) / "children", clock)
    stack.push_async_callback(supervisor.aclose)
    metrics = Metrics()
    dispatcher = Dispatcher(
        operations_of(subsystems),
        metrics=metrics,
        idempotent=idempotency.IdempotentCalls(store, clock),
        audit=Audit(events),
        deadline_s=float(get("http.deadline_s")),
        logs=seat.command("logs"),
    )
    reload = ConfigReload(seat, config, events)
    spans = stack.enter_context(tracing(get("telemetry.otlp_endpoint")))
    return Context(seat, config, reload, store, events, clock, metrics, supervisor, dispatcher, spans)
