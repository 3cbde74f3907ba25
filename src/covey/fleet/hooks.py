"""What agents' hooks say: each word to its agent, once, and acknowledged when it is in the journal.

A word is at any moment in the journal or on the disk, never in memory alone: it is refused, and so spooled, while its agent has not been seen or older
words are still being read. Our script spools what it cannot deliver; for a sender without a spool, the operation does. The id is the key under which the
journal has a word, so one that was answered too late and spooled as well counts once, also in the next daemon. A word that is read from the spool after
a newer one was taken is recorded too; the engine sees by its time that it is late.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from covey.fleet.record import HEARD
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.agents.integration.spool import Spool, Spooled
    from covey.fleet.fleet import Fleet
    from covey.kernel.clock import Clock
    from covey.kernel.events import Events

PENDING_S = 10.0
"""How long a word is kept for an agent that has not been seen yet."""
REMEMBERED = 20_000
"""Ids that are known to have been heard: more than the spool holds."""
BATCH = 256
"""Words from the spool that share a commit; their files are removed after it."""
EVERY_S = 2.0
"""Between looks at the spool when nothing asks for one."""
SOON_S = 0.05
"""What was refused is in the spool by then."""
PAGE = 1000
"""Events of the journal that are read back at a time."""
LONGEST_ID, LONGEST_PID = 64, 10

log = logging.getLogger("covey.fleet")


class Word(NamedTuple):
    """What one call of a hook delivered."""

    agent: str
    tmux: str
    pane_id: str
    pids: list[int]
    payload: object
    at: float
    id: str


class Hooks:
    """Belongs to a fleet, which finds the speakers and lets them be heard."""

    def __init__(self, fleet: Fleet, events: Events, clock: Clock) -> None:
        self._fleet = fleet
        self._events = events
        self._clock = clock
        self._began = clock.time()
        self._done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._done.set_result(True)
        self._heard: OrderedDict[str, asyncio.Future[bool]] = OrderedDict()
        self._earlier: set[str] = set()
        """Ids that an earlier daemon has heard, as far back as `_recalled`; the journal is not read up to `_unread`."""
        self._recalled = math.inf
        self._unread = events.cursor
        self._recalling = asyncio.Lock()
        self._unclaimed: dict[str, float] = {}
        """Files in the spool whose agents have not been seen, and since when they wait."""
        self._refused = False
        self._behind = True
        """The spool may hold words that are older than what is said now."""
        self._seen = False
        self._wake = asyncio.Event()
        self._odd: set[str] = set()

    def read(self, agent: str, headers: Mapping[str, str], body: bytes) -> Word | None:
        """A delivery as a word; None if it is none. An agent is never told off for telling."""
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            payload = None
        known = self._fleet.registry.get(agent) is not None
        if not known or not isinstance(payload, dict):
            if (whose := agent if known else "") not in self._odd:  # who sends garbage sends much of it
                self._odd.add(whose)
                log.warning(
                    "a hook delivered what cannot be read; more of it is not told",
                    extra={"agent": agent[:60], "bytes": len(body)},
                )
            return None
        pids = [
            int(pid)
            for pid in headers.get("x-covey-pid", "").replace(",", " ").split()[:32]
            if pid.isascii() and pid.isdigit() and len(pid) <= LONGEST_PID
        ]
        told, id_ = headers.get("x-covey-at", ""), headers.get("x-covey-id", "")
        at = int(told) / 1000 if told.isascii() and told.isdigit() and len(told) < 16 else self._clock.time()  # noqa: PLR2004 - milliseconds of this age
        id_ = id_ if len(id_) <= LONGEST_ID and id_.isascii() and id_.isprintable() else ""
        return Word(agent, headers.get("x-covey-tmux", ""), headers.get("x-covey-pane", ""), pids, payload, at, id_)

    async def take(self, word: Word) -> bool:
        """Take in a word that was just said. True: it is in the journal, or says nothing new. False: it is to be spooled."""
        await self._recall(word)
        said = None if self._behind else self._hear(word)
        if said is not None:
            return await asyncio.shield(said)  # somebody else may wait for the same
        self._refused = True
        asyncio.get_running_loop().call_later(SOON_S, self._wake.set)
        return False

    def agent_seen(self) -> None:
        """An agent is there that was not: some words may be its own."""
        self._behind = self._behind or self._refused or bool(self._unclaimed)
        self._seen = True
        self._wake.set()

    async def replay(self, spool: Spool) -> None:
        """Read what hooks left and leave, oldest first, until cancelled."""
        anew = True
        while True:
            self._wake.clear()
            self._seen = self._refused = False
            try:
                taken = await self._round(spool, anew=anew)
            except (StoreError, OSError) as error:
                taken = 0
                log.warning("the spool could not be read", extra={"reason": str(error)})
            if lost := spool.dropped():
                log.warning("hooks left more than the spool holds", extra={"lost": lost})
            anew = True
            if taken or self._seen:
                continue
            self._behind = False
            try:
                async with asyncio.timeout(EVERY_S):
                    await self._wake.wait()
                anew = self._seen
            except TimeoutError:
                if not self._fleet.sighted:  # nobody can be found now, so nobody is given up
                    anew, self._unclaimed = False, dict.fromkeys(self._unclaimed, self._clock.monotonic())

    async def _round(self, spool: Spool, *, anew: bool) -> int:
        """Go through the spool once; how many words found their way. Unless `anew`, those whose agents had not been seen before are passed over."""
        taken, batch, nobodys = 0, list[tuple["Spooled", asyncio.Future[bool]]](), 0
        tried, self._unclaimed = self._unclaimed, {} if anew else self._unclaimed
        for spooled in spool.waiting(() if anew else frozenset(tried)):
            word = self.read(spooled.agent, spooled.headers, spooled.body)
            if word is None:
                spooled.done()
                continue
            await self._recall(word)
            if (said := self._hear(word)) is not None:
                batch.append((spooled, said))
            elif (
                since := tried.get(spooled.file.name, self._clock.monotonic())
            ) <= self._clock.monotonic() - PENDING_S and self._fleet.sighted:
                nobodys += 1
                spooled.done()
            else:
                self._unclaimed[spooled.file.name] = since
            if len(batch) >= BATCH:
                taken += await self._commit(batch)
            await asyncio.sleep(0)
            if self._seen and self._unclaimed:  # what was passed over is older than what follows
                self._unclaimed = {**tried, **self._unclaimed}
                break
        if nobodys:
            log.info("hooks spoke for agents that are not to be seen", extra={"hooks": nobodys})
        return taken + await self._commit(batch)

    async def _commit(self, batch: list[tuple[Spooled, asyncio.Future[bool]]]) -> int:
        """Remove the files of what is in the journal; the others stay for the next daemon."""
        written = [spooled for spooled, said in batch if await asyncio.shield(said)]
        batch.clear()
        for spooled in written:
            spooled.done()
        return len(written)

    def _hear(self, word: Word) -> asyncio.Future[bool] | None:
        """When what it says is in the journal; None if its agent has not been seen yet."""
        if word.id and word.id in self._earlier:
            return self._done
        if word.id in self._heard:
            return self._heard[word.id]
        runtime_id = self._fleet.speaker(word)
        if runtime_id is None:
            return None
        said = self._fleet.hear(runtime_id, word) or self._done
        if word.id:
            self._heard[word.id] = said
            if len(self._heard) > REMEMBERED:
                self._heard.popitem(last=False)
        return said

    async def _recall(self, word: Word) -> None:
        """Before a word from before our time is heard: know what earlier daemons have heard since."""
        if not word.id or word.at >= min(self._began, self._recalled):
            return
        async with self._recalling:
            while word.at < self._recalled and len(self._earlier) < REMEMBERED:
                start = max(self._unread - PAGE, 0)
                page = [
                    event
                    for event in await self._events.history(since=start, limit=PAGE)
                    if event.cursor <= self._unread
                ]
                for event in page:
                    if event.kind == HEARD and event.data.get("source") == "hook":
                        self._earlier.add(event.data["dedupe_key"].rpartition("/")[0])
                pruned = not page or page[0].cursor > start + 1
                self._unread, self._recalled = start, -math.inf if pruned or not start else page[0].time
