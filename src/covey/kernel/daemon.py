"""The node daemon: one process per home that owns the lock, the database, the events and the API."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from covey import __version__
from covey.contract.kernel import OPERATIONS
from covey.kernel import idempotency, logs, notify
from covey.kernel.api import HttpApi
from covey.kernel.audit import Audit
from covey.kernel.clock import SystemClock
from covey.kernel.config import ConfigHolder
from covey.kernel.config_watch import ConfigWatch
from covey.kernel.dispatcher import Dispatcher
from covey.kernel.events import Events
from covey.kernel.home import Home
from covey.kernel.home_files import CHECK_EVERY_S, HomeFiles
from covey.kernel.listeners import Listeners, make_token
from covey.kernel.lock import PidLock, holder
from covey.kernel.metrics import Metrics
from covey.kernel.operations import handlers
from covey.kernel.server import HttpServer
from covey.kernel.settings import SETTINGS
from covey.kernel.store import Store
from covey.kernel.store_errors import StoreError
from covey.kernel.supervisor import Supervisor
from covey.kernel.tasks import Tasks
from covey.kernel.telemetry import traced
from murli import EXIT_CONFLICT, AgentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from covey.contract import Operation
    from covey.kernel.call import Handler

PRUNE_EVERY_S = 3600.0
DAY_S, MEGABYTE = 86400.0, 1024 * 1024

log = logging.getLogger("covey.daemon")


class Subsystem(NamedTuple):
    """A part of the node that stands on the kernel: what it offers and stores, and its life, which begins before the first request and gives its handlers."""

    operations: Sequence[Operation]
    migrations: Sequence[str]
    open: Callable[[Daemon], AbstractAsyncContextManager[Mapping[str, Handler]]]


class Daemon:
    """A running daemon and its parts. `async with Daemon.running(home)` is the whole life of it."""

    def __init__(
        self,
        home: Home,
        config: ConfigHolder,
        store: Store,
        events: Events,
        metrics: Metrics,
        supervisor: Supervisor,
        dispatcher: Dispatcher,
    ) -> None:
        self.home = home
        self.config = config
        self.store = store
        self.events = events
        self.metrics = metrics
        self.supervisor = supervisor
        self.dispatcher = dispatcher
        """Subsystems call each other's operations through it."""
        self.clock = SystemClock()
        self.started_at = self.clock.monotonic()
        self.port: int | None = None
        self.files: HomeFiles | None = None
        """What is kept in place while the daemon runs; none before it listens."""
        self.parts: dict[str, Callable[[], dict[str, Any]]] = {}
        """What subsystems add to `covey status`, by name."""
        self.config_watch = ConfigWatch(home.config_file, self.reload, self.clock)
        self._stop = asyncio.Event()

    @classmethod
    @contextlib.asynccontextmanager
    async def running(
        cls,
        home: Home,
        *,
        config: ConfigHolder | None = None,
        operations: Sequence[Operation] = OPERATIONS,
        more: Callable[[Daemon], Mapping[str, Handler]] = lambda _: {},
        subsystems: Sequence[Subsystem] = (),
        lock: PidLock | None = None,
    ) -> AsyncIterator[Daemon]:
        """Everything up, in order; everything down, in reverse. `more` adds further handlers; `lock` is the one by which the caller holds the home."""
        config = config or ConfigHolder(home, SETTINGS)
        get = config.current.get
        clock = SystemClock()
        migrations = [
            *Events.MIGRATIONS,
            *idempotency.MIGRATIONS,
            *(script for subsystem in subsystems for script in subsystem.migrations),
        ]
        async with contextlib.AsyncExitStack() as stack:
            store = await stack.enter_async_context(
                await Store.open(Path(home.database), migrations, fsync=get("store.fsync"))
            )
            events = await Events.open(
                store,
                clock=clock.time,
                max_age_s=get("events.max_days") * DAY_S,
                max_bytes=get("events.max_mb") * MEGABYTE,
            )
            supervisor = Supervisor(Path(home.node_dir) / "children", clock)
            stack.push_async_callback(supervisor.aclose)
            metrics = Metrics()
            dispatcher = Dispatcher(
                [*operations, *(operation for subsystem in subsystems for operation in subsystem.operations)],
                metrics=metrics,
                idempotent=idempotency.IdempotentCalls(store, clock),
                audit=Audit(events),
                deadline_s=float(get("http.deadline_s")),
            )
            daemon = cls(home, config, store, events, metrics, supervisor, dispatcher)
            parts = [await stack.enter_async_context(subsystem.open(daemon)) for subsystem in subsystems]
            served = stack.enter_context(
                traced(
                    {
                        **handlers(daemon),
                        **more(daemon),
                        **{name: handler for part in parts for name, handler in part.items()},
                    },
                    get("telemetry.otlp_endpoint"),
                )
            )
            token = make_token(home.token_file)
            logs.redactor.register(token)
            dispatcher.install(served)
            api = HttpApi(dispatcher, token=token, body_limit=int(get("http.body_limit_kb")) * 1024)
            listeners = Listeners(home.socket, home.port_file, tcp=bool(get("http.tcp")), port=int(get("http.port")))
            daemon.port = listeners.port
            server = HttpServer(api, listeners)
            await server.start()
            daemon.files = HomeFiles(home, lock, server)
            stack.push_async_callback(server.aclose)
            stack.push_async_callback(events.aclose)
            if store.recovered_from is not None:
                log.error(
                    "the database was damaged and has been moved aside", extra={"moved_to": str(store.recovered_from)}
                )
            await events.append("node.started", data={"version": __version__, "pid": os.getpid()})
            yield daemon

    def stop(self) -> None:
        """End the daemon soon."""
        self._stop.set()

    async def reload(self) -> dict[str, Any]:
        """Read the configuration again; a broken one is reported and changes nothing."""
        outcome = self.config.reload()
        if outcome.changed:
            logs.configure(self.home, self.config.current)
            await self.events.append("node.reloaded", data={"changed": list(outcome.changed)})
        return {
            "generation": self.config.generation,
            "changed": list(outcome.changed),
            "needs_restart": list(outcome.needs_restart),
        }

    async def until_stopped(self) -> None:
        """Live: answer, prune, tell the service manager that we are well."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.create_task(self._reload_on_signal()))
        async with Tasks(self.clock, self.metrics) as tasks:
            tasks.keep("pruning of events", self._prune)
            tasks.keep("files of the home", self._keep_files)
            tasks.keep("configuration file", self.config_watch.run)
            tasks.keep("watchdog", lambda: notify.watchdog(self.clock))
            await self._stop.wait()
        notify.notify("STOPPING=1")
        await self.events.append("node.stopping")

    async def _reload_on_signal(self) -> None:
        try:
            await self.reload()
        except AgentError as error:
            log.error(  # noqa: TRY400
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


def main(
    home: Home, tell: Callable[[dict[str, Any]], None] = lambda _: None, subsystems: Sequence[Subsystem] = ()
) -> int:
    """Be the daemon until told to stop. `tell` hears once: ready, already running, or why not."""
    lock = PidLock(home.pid_file)
    try:
        acquired = lock.acquire()
    except AgentError as error:
        tell({"error": error.envelope()})
        raise
    if not acquired:
        tell({"already_running": True, "pid": holder(home.pid_file) or 0})
        return EXIT_CONFLICT
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_live(home, lock, tell, subsystems))
    except AgentError as error:
        tell({"error": error.envelope()})
        log.error("the daemon could not start", extra={"reason": error.message})  # noqa: TRY400
        raise
    finally:
        lock.release()
        logs.close()
    return 0


async def _live(
    home: Home, lock: PidLock, tell: Callable[[dict[str, Any]], None], subsystems: Sequence[Subsystem]
) -> None:
    config = ConfigHolder(home, SETTINGS)
    loop, asked_to_stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(
            number, asked_to_stop.set
        )  # from the first moment on: somebody may want us to go before we are all there
    written = logs.configure(home, config.current)  # before anything that may have something to say
    async with Daemon.running(home, config=config, subsystems=subsystems, lock=lock) as daemon:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, daemon.stop)
        if asked_to_stop.is_set():
            daemon.stop()
        log.info("ready", extra={"version": __version__, "pid": os.getpid(), "tcp_port": daemon.port})
        written.flush()
        tell({"pid": os.getpid(), "version": __version__})
        notify.notify("READY=1")
        await daemon.until_stopped()
        log.info("stopping")


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # where it is to be had
    except ImportError:
        return None
    return uvloop.new_event_loop


def detached(arguments: Sequence[str], subsystems: Sequence[Subsystem] = ()) -> int:
    """Entry point of `covey up`: the home, and a pipe for the one thing we have to say."""
    home, pipe = Home(arguments[0]), int(arguments[1])

    def tell(news: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            os.write(pipe, json.dumps(news).encode() + b"\n")
            os.close(pipe)

    try:
        return main(home, tell, subsystems)
    except AgentError:
        return 2
