"""The Covey on another machine, listened to over the connection that is there anyway: what its agents say by hooks and files becomes ours.

FarNodeError
├── FarNodeAbsent          there is no covey there, or its daemon does not run
├── FarNodeLost            it fell silent, or the way to it broke: it may go on where it was
└── FarNodeNotUnderstood   it speaks, but not as we do
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import re
from collections import deque
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from covey.fleet.model import SEEN, STATES, SURE
from covey.fleet.telling import PROTOCOL, PULSE_S, SEEN_FROM_AFAR, Hello, Line, Pulse, Said, Standing
from covey.hosts.errors import HostError
from covey.hosts.executor import kill
from covey.hosts.shell import hear

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from covey.fleet.model import Claim
    from covey.fleet.runtimes import Runtime, Runtimes
    from covey.hosts.executor import Executor
    from covey.kernel.clock import Clock

NONE = "none"
HELLO_S, SILENCE_S = 15.0, 3 * PULSE_S
"""Until the first word: a connection may have to be made, and a Python started. Between words: a teller has a pulse."""
RETRY_S, RETRY_LONGEST_S = 0.5, 60.0
STEADY_S = 30.0
"""What lasted so long was no failure when it ends."""
PENDING, PENDING_S = 1000, 60.0
"""What is said of agents that have not been seen yet: so much is kept, for so long."""
SAME_S = 1.0
"""Two tellings of one claim may differ by as much: clocks are compared anew each time. One that differs by more has been set."""
CHUNK_BYTES, LINE_BYTES, BABBLE_LINES = 256 * 1024, 4 << 20, 200
"""A login may print what it likes before the first word, but not for ever."""
REASON_CHARACTERS = 200
NO_COMMAND, SSH_FAILED = 127, 255
# Where `pip install --user` and its kin put it; the path of a command over ssh is a short one.
_START = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec covey signals --output ndjson "$@"'
_SOURCE = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)

log = logging.getLogger("covey.fleet")


class FarNodeError(Exception):
    """Anything in this tree. The message says it to a person; empty if there is nothing to say."""


class FarNodeAbsent(FarNodeError):  # noqa: N818 - a state of the world
    """Nobody is there."""


class FarNodeLost(FarNodeError):  # noqa: N818 - as above
    """It cannot be heard any more."""


class FarNodeNotUnderstood(FarNodeError):  # noqa: N818 - as above
    """It speaks otherwise."""


class Station(Protocol):
    """What a far node's words are for."""

    runtimes: Runtimes

    def claims(self, runtime_id: str) -> list[Claim]:
        """What stands about an agent; nothing if it is not watched."""
        ...

    def told(self, runtime_id: str, source: str, claim: Claim | None, at: float, seq: int) -> None:
        """A source says something about an agent, or nothing any more. What has a greater number was said later, whatever its time."""
        ...


