"""FIFOs that are read in the event loop, without ever blocking it.

Exception
└── NotAChannel           the path is not a FIFO of ours
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from typing import TYPE_CHECKING

from covey.keeper.channels.framing import Framing, Refused
from covey.keeper.channels.message import Message
from covey.kernel.backoff import BackOff
from covey.kernel.clock import sleep_until
from covey.kernel.time_slices import TimeSlices

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from covey.kernel.clock import Clock

QUIET_S = 10.0
"""When nothing has come for so long, a text without a line break is a message, though a writer may be there."""
_REMOVED_QUIET_S = 0.5
"""The same for a FIFO that was removed: who still has it open has to go on within that."""
_PIECE = 65_536
_MOST_PIECES_AT_STOP = 32
"""More than a FIFO can hold (1 MB, unless root made it larger)."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.25, 30.0

log = logging.getLogger("covey.keeper")


class NotAChannel(Exception):  # noqa: N818 - a state of the path
    """The path is not a FIFO that belongs to us. The message says what it is, as a phrase that begins with "it"."""


class FifoReader:
    """Reads the messages of one FIFO and has them stored, one piece after the other.

    `take` stores messages, all or none, and returns when they are durable: nothing more is read before. If it raises,
    it is called again with the same messages after a pause. `refused` is called with the channel for each refusal.
    """

    def __init__(
        self,
        path: Path,
        channel: str,
        *,
        take: Callable[[list[Message]], Awaitable[None]],
        refused: Callable[[str, Refused], None],
        clock: Clock,
        longest: int,
        quiet_s: float = QUIET_S,
    ) -> None:
        """Open the FIFO. Raises `NotAChannel`, and `OSError` if it cannot be opened."""
        self.path = path
        self.channel = channel
        self.since = clock.time()
        self.messages_taken = 0
        self.messages_refused = 0
        self.is_open = True
        self._take = take
        self._refused = refused
        self._clock = clock
        self._quiet_s = quiet_s
        self._framing = Framing(channel, longest=longest)
        self._is_removed = False
        self._is_quiet = False
        self._stopped = asyncio.Event()
        self._readable = asyncio.Event()
        self._descriptor = open_fifo(path, os.O_RDONLY)
        self.identity = _identity(self._descriptor)

    async def run(self) -> None:
        """Read until `stop`, or until the FIFO is not in its folder any more and nobody writes to it."""
        while self.is_open:
            if self._stopped.is_set():
                await self._read_the_rest()
                self.close()
            elif await self._wait_to_read():
                await self._read()
            else:
                await self._pass_on(self._framing.pause(self._clock.time()))
                self._is_quiet = True
                if self._is_removed:
                    self.stop()

    def finish(self) -> None:
        """Make `run` return when nobody writes any more: the FIFO was removed or replaced."""
        self._is_removed = True
        self._is_quiet = False
        self._readable.set()

    def stop(self) -> None:
        """Make `run` return after what is in the FIFO already."""
        self._stopped.set()
        self._readable.set()

    def close(self) -> None:
        """Close the FIFO, if it is open. For use after `run`: uvloop aborts if it waits for a closed descriptor."""
        if self.is_open:
            self.is_open = False
            os.close(self._descriptor)

    async def _wait_to_read(self) -> bool:
        """Return True when there is something to read, or to stop for; False when nothing has come for a moment."""
        waits = not self._is_quiet and (self._is_removed or self._framing.is_waiting)
        quiet_s = _REMOVED_QUIET_S if self._is_removed else self._quiet_s
        self._readable.clear()
        if self._stopped.is_set():
            return True
        loop = asyncio.get_running_loop()
        loop.add_reader(self._descriptor, self._readable.set)
        try:
            async with asyncio.timeout(quiet_s if waits else None):
                await self._readable.wait()
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(self._descriptor)
        return True

    async def _read(self) -> None:
        """Read one piece, if there is one: so every FIFO has its turn, whatever is written to the others."""
        try:
            data = os.read(self._descriptor, _PIECE)
        except BlockingIOError:
            return
        self._is_quiet = False
        now = self._clock.time()
        await self._pass_on(self._framing.feed(data, now) if data else self._framing.end(now))
        if not data:
            self._open_again()

    async def _read_the_rest(self) -> None:
        for _ in range(_MOST_PIECES_AT_STOP):
            try:
                data = os.read(self._descriptor, _PIECE)
            except BlockingIOError:
                break
            if not data:
                await self._pass_on(self._framing.end(self._clock.time()))
                return
            await self._pass_on(self._framing.feed(data, self._clock.time()))
        await self._pass_on(self._framing.cut(self._clock.time()))

    def _open_again(self) -> None:
        """Replace the descriptor, which is at its end for good, by a new one; close it if the FIFO is not there now.

        The new one is opened first: a FIFO that nobody has open loses what is in it. Another FIFO in its place is not
        even opened: its writer would find a reader, and lose it.
        """
        try:
            found = self.path.lstat()
            if (found.st_dev, found.st_ino) != self.identity:
                self.close()
                return
            descriptor = open_fifo(self.path, os.O_RDONLY)
        except (OSError, NotAChannel):
            self.close()
            return
        if _identity(descriptor) == self.identity:
            os.close(self._descriptor)
            self._descriptor = descriptor
        else:
            os.close(descriptor)
            self.close()

    async def _pass_on(self, found: list[Message | Refused]) -> None:
        messages = [one for one in found if isinstance(one, Message)]
        refusals = [one for one in found if isinstance(one, Refused)]
        slices = TimeSlices()
        for one in refusals:
            self._refused(self.channel, one)
            await slices.pause()
        self.messages_refused += len(refusals)
        if messages:
            await self._store(messages)

    async def _store(self, messages: list[Message]) -> None:
        back_off = BackOff(_FIRST_PAUSE_S, _LONGEST_PAUSE_S)
        while True:
            is_last_attempt = self._stopped.is_set()
            try:
                await self._take(messages)
            except Exception as error:  # noqa: BLE001 - whatever it is, the messages are not stored
                fields = {"channel": self.channel, "messages": len(messages), "reason": str(error)}
                if is_last_attempt:
                    log.error("messages of a channel are lost", extra=fields)  # noqa: TRY400 - the reason is enough
                    return
                log.warning("messages of a channel cannot be stored yet", extra=fields)
                await sleep_until(self._stopped, self._clock, back_off.fail())
            else:
                self.messages_taken += len(messages)
                return


def open_fifo(path: Path, flags: int) -> int:
    """Open a FIFO of ours and return its descriptor. Never blocks, and follows no symbolic link.

    Raises `NotAChannel` if it is anything else, and `OSError` as `os.open` does: FileNotFoundError, or ENXIO if it is
    opened for writing and nobody reads it.
    """
    check_fifo(path.lstat())
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        check_fifo(os.fstat(descriptor))
    except NotAChannel:
        os.close(descriptor)
        raise
    return descriptor


def check_fifo(found: os.stat_result) -> None:
    """Raise `NotAChannel` unless this is a FIFO that belongs to us."""
    if stat.S_ISLNK(found.st_mode):
        raise NotAChannel("it is a symbolic link, not a FIFO")
    if not stat.S_ISFIFO(found.st_mode):
        raise NotAChannel("it is not a FIFO")
    if found.st_uid != os.geteuid():
        raise NotAChannel(f"it belongs to the user with the id {found.st_uid}")


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino
