"""What the daemon does for each operation of the kernel."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey import __version__
from covey.kernel.events import journal
from covey.kernel.events.event import Kinds, SlowReader
from covey.kernel.moments import moment
from covey.kernel.operations import audit_list
from covey.kernel.operations.stream import Message, gap, slow
from covey.kernel.quoting import quoted
from murli import conflict, not_found, user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from covey.kernel.daemon import Daemon
    from covey.kernel.events.events import Events
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.operations.stream import Batch
    from covey.kernel.store.store import Store

HEARTBEAT_S = 15.0
BATCH = 500


def handlers(daemon: Daemon) -> Mapping[str, Handler]:
    """The kernel's operations by name."""
    kernel = KernelOperations(daemon)
    return {
        "down": kernel.down,
        "status": kernel.status,
        "health": kernel.health,
        "reload": kernel.reload,
        "config.list": kernel.aside,
        "config.get": kernel.aside,
        "config.set": kernel.change_config,
        "config.unset": kernel.change_config,
        "events": kernel.events,
        "audit.list": kernel.audit,
        "metrics": kernel.metrics,
        "openapi": kernel.aside,
        "doctor": kernel.aside,
        "backup": kernel.backup,
    }


class KernelOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        daemon.metrics.gauge("covey_uptime_seconds", "Seconds since the daemon started.", self._uptime)
        daemon.metrics.gauge(
            "process_resident_memory_bytes",
            "Memory of the daemon.",
            lambda: _rss(resource.getrusage(resource.RUSAGE_SELF)),
        )
        daemon.metrics.total("process_cpu_seconds_total", "Processor time that the daemon has used.", _cpu_seconds)
        daemon.metrics.gauge("covey_events_cursor", "Cursor of the newest event.", lambda: daemon.events.cursor)
        daemon.metrics.gauge("covey_event_subscribers", "Open event streams.", lambda: daemon.events.subscribers)

    async def down(self, _: Call) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.05, self._daemon.stop)  # after the answer is out
        return {"pid": os.getpid(), "stopping": True, "how": "asked"}

    async def status(self, _: Call) -> dict[str, Any]:
        daemon, used = self._daemon, resource.getrusage(resource.RUSAGE_SELF)
        return {
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": round(self._uptime(), 3),
            "rss_bytes": _rss(used),
            "cpu_seconds": _cpu_seconds(),
            "home": daemon.seat.home,
            "tcp_port": daemon.port,
            "events": {"cursor": daemon.events.cursor, "subscribers": daemon.events.subscribers},
            "config": {
                "generation": daemon.config.generation,
                "problems": list(daemon.config.problems),
                "needs_restart": list(daemon.config.needs_restart),
            },
            "problems": daemon.files.problems if daemon.files else [],
            "loop": daemon.loop_watch.recent._asdict(),
            "children": [child.as_dict() for child in daemon.supervisor.children],
            **{name: opened.status() for name, opened in daemon.opened.items() if opened.status is not None},
        }

    async def health(self, _: Call) -> dict[str, Any]:
        added = [opened.health() for opened in self._daemon.opened.values() if opened.health is not None]
        health: dict[str, Any] = {"ok": True, "version": __version__, "uptime_s": round(self._uptime(), 3)}
        return health | {name: value for fields in added for name, value in fields.items()}

    async def reload(self, _: Call) -> dict[str, Any]:
        return await self._daemon.reload.reload()

    async def aside(self, call: Call) -> object:
        """Perform an operation that needs files and processes but not the daemon, in a thread: it may block."""
        return await asyncio.to_thread(self._daemon.offline.handlers()[call.operation.name], call.params)

    async def change_config(self, call: Call) -> object:
        changed = await self.aside(call)
        await self._daemon.reload.reload()
        return changed

    async def audit(self, call: Call) -> dict[str, Any]:
        since, acting = call.params["since"], self._daemon.dispatcher.acting
        start = moment(since, "since", self._daemon.clock.time()) if since else None
        found = await self._daemon.events.read(
            lambda reader: audit_list.page(
                reader.backwards(audit_list.KINDS, 0 if start is None else reader.upto(start)),
                acting,
                operations=call.params["operation"],
                before=call.params["before"],
                limit=call.params["limit"],
            )
        )
        return {"items": found.entries, "earlier": found.earlier}

    async def metrics(self, _: Call) -> str:
        return self._daemon.metrics.text()

    async def backup(self, call: Call) -> dict[str, Any]:
        target = await asyncio.to_thread(_new_file, call.params["path"])
        await self._daemon.store.backup(target)
        return {"path": str(target), "bytes": await asyncio.to_thread(os.path.getsize, target)}

    async def events(self, call: Call) -> AsyncIterator[Batch]:
        kinds = Kinds(call.params["kind"])  # a kind that cannot be is refused before the stream begins
        follow, last = call.params["follow"], call.resume_after
        reset: Batch = ()
        if last is None:
            since = await self._since(call.params["since"])
        elif follow and await _is_future(self._daemon.events, self._daemon.store, last):
            # An EventSource that is refused never comes back and cannot forget its cursor: it gets everything.
            since, reset = 0, (Message("covey.reset", {"since": last}),)
        else:
            await check_cursor(self._daemon.events, self._daemon.store, last)
            since = last
        if last is None and (count := call.params["limit"]) is not None:
            since = await self._daemon.events.read(lambda reader: reader.before_last(kinds, since, count))
        return self._follow(since, call.params["kind"], reset) if follow else self._recorded(since, call.params["kind"])

    async def _since(self, text: str) -> int:
        """The cursor that is meant: the cursor itself, or the newest of a time."""
        if not text or (text.isascii() and text.isdigit()):
            await check_cursor(self._daemon.events, self._daemon.store, int(text or 0))
            return int(text or 0)
        when = moment(text, "since", self._daemon.clock.time())
        return await self._daemon.events.read(lambda reader: reader.upto(when))

    async def _recorded(self, since: int, kinds: list[str]) -> AsyncIterator[Batch]:
        """What the journal holds, and the end."""
        while batch := await self._daemon.events.history(since=since, kinds=kinds, limit=BATCH):
            yield batch
            since = batch[-1].cursor

    async def _follow(self, since: int, kinds: list[str], reset: Batch) -> AsyncIterator[Batch]:
        """The journal after `since`, then everything that happens, with a heartbeat when nothing does."""
        yield ()
        if reset:
            yield reset
        async with self._daemon.events.subscribe(since=since, kinds=kinds) as subscription:
            if subscription.gap is not None:
                yield (gap(*subscription.gap),)
            while True:
                try:
                    batch = await subscription.take(HEARTBEAT_S)
                except SlowReader as error:
                    yield (slow(error),)
                    return
                if subscription.closed:
                    return
                yield batch

    def _uptime(self) -> float:
        return self._daemon.clock.monotonic() - self._daemon.started_at