class FarNode:
    """One target's node. `run` follows it until cancelled and may be called again: it goes on after the last word that was heard."""

    def __init__(self, target: str, station: Station, clock: Clock, rescan: Callable[[], None]) -> None:
        self.node = NONE
        """`ok <version>` while it is listened to, else `none`, with a reason if there is something to know."""
        self._target = target
        self._station = station
        self._clock = clock
        self._rescan = rescan
        self._cursor: int | None = None
        self._life = ""
        self._ahead = 0.0
        """How far our clock is ahead of its."""
        self._seq = 0
        self._spoke = False
        self._pending: deque[tuple[float, Said]] = deque(maxlen=PENDING)

    async def run(self, executor: Executor) -> None:
        failures = 0
        while True:
            began, self._spoke = self._clock.monotonic(), False
            try:
                await self._follow(executor)
            except (FarNodeError, HostError) as error:
                if not (self._spoke and isinstance(error, FarNodeLost)):
                    self._let_go(str(error))
            failures = 0 if self._clock.monotonic() - began >= STEADY_S else failures + 1
            longest = min(RETRY_LONGEST_S, RETRY_S * 2 ** min(max(failures - 1, 0), 16))
            await self._clock.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311 - jitter

    def seen(self) -> None:
        """An agent of this target was seen: something may have been said of it already."""
        waiting, now = list(self._pending), self._clock.monotonic()
        self._pending.clear()
        for since, said in waiting:
            if runtime := self._whose(said):
                self._tell(runtime, said)
            elif now - since < PENDING_S:
                self._pending.append((since, said))

    # The conversation.

    async def _follow(self, executor: Executor) -> None:
        since = [] if self._cursor is None else ["--since", str(self._cursor)]
        known = ["--life", self._life] if self._life else []
        process = await executor.spawn(["sh", "-c", _START, "covey", *since, *known])
        hearing = asyncio.create_task(hear(process), name=f"complaints of covey on {self._target}")
        try:
            async with contextlib.aclosing(_lines(process)) as lines:
                life = await self._meet(lines, process, hearing)
                while True:
                    line = await _within(SILENCE_S, lines)
                    if line is None:
                        raise FarNodeLost("its daemon has stopped, or the connection broke")
                    self._take(_read(line), life)
        finally:
            await kill(process)
            hearing.cancel()
            await asyncio.wait({hearing})

    async def _meet(self, lines: AsyncIterator[bytes], process: Process, hearing: asyncio.Task[str]) -> str:
        """Hear its first word; the life that it is in."""
        for _ in range(BABBLE_LINES):
            line = await _within(HELLO_S, lines)
            if line is None:
                raise _refusal(await process.wait(), await hearing)
            hello = _hello(line)
            if hello is not None:
                break
        else:
            raise FarNodeNotUnderstood("what runs there as covey does not say what covey says")
        if hello.protocol != PROTOCOL:
            raise FarNodeNotUnderstood(f"its covey {_short(hello.version)} speaks another protocol than {PROTOCOL}")
        self._spoke = True
        self.node = f"ok {_short(hello.version)}"
        self._ahead = self._clock.time() - hello.time
        log.info("a far node is listened to", extra={"target": self._target, "version": hello.version})
        return hello.life

    def _take(self, line: Line, life: str) -> None:
        if isinstance(line, Hello):
            raise FarNodeNotUnderstood("it says hello twice")
        self._cursor = line.cursor
        if isinstance(line, Pulse):
            ahead = self._clock.time() - line.time  # too much by the time it took to come here: the least is the best
            self._ahead = ahead if ahead - self._ahead > SAME_S else min(ahead, self._ahead)
        elif isinstance(line, Standing):
            self._compare(line.said)
            self._life = life
        else:
            self._hear(line.said)

    # What it says.

    def _hear(self, said: Said) -> None:
        if not _makes_sense(said):
            return
        if runtime := self._whose(said):
            self._tell(runtime, said)
        else:
            self._pending.append((self._clock.monotonic(), said))
            self._rescan()

    def _compare(self, standing: tuple[Said, ...]) -> None:
        """Bring what we take for its claims in line with what it claims."""
        named: set[tuple[str, str]] = set()
        for said in standing:
            runtime = self._whose(said)
            if runtime is not None:
                named.add((runtime.runtime_id, said.source))
            if runtime is None or not any(
                self._same(claim, said) for claim in self._station.claims(runtime.runtime_id)
            ):
                self._hear(said)
        for runtime, claim in self._levels():
            if (runtime.runtime_id, claim.source) not in named:
                self._withdraw(runtime, claim)

    def _let_go(self, reason: str) -> None:
        """Nobody looks after its levels any more. What was told once stays told, and grows old."""
        before, self.node = self.node, f"{NONE}: {_short(reason)}" if reason else NONE
        self._life = ""  # so that all is compared when it is back
        if before.startswith("ok"):
            log.info("a far node is listened to no more", extra={"target": self._target, "reason": reason})
        for runtime, claim in self._levels():
            self._withdraw(runtime, claim)

    def _levels(self) -> list[tuple[Runtime, Claim]]:
        own = [runtime for runtime in self._station.runtimes.all if runtime.target == self._target]
        claims = [(runtime, claim) for runtime in own for claim in self._station.claims(runtime.runtime_id)]
        return [(runtime, claim) for runtime, claim in claims if claim.level and claim.source not in SEEN_FROM_AFAR]

    def _withdraw(self, runtime: Runtime, claim: Claim) -> None:
        self._seq += 1
        self._station.told(runtime.runtime_id, claim.source, None, self._clock.time(), self._seq)

    def _tell(self, runtime: Runtime, said: Said) -> None:
        self._seq += 1
        claim = said.claim and replace(said.claim, at=said.claim.at + self._ahead)
        self._station.told(runtime.runtime_id, said.source, claim, said.at + self._ahead, self._seq)

    def _same(self, claim: Claim, said: Said) -> bool:
        return (
            said.claim is not None
            and replace(said.claim, at=claim.at) == claim
            and abs(said.claim.at + self._ahead - claim.at) < SAME_S
        )

    def _whose(self, said: Said) -> Runtime | None:
        for runtime in self._station.runtimes.all:
            whose = runtime.pane_epoch, runtime.agent, runtime.pid, runtime.process_started
            if runtime.target == self._target and whose == said.whose:
                return runtime
        return None


async def _lines(process: Process) -> AsyncGenerator[bytes, None]:
    assert process.stdout
    rest = b""
    while data := await process.stdout.read(CHUNK_BYTES):
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            yield line
        if len(rest) > LINE_BYTES:
            raise FarNodeNotUnderstood("what runs there as covey does not end its lines")


async def _within(seconds: float, lines: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(seconds):
            return await anext(lines, None)
    except TimeoutError:
        raise FarNodeLost(f"it was silent for {seconds:g} s") from None


def _read(line: bytes) -> Line:
    try:
        return _LINE.decode(line)
    except msgspec.MsgspecError as error:
        raise FarNodeNotUnderstood(f"it says what cannot be understood: {error}") from error


def _hello(line: bytes) -> Hello | None:
    try:
        found = _LINE.decode(line)
    except msgspec.MsgspecError:
        return None
    return found if isinstance(found, Hello) else None


def _refusal(code: int, words: str) -> FarNodeError:
    """Why it ended before it had said hello."""
    if code == NO_COMMAND:
        return FarNodeAbsent("")
    last = next(
        (line.strip() for line in reversed(words.splitlines()) if line.strip()), f"covey ended there with code {code}"
    )
    with contextlib.suppress(ValueError, TypeError, KeyError):
        last = str(json.loads(last)["message"])
    return FarNodeLost(last) if code == SSH_FAILED else FarNodeAbsent(last)


def _makes_sense(said: Said) -> bool:
    """Another version may know sources and states that we do not; titles and screens we read ourselves."""
    claim = said.claim
    known = claim is None or (claim.source == said.source and claim.state in STATES and SEEN <= claim.strength <= SURE)
    return known and said.source not in SEEN_FROM_AFAR and _SOURCE.fullmatch(said.source) is not None


def _short(text: str) -> str:
    return " ".join(text.split())[:REASON_CHARACTERS]
