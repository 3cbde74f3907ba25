"""Notifications: a command of the user's, run when something new needs them. A burst of items is one notification.

If the daemon is killed, the next one sends what was due; in the worst case twice rather than never.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import tempfile
from asyncio.subprocess import DEVNULL
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.attention_events import ATTENTION_OPENED
from covey.kernel.events.consumer import Consumer
from covey.kernel.processes import process
from covey.kernel.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from covey.attention.item import Item
    from covey.attention.queue import Queue
    from covey.kernel.clock import Clock
    from covey.kernel.events.event import Event
    from covey.kernel.events.events import Events
    from covey.kernel.store.store import Store

CONSUMER = "attention.notify"
BURST_S = 2.0
"""Items that come within this time are one notification."""
DEADLINE_S = 10.0
KILLED_S = 1.0
"""A killed process has ended by then, or hangs in the system, where nothing can end it."""
SHOWN = 10
"""Items that a notification lists; it counts all of them."""
STDERR_BYTES = 300
FIX = 'Try it by hand, then: covey config set attention.notify \'["command", "argument"]\''

log = logging.getLogger("covey.attention")


class Notifier:
    """Runs the command, one at a time. `command` returns the present setting; nothing means no notifications."""

    def __init__(
        self, queue: Queue, store: Store, events: Events, clock: Clock, command: Callable[[], Sequence[str]]
    ) -> None:
        self.problem = ""
        """Why the last notification failed; empty if it did not."""
        self._queue = queue
        self._store = store
        self._events = events
        self._clock = clock
        self._command = command

    async def live(self) -> None:
        """Notify of new items until the daemon stops.

        Raises OSError if a command cannot even be prepared; the next call then sends that notification.
        """
        consumer = await Consumer.open(CONSUMER, [ATTENTION_OPENED], self._store, self._events)
        while not consumer.ended:
            try:
                await self._notify_once(consumer)
            except OSError as error:
                self.problem = f"a command cannot be run: {error.strerror or error}"
                raise
            except StoreError as error:
                log.warning("notifications wait: the database cannot be used", extra={"reason": error.message})
                consumer.rewind()
                await self._clock.sleep(BURST_S)

    async def _notify_once(self, consumer: Consumer) -> None:
        batch = await consumer.take()
        await self._clock.sleep(BURST_S)
        while not consumer.ended and (more := await consumer.take(0)):
            batch += more
        if not batch:
            return
        items, command = self._open(batch), self._command()
        if items and command:
            self._report(command[0], await run(command, document(items)))
        await consumer.commit(batch[-1].cursor)

    def _open(self, batch: Iterable[Event]) -> list[Item]:
        """Return the items of these events that are still open, each once."""
        ids = {event.data["id"] for event in batch}
        return [item for item in self._queue.open.values() if item.id in ids]

    def _report(self, program: str, problem: str) -> None:
        """Remember how a notification went, and log a problem that is new."""
        if problem and problem != self.problem:
            log.warning(
                "notification command failed",
                extra={"program": program, "reason": problem, "suggestion": FIX},
            )
        self.problem = problem


def document(items: Sequence[Item]) -> dict[str, Any]:
    """Return what the command reads: `title`, `detail`, `key`, `count`, and the first `items` in full.

    Title, detail and key are those of the only item; of several items, title and detail are a summary.
    """
    first = [item.as_dict() for item in items[:SHOWN]]
    if len(items) == 1:
        title, detail, key = items[0].title, items[0].detail, items[0].key
    else:
        left = len(items) - len(first)
        lines = [item.title for item in items[:SHOWN]] + ([f"and {left} more: covey needs"] if left else [])
        title, detail, key = f"{len(items)} things need you", "\n".join(lines), ""
    return {"title": title, "detail": detail, "key": key, "count": len(items), "items": first}


async def run(command: Sequence[str], content: dict[str, Any], deadline: float = DEADLINE_S) -> str:
    """Run a command with a document on its standard input; return why that failed, or nothing.

    It and everything it has started are killed afterwards. Raises OSError if its files or pipes cannot be created.
    """
    environment = {**os.environ, **{f"COVEY_{name.upper()}": content[name] for name in ("title", "detail", "key")}}
    with tempfile.TemporaryFile() as given, _FirstStderr() as errors:
        given.write(json.dumps(content).encode() + b"\n")
        given.seek(0)
        try:
            started = await asyncio.create_subprocess_exec(
                str(Path(command[0]).expanduser()),  # noqa: ASYNC240 - no file is touched
                *command[1:],
                stdin=given,
                stdout=DEVNULL,
                stderr=errors.write_fd,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"{command[0]} cannot be started: {getattr(error, 'strerror', None) or error}"
        born = process.birth(started.pid)
        try:
            async with asyncio.timeout(deadline):
                code = await started.wait()
        except TimeoutError:
            return f"{command[0]} did not end within {deadline:g} s"
        finally:
            process.signal_group(started.pid, born, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(started.wait(), KILLED_S)
        return "" if code == 0 else f"{command[0]} ended with code {code}{errors.text}"


class _FirstStderr:
    """A pipe for a program's standard error, of which the beginning is kept. Nobody waits for its end."""

    def __init__(self) -> None:
        self._read_fd, self.write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        self._kept = b""

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._read_fd, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._read_fd)
        os.close(self._read_fd)
        os.close(self.write_fd)

    @property
    def text(self) -> str:
        """Return what was written so far, after a colon, on one line; empty if nothing was."""
        self._read()
        decoded = self._kept.decode(errors="replace")
        text = "".join(letter if letter.isprintable() else " " for letter in decoded)
        return f": {' '.join(text.split())}" if text.strip() else ""

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            part = os.read(self._read_fd, 65_536)
            self._kept = (self._kept + part)[:STDERR_BYTES]
