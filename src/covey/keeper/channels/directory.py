"""The folder of a kept session, in which programs register channels by making FIFOs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import Counter
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from covey.keeper.channels.fifo import FifoReader, NotAChannel, check_fifo
from covey.keeper.channels.folder import make_private
from covey.keeper.channels.folder_watch import watch_folder
from covey.keeper.channels.message import DEFAULT_CHANNEL, NAME_RULE, is_channel_name
from covey.keeper.channels.refusal_log import RefusalLog
from covey.kernel.atomic_file import write_file
from covey.kernel.clock import sleep_until
from covey.kernel.tasks import Tasks
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path
    from typing import Self

    from covey.keeper.channels.folder_watch import FolderWatch
    from covey.keeper.channels.framing import Refused
    from covey.keeper.channels.message import Message
    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics

LIMIT_FILE = "message_bytes"
"""In the folder: how many bytes a message may have, for programs that send some."""
MOST_CHANNELS = 256
_MOST_COUNTED = 4 * MOST_CHANNELS
"""Channels, also former ones, whose messages are counted."""
_MOST_ENTRIES = 10_000
"""Of the folder that are looked at: whoever fills it cannot keep the event loop busy."""
_LISTING_S = 0.5
"""How often the folder is listed where changes are not noticed at once."""
_RECHECK_S = 10.0
"""How often it is listed where they are: a folder that was moved together with its parent gives no notice."""
_SHORTEST_S = 0.02
"""Between two listings, however often the folder changes."""
_STOP_S = 10.0
"""How long the end waits for messages that are being stored."""

log = logging.getLogger("covey.keeper")


class Channel(Struct, frozen=True, kw_only=True):
    """A channel as it is now."""

    name: str
    incoming: bool
    outgoing: bool
    since: float
    messages_taken: int
    messages_refused: int


class _Entry(NamedTuple):
    """Something in the folder that is called like a channel."""

    name: str
    incoming: bool
    channel: str
    found: os.stat_result

    @property
    def identity(self) -> tuple[int, int]:
        return self.found.st_dev, self.found.st_ino


class ChannelDirectory:
    """Reads every FIFO `in` and `in.<name>` of a folder, as they come and go; knows each `out.<name>`.

    Entering it makes the folder, the FIFO `in` and the file with the limit, and raises `AgentError` if the folder
    cannot be used. Leaving it
    stores what was written so far; the FIFOs stay, so that writers wait for the next reader. `take` is that of
    `FifoReader`, and is told the channel of the FIFO, whatever the messages say; `on_change` is called after channels
    have come or gone, `on_look` after each listing of the folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        take: Callable[[str, list[Message]], Awaitable[None]],
        on_change: Callable[[], None],
        clock: Clock,
        metrics: Metrics,
        longest: int,
        watch: Callable[[Path, Callable[[], None]], FolderWatch | None] = watch_folder,
        on_look: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder = folder
        self._take = take
        self._on_change = on_change
        self._clock = clock
        self._longest = longest
        self._open_watch = watch
        self._on_look = on_look
        self._watch: FolderWatch | None = None
        self._folder_identity = (0, 0)
        self._changed = asyncio.Event()
        self._tasks = Tasks(clock, metrics)
        self._readers: dict[str, FifoReader] = {}
        """By the name of the FIFO."""
        self._outgoing: dict[str, tuple[str, float]] = {}
        """The channel and since when there is one, by the name of the FIFO."""
        self._running: dict[FifoReader, asyncio.Task[None]] = {}
        """Also those whose FIFO is gone and that read what is left."""
        self._refused: dict[str, tuple[tuple[int, int], str]] = {}
        """What was refused and why, by name, so that it is logged once."""
        self._beyond: set[str] = set()
        """The FIFOs that are no channels because there are too many."""
        self._beyond_logged = 0
        self._refusals = RefusalLog(clock)
        self._taken_before: Counter[str] = Counter()
        self._refused_before: Counter[str] = Counter()
        """By channel: what readers have taken and refused whose FIFO is gone."""
        self._problem = ""
        self._follower: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        make_private(self._folder)
        self._reconcile()
        self._follower = self._tasks.keep("channel directory", self._follow)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.wait({self._follower})
        if self._watch is not None:
            self._watch.close()
        running = dict(self._running)
        for reader in running:
            reader.stop()
        if running:
            await asyncio.wait(running.values(), timeout=_STOP_S)
        await self._tasks.aclose()
        for reader in running:
            reader.close()

    @property
    def beyond(self) -> int:
        """The number of FIFOs that are left alone because there are too many channels."""
        return len(self._beyond)

    def count_from(self, former: ChannelDirectory) -> None:
        """Go on counting where another directory has stopped."""
        self._taken_before.update(former._taken_before)
        self._refused_before.update(former._refused_before)

    def channels(self) -> list[Channel]:
        """Return the channels that there are, by name."""
        readers = list(self._readers.values())
        names = {reader.channel for reader in readers} | {channel for channel, _ in self._outgoing.values()}
        return [self._channel(name, [one for one in readers if one.channel == name]) for name in sorted(names)]

    def _channel(self, name: str, readers: list[FifoReader]) -> Channel:
        written = [since for channel, since in self._outgoing.values() if channel == name]
        running = [reader for reader in self._running if reader.channel == name]
        return Channel(
            name=name,
            incoming=bool(readers),
            outgoing=bool(written),
            since=min([reader.since for reader in readers] + written),
            messages_taken=self._taken_before[name] + sum(reader.messages_taken for reader in running),
            messages_refused=self._refused_before[name] + sum(reader.messages_refused for reader in running),
        )

    async def _follow(self) -> None:
        while True:
            await sleep_until(self._changed, self._clock, _LISTING_S if self._watch is None else _RECHECK_S)
            self._changed.clear()
            self._reconcile()
            await self._clock.sleep(_SHORTEST_S)

    def _reconcile(self) -> None:
        """Make what we have open agree with what is in the folder."""
        before = self._registered()
        try:
            self._prepare()
            entries = list(self._entries())
        except (AgentError, OSError) as error:
            if self._problem != str(error):
                log.warning("channels cannot be read", extra={"folder": str(self._folder), "reason": str(error)})
            self._problem = str(error)
            entries = []
        else:
            self._problem = ""
        self._drop_missing(entries)
        self._beyond.clear()
        for entry in entries:
            self._judge(entry)
        self._log_beyond()
        if self._registered() != before:
            self._on_change()
        self._on_look()

    def _registered(self) -> tuple[set[str], set[str]]:
        return set(self._readers), set(self._outgoing)

    def _prepare(self) -> None:
        """Make the folder and the FIFO `in` if they are missing, and watch the folder, also after it was replaced."""
        identity = make_private(self._folder)
        if identity != self._folder_identity:
            if self._watch is not None:
                self._watch.close()
            self._watch = self._open_watch(self._folder, self._changed.set)
            self._folder_identity = identity
            try:
                write_file(str(self._folder / LIMIT_FILE), f"{self._longest}\n".encode(), 0o600)
            except OSError as error:  # adapters do without it
                log.warning("limit of messages cannot be written", extra={"reason": str(error)})
        with contextlib.suppress(FileExistsError):
            os.mkfifo(self._folder / "in", 0o600)

    def _entries(self) -> Iterator[_Entry]:
        with os.scandir(self._folder) as listing:
            for one in islice(listing, _MOST_ENTRIES):
                direction, dot, channel = one.name.partition(".")
                if one.name == "in":
                    channel = DEFAULT_CHANNEL
                elif direction not in ("in", "out") or not dot:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    yield _Entry(one.name, direction == "in", channel, one.stat(follow_symlinks=False))

    def _drop_missing(self, entries: list[_Entry]) -> None:
        """Let go of the FIFOs that are not in the folder any more, and of those that were replaced."""
        present = {entry.name: entry.identity for entry in entries}
        for name, reader in list(self._readers.items()):
            if present.get(name) != reader.identity or not reader.is_open:
                del self._readers[name]
                self._log("channel deregistered", name, reader.channel)
                # One that was renamed is read under its new name, by one reader only.
                if reader.identity in present.values():
                    reader.stop()
                else:
                    reader.finish()
        fifos = {entry.name for entry in entries if not _objection(entry)}
        for name in self._outgoing.keys() - fifos:
            channel, _ = self._outgoing.pop(name)
            self._log("channel deregistered", name, channel)
        self._refused = {name: why for name, why in self._refused.items() if name in present}

    def _judge(self, entry: _Entry) -> None:
        """Register an entry that is new, or log once why it is refused."""
        if entry.name in self._readers or entry.name in self._outgoing:
            return
        reason = _objection(entry) or self._register(entry)
        if not reason:
            self._refused.pop(entry.name, None)
        elif self._refused.get(entry.name) != (entry.identity, reason):
            self._refused[entry.name] = (entry.identity, reason)
            self._refusals.warn("channel refused", "", path=str(self._folder / entry.name), reason=reason)

    def _log_beyond(self) -> None:
        """Log how many FIFOs are too many, once, and again when they have doubled."""
        count = len(self._beyond)
        if count and count >= 2 * self._beyond_logged:
            fields = {"folder": str(self._folder), "fifos": count, "limit": MOST_CHANNELS}
            log.warning("too many channels, the rest is not read", extra=fields)
            self._beyond_logged = count
        elif not count:
            self._beyond_logged = 0

    def _register(self, entry: _Entry) -> str:
        """Register a FIFO. Returns why that cannot be; empty if it was done, or is to be done a little later."""
        if any(reader.identity == entry.identity for reader in self._running):
            return ""  # it was renamed, and is still read under its old name; the end of that sets `_changed`
        names = {channel for channel, _ in self._outgoing.values()} | {one.channel for one in self._running}
        if entry.channel not in names and len(names) >= MOST_CHANNELS:
            self._beyond.add(entry.name)
            return ""
        if not entry.incoming:
            self._outgoing[entry.name] = (entry.channel, self._clock.time())
            self._log("channel registered", entry.name, entry.channel)
            return ""
        try:
            reader = FifoReader(
                self._folder / entry.name,
                entry.channel,
                take=partial(self._take, entry.channel),
                refused=self._message_refused,
                clock=self._clock,
                longest=self._longest,
            )
        except FileNotFoundError:
            return ""
        except (OSError, NotAChannel) as error:
            return str(error)
        self._readers[entry.name] = reader
        task = self._tasks.keep(f"channel {entry.channel}", reader.run)
        self._running[reader] = task
        task.add_done_callback(lambda _: self._ended(reader))
        self._log("channel registered", entry.name, entry.channel)
        return ""

    def _ended(self, reader: FifoReader) -> None:
        del self._running[reader]
        self._count(self._taken_before, reader.channel, reader.messages_taken)
        self._count(self._refused_before, reader.channel, reader.messages_refused)
        self._changed.set()

    @staticmethod
    def _count(counted: Counter[str], channel: str, number: int) -> None:
        if number and (channel in counted or len(counted) < _MOST_COUNTED):
            counted[channel] += number

    def _message_refused(self, channel: str, refused: Refused) -> None:
        self._refusals.warn(
            "message refused", channel, channel=channel, reason=refused.why, beginning=refused.beginning
        )

    def _log(self, event: str, name: str, channel: str) -> None:
        log.info(event, extra={"channel": channel, "path": str(self._folder / name)})


def _objection(entry: _Entry) -> str:
    """Return why an entry cannot be a channel; empty if it can."""
    if not is_channel_name(entry.channel):
        return f"the name of a channel is {NAME_RULE}"
    try:
        check_fifo(entry.found)
    except NotAChannel as error:
        return str(error)
    return ""
