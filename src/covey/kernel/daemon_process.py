"""The process of a daemon: holds the lock of its seat, handles signals, and reports when it is ready."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import resource
import signal
from typing import TYPE_CHECKING, Any

from covey import __version__
from covey.kernel.config.config import ConfigHolder
from covey.kernel.daemon import Daemon
from covey.kernel.lock import PidLock, holder
from covey.kernel.logs import logs
from covey.kernel.processes import service_notify as notify
from covey.kernel.subsystem import settings_of
from murli import EXIT_CONFLICT, AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from covey.kernel.seat import Seat
    from covey.kernel.subsystem import Subsystem

    Report = Callable[[dict[str, Any]], None]

log = logging.getLogger("covey.daemon")


def run(seat: Seat, subsystems: Sequence[Subsystem], report: Report = lambda _: None) -> int:
    """Be the daemon until asked to stop; return the exit code.

    `report` is called once: with pid and version when ready, with `already_running`, or with the error that is
    raised as `AgentError`.
    """
    # A core dump would have keys and tokens in it. What the daemon starts may raise the limit again.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    lock = PidLock(seat.pid_file)
    try:
        acquired = lock.acquire()
    except AgentError as error:
        report({"error": error.envelope()})
        raise
    if not acquired:
        report({"already_running": True, "pid": holder(seat.pid_file) or 0})
        return EXIT_CONFLICT
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_live(seat, subsystems, lock, report))
    except AgentError as error:
        report({"error": error.envelope()})
        log.error("the daemon could not start", extra={"reason": error.message})  # noqa: TRY400 - the reason says it all
        raise
    finally:
        lock.release()
        logs.close()
    return 0


def run_detached(seat: Seat, subsystems: Sequence[Subsystem], pipe: int) -> int:
    """Be the daemon of a process that was started in the background, and report through a pipe."""

    def report(outcome: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            os.write(pipe, json.dumps(outcome).encode() + b"\n")
            os.close(pipe)

    try:
        return run(seat, subsystems, report)
    except AgentError:
        return 2


async def _live(seat: Seat, subsystems: Sequence[Subsystem], lock: PidLock, report: Report) -> None:
    config = ConfigHolder(seat, settings_of(subsystems))
    loop, asked_to_stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_stop.set)  # a signal may come before the daemon is ready
    written = logs.configure(seat, config.current)  # before anything is logged
    async with Daemon.running(seat, subsystems, config=config, lock=lock) as daemon:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, daemon.stop)
        if asked_to_stop.is_set():
            daemon.stop()
        log.info("ready", extra={"version": __version__, "pid": os.getpid(), "tcp_port": daemon.port})
        written.flush()
        report({"pid": os.getpid(), "version": __version__})
        notify.notify("READY=1")
        with daemon.loop_watch.watching(loop):
            await daemon.until_stopped()
        log.info("stopping")


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # an optional dependency
    except ImportError:
        return None
    return uvloop.new_event_loop
