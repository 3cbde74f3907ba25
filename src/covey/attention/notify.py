"""Telling a person: a command of theirs, run when something new needs them. A burst of news is told in one word.

What was to be told when the daemon was killed is told by the next one; in the worst moment twice rather than never.
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

from covey.attention import reader
from covey.attention.item import OPENED
from covey.kernel import process
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from covey.attention.item import Item
    from covey.attention.queue import Queue
    from covey.kernel.clock import Clock
    from covey.kernel.event import Event
    from covey.kernel.events import Events
    from covey.kernel.store import Store

READER = "notify"
BURST_S = 2.0
"""What comes within this time is told together."""
DEADLINE_S = 10.0
KILLED_S = 1.0
"""What is killed has gone by then, or is stuck in the kernel, where nobody can end it."""
SHOWN = 10
"""Items that are told one by one when there are more."""
SAID_BYTES = 300
MEND = 'Try it by hand, then: covey config set attention.notify \'["command", "argument"]\''

log = logging.getLogger("covey.attention")


class Notifier:
    """Runs the command, one at a time, while the daemon lives. `command` gives what is set at the moment; nothing means that nobody is told."""

    def __init__(
        self, queue: Queue, store: Store, events: Events, clock: Clock, command: Callable[[], Sequence[str]]
    ) -> None:
        self.problem = ""
        """Why the last telling failed, if it did."""
        self._queue = queue
        self._store = store
        self._events = events
        self._clock = clock
        self._command = command

    async def live(self) -> None:
        """Tell what is new until the daemon stops. Raises OSError if a command cannot even be prepared; what it would have told is told by the next call."""
        news = reader.Reader(
            self._events, [OPENED], await self._store.read(lambda connection: reader.written(connection, READER))
        )
        while not news.ended:
            try:
                await self._round(news)
            except OSError as error:
                self.problem = f"a command cannot be run: {error.strerror or error}"
                raise
            except StoreError as error:
                log.warning("notifications wait: the database cannot be used", extra={"reason": error.message})
                news.rewind()
                await self._clock.sleep(BURST_S)

    async def _round(self, news: reader.Reader) -> None:
        batch = await news.take()
        await self._clock.sleep(BURST_S)
        while not news.ended and (more := await news.take(0)):
            batch += more
        if not batch:
            return
        items, command = self._open(batch), self._command()
        if items and command:
            self._judge(command[0], await run(command, document(items)))
        await self._store.write(lambda connection: reader.write(connection, READER, batch[-1].cursor))
        news.cursor = batch[-1].cursor

    def _open(self, batch: Iterable[Event]) -> list[Item]:
        """What still needs somebody, each once: what was settled meanwhile is not worth a word."""
        ids = {event.data["id"] for event in batch}
        return [item for item in self._queue.open.values() if item.id in ids]

    def _judge(self, program: str, problem: str) -> None:
        if problem and problem != self.problem:
            log.warning(
                "nobody could be told what needs them",
                extra={"program": program, "reason": problem, "suggestion": MEND},
            )
        self.problem = problem


def document(items: Sequence[Item]) -> dict[str, Any]:
    """What the command reads: `title`, `detail` and `key` of the one item, or of all of them in short; `count`, and the first `items` in full."""
    first = [item.as_dict() for item in items[:SHOWN]]
    if len(items) == 1:
        title, detail, key = items[0].title, items[0].detail, items[0].key
    else:
        left = len(items) - len(first)
        lines = [item.title for item in items[:SHOWN]] + ([f"and {left} more: covey needs"] if left else [])
        title, detail, key = f"{len(items)} things need you", "\n".join(lines), ""
    return {"title": title, "detail": detail, "key": key, "count": len(items), "items": first}


async def run(command: Sequence[str], told: dict[str, Any], deadline: float = DEADLINE_S) -> str:
    """Run a command with what it is to tell; why that failed, or nothing. It and all that it has started are gone afterwards."""
    environment = {**os.environ, **{f"COVEY_{name.upper()}": told[name] for name in ("title", "detail", "key")}}
    with tempfile.TemporaryFile() as given, _Ear() as ear:
        given.write(json.dumps(told).encode() + b"\n")
        given.seek(0)
        try:
            started = await asyncio.create_subprocess_exec(
                str(Path(command[0]).expanduser()),  # noqa: ASYNC240 - no file is touched
                *command[1:],
                stdin=given,
                stdout=DEVNULL,
                stderr=ear.mouth,
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
            await asyncio.wait({asyncio.ensure_future(started.wait())}, timeout=KILLED_S)
        return "" if code == 0 else f"{command[0]} ended with code {code}{ear.heard}"


class _Ear:
    """The first of what a program complains about; it may say as much as it likes, and whatever it leaves behind keeps nobody waiting."""

    def __init__(self) -> None:
        self._end, self.mouth = os.pipe()
        os.set_blocking(self._end, False)
        self._said = b""

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._end, self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._end)
        os.close(self._end)
        os.close(self.mouth)

    @property
    def heard(self) -> str:
        self._listen()
        text = "".join(
            letter if letter.isprintable() else " " for letter in self._said[:SAID_BYTES].decode(errors="replace")
        )
        return f": {' '.join(text.split())}" if text.strip() else ""

    def _listen(self) -> None:
        with contextlib.suppress(BlockingIOError):
            part = os.read(self._end, 65_536)
            self._said = (self._said + part)[:SAID_BYTES]