async def check_cursor(events: Events, store: Store, cursor: int) -> None:
    """Refuse a cursor that is yet to come: whoever has it has it from another journal."""
    if await _is_future(events, store, cursor):
        raise user_error(
            f"cursor {cursor} is in the future: the newest event is {events.cursor}",
            "Resume from a cursor that you have seen.",
            field="since",
        )


async def _is_future(events: Events, store: Store, cursor: int) -> bool:
    return cursor > events.cursor and cursor > await store.read(journal.newest)


def _new_file(text: str) -> Path:
    """A path that nothing stands at yet."""
    if not text:
        raise user_error("the path is empty", "Name the file to write, e.g. covey backup node.db.bak", field="path")
    target = Path(text).expanduser()
    if not target.is_absolute():
        raise user_error(
            "the path must be absolute", "Give the whole path: the daemon does not know your folder.", field="path"
        )
    try:
        if not target.parent.is_dir():
            raise not_found(
                f"{target.parent} is not a folder, or does not exist",
                f"Make it: mkdir -p {quoted(str(target.parent))}",
                field="path",
            )
        target.lstat()
    except FileNotFoundError:
        return target
    except OSError as error:
        raise user_error(
            f"{text[:80]!r} cannot be a file: {error.strerror or error}", "Give another path.", field="path"
        ) from None
    raise conflict(f"{target} exists already", "Name a file that does not exist.", field="path")


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return round(used.ru_utime + used.ru_stime, 3)


def _rss(used: resource.struct_rusage) -> int:
    """Resident memory now; the peak where the system does not tell."""
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
