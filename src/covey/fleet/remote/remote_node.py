"""The Covey on another machine, whose feed is followed over the ssh connection that exists anyway.

What its agents say by hooks and files is applied here.

RemoteNodeError
├── RemoteNodeAbsent          there is no covey there, or its daemon does not run
├── RemoteNodeLost            it fell silent, or the connection broke: it may continue where it was
└── RemoteNodeNotUnderstood   it answers, but not in our protocol
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
from collections import deque
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from covey.fleet.remote.remote_feed import PROTOCOL, PULSE_S, VISIBLE_REMOTELY, Hello, Line, Pulse, Report, Snapshot
from covey.fleet.state.model import SEEN, STATES, SURE
from covey.hosts.executor import kill
from covey.hosts.shell import hear
from covey.kernel.backoff import BackOff
from covey.tmux.errors import TmuxError

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from covey.fleet.state.model import Claim
    from covey.fleet.watch.runtimes import Runtime, Runtimes
    from covey.hosts.executor import Executor
    from covey.kernel.clock import Clock

NONE = "none"
HELLO_S, SILENCE_S = 15.0, 3 * PULSE_S
"""How long to wait for the first line (a connection may have to be made, and a Python started) and for each further one
(a feed has a pulse)."""
RETRY_S, RETRY_LONGEST_S = 0.5, 60.0
STEADY_S = 30.0
"""A connection that lasted so long does not count as a failure when it ends."""
PENDING, PENDING_S = 1000, 60.0
"""How many reports about agents that have not been detected yet are kept, and for how long."""
SAME_S = 1.0
"""Two reports of one claim may differ by as much, because clocks are compared again each time. A clock that differs by
more has been set."""
CHUNK_BYTES, LINE_BYTES, BANNER_LINES = 256 * 1024, 4 << 20, 200
"""A login may print as many lines before the hello as BANNER_LINES."""
REASON_CHARACTERS = 200
NO_COMMAND, SSH_FAILED = 127, 255
# `pip install --user` and the like put covey there; the path of a command over ssh is a short one.
_START = 'PATH="$PATH:$HOME/.local/bin"; export PATH; exec covey signals --output ndjson "$@"'
_SOURCE = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)

log = logging.getLogger("covey.fleet")


class RemoteNodeError(Exception):
    """Anything in this tree. The message is for people; it is empty if there is nothing that they need to know."""


class RemoteNodeAbsent(RemoteNodeError):  # noqa: N818 - a state of the world
    """There is no covey on the other machine, or its daemon does not run."""


class RemoteNodeLost(RemoteNodeError):  # noqa: N818 - as above
    """The feed ended or fell silent."""


class RemoteNodeNotUnderstood(RemoteNodeError):  # noqa: N818 - as above
    """What the other side sends is not in our protocol."""


class RemoteNodeListener(Protocol):
    """What the claims of a remote node are applied to."""

    runtimes: Runtimes

    def claims(self, runtime_id: str) -> list[Claim]:
        """Return the claims in force about an agent; none if it is not observed."""
        ...

    def on_remote_claim(self, runtime_id: str, source: str, claim: Claim | None, at: float, seq: int) -> None:
        """Apply the claim of a source; None withdraws its last one. A greater `seq` is later, whatever its time."""
        ...


class RemoteNode:
    """The node of one target. `run` follows it until cancelled; called again, it continues after the last report."""

    def __init__(self, target: str, listener: RemoteNodeListener, clock: Clock, rescan: Callable[[], None]) -> None:
        self.node = NONE
        """`ok <version>` while it is followed, else `none`, with a reason if there is something to know."""
        self._target = target
        self._listener = listener
        self._clock = clock
        self._rescan = rescan
        self._cursor: int | None = None
        self._instance_id = ""
        """Of the daemon there whose claims were compared with ours; empty before that."""
        self._ahead = 0.0
        """How far our clock is ahead of its clock."""
        self._seq = 0
        self._connected = False
        self._pending: deque[tuple[float, Report]] = deque(maxlen=PENDING)

    async def run(self, executor: Executor) -> None:
        """Follow the node until cancelled, with a pause after each failure."""
        back_off = BackOff(RETRY_S, RETRY_LONGEST_S)
        while True:
            began = self._clock.monotonic()
            self._connected = False
            try:
                await self._follow(executor)
            except (RemoteNodeError, TmuxError) as error:
                if not (self._connected and isinstance(error, RemoteNodeLost)):
                    self._lose(str(error))
            if self._clock.monotonic() - began >= STEADY_S:
                back_off.succeed()
            await self._clock.sleep(back_off.fail())

    def agent_detected(self) -> None:
        """Apply the reports that were waiting for an agent of this target, now that one was detected."""
        waiting, now = list(self._pending), self._clock.monotonic()
        self._pending.clear()
        for since, report in waiting:
            if runtime := self._owner_of(report):
                self._apply(runtime, report)
            elif now - since < PENDING_S:
                self._pending.append((since, report))

    # The connection.

    async def _follow(self, executor: Executor) -> None:
        since = [] if self._cursor is None else ["--since", str(self._cursor)]
        known = ["--life", self._instance_id] if self._instance_id else []
        process = await executor.spawn(["sh", "-c", _START, "covey", *since, *known])
        stderr = asyncio.create_task(hear(process), name=f"stderr of covey on {self._target}")
        try:
            async with contextlib.aclosing(_lines(process)) as lines:
                instance_id = await self._greet(lines, process, stderr)
                while True:
                    line = await _within(SILENCE_S, lines)
                    if line is None:
                        raise RemoteNodeLost("its daemon has stopped, or the connection broke")
                    self._on_line(_parse(line), instance_id)
        finally:
            await kill(process)
            stderr.cancel()
            await asyncio.wait({stderr})

    async def _greet(self, lines: AsyncIterator[bytes], process: Process, stderr: asyncio.Task[str]) -> str:
        """Read the hello. Returns the id of the daemon's instance; raises RemoteNodeError if there is no hello."""
        for _ in range(BANNER_LINES):
            line = await _within(HELLO_S, lines)
            if line is None:
                raise _refusal(await process.wait(), await stderr)
            hello = _hello(line)
            if hello is not None:
                break
        else:
            raise RemoteNodeNotUnderstood("what runs there as covey does not say what covey says")
        if hello.protocol != PROTOCOL:
            raise RemoteNodeNotUnderstood(f"its covey {_short(hello.version)} speaks another protocol than {PROTOCOL}")
        self._connected = True
        self.node = f"ok {_short(hello.version)}"
        self._ahead = self._clock.time() - hello.time
        log.info("remote node connected", extra={"target": self._target, "version": hello.version})
        return hello.instance_id

    def _on_line(self, line: Line, instance_id: str) -> None:
        if isinstance(line, Hello):
            raise RemoteNodeNotUnderstood("it says hello twice")
        self._cursor = line.cursor
        if isinstance(line, Pulse):
            ahead = self._clock.time() - line.time  # too much by the time of the way here: the least is the best
            self._ahead = ahead if ahead - self._ahead > SAME_S else min(ahead, self._ahead)
        elif isinstance(line, Snapshot):
            self._compare(line.reports)
            self._instance_id = instance_id
        else:
            self._on_report(line.report)

    # Its reports.

    def _on_report(self, report: Report) -> None:
        if not _valid(report):
            return
        if runtime := self._owner_of(report):
            self._apply(runtime, report)
        else:
            self._pending.append((self._clock.monotonic(), report))
            self._rescan()

    def _compare(self, reports: tuple[Report, ...]) -> None:
        """Apply what differs between the claims that we have of this node and those of its snapshot."""
        named: set[tuple[str, str]] = set()
        for report in reports:
            runtime = self._owner_of(report)
            if runtime is not None:
                named.add((runtime.runtime_id, report.source))
            if runtime is None or not any(
                self._same(claim, report) for claim in self._listener.claims(runtime.runtime_id)
            ):
                self._on_report(report)
        for runtime, claim in self._levels():
            if (runtime.runtime_id, claim.source) not in named:
                self._withdraw(runtime, claim)

    def _lose(self, reason: str) -> None:
        """Withdraw the levels of the node, because nothing updates them any more. Its edges stay, and grow old."""
        before = self.node
        self.node = f"{NONE}: {_short(reason)}" if reason else NONE
        self._instance_id = ""  # so that all claims are compared when it is back
        if before.startswith("ok"):
            log.info("remote node disconnected", extra={"target": self._target, "reason": reason})
        for runtime, claim in self._levels():
            self._withdraw(runtime, claim)

    def _levels(self) -> list[tuple[Runtime, Claim]]:
        own = [runtime for runtime in self._listener.runtimes.all if runtime.target == self._target]
        claims = [(runtime, claim) for runtime in own for claim in self._listener.claims(runtime.runtime_id)]
        return [(runtime, claim) for runtime, claim in claims if claim.level and claim.source not in VISIBLE_REMOTELY]

    def _withdraw(self, runtime: Runtime, claim: Claim) -> None:
        self._seq += 1
        self._listener.on_remote_claim(runtime.runtime_id, claim.source, None, self._clock.time(), self._seq)

    def _apply(self, runtime: Runtime, report: Report) -> None:
        self._seq += 1
        claim = report.claim and replace(report.claim, at=report.claim.at + self._ahead)
        self._listener.on_remote_claim(runtime.runtime_id, report.source, claim, report.at + self._ahead, self._seq)

    def _same(self, claim: Claim, report: Report) -> bool:
        return (
            report.claim is not None
            and replace(report.claim, at=claim.at) == claim
            and abs(report.claim.at + self._ahead - claim.at) < SAME_S
        )

    def _owner_of(self, report: Report) -> Runtime | None:
        for runtime in self._listener.runtimes.all:
            owner = runtime.pane_epoch, runtime.agent, runtime.pid, runtime.process_started
            if runtime.target == self._target and owner == report.owner:
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
            raise RemoteNodeNotUnderstood("what runs there as covey does not end its lines")


async def _within(seconds: float, lines: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(seconds):
            return await anext(lines, None)
    except TimeoutError:
        raise RemoteNodeLost(f"it was silent for {seconds:g} s") from None


def _parse(line: bytes) -> Line:
    try:
        return _LINE.decode(line)
    except msgspec.MsgspecError as error:
        raise RemoteNodeNotUnderstood(f"it says what cannot be understood: {error}") from error


def _hello(line: bytes) -> Hello | None:
    try:
        found = _LINE.decode(line)
    except msgspec.MsgspecError:
        return None
    return found if isinstance(found, Hello) else None


def _refusal(code: int, stderr: str) -> RemoteNodeError:
    """Return why it ended before its hello, by its exit code and what it wrote to stderr."""
    if code == NO_COMMAND:
        return RemoteNodeAbsent("")
    last = next(
        (line.strip() for line in reversed(stderr.splitlines()) if line.strip()), f"covey ended there with code {code}"
    )
    with contextlib.suppress(ValueError, TypeError, KeyError):
        last = str(json.loads(last)["message"])
    return RemoteNodeLost(last) if code == SSH_FAILED else RemoteNodeAbsent(last)


def _valid(report: Report) -> bool:
    """Return whether a report can be applied.

    Another version may know sources and states that we do not; titles and screens we read ourselves.
    """
    claim = report.claim
    known = claim is None or (
        claim.source == report.source and claim.state in STATES and SEEN <= claim.strength <= SURE
    )
    return known and report.source not in VISIBLE_REMOTELY and _SOURCE.fullmatch(report.source) is not None


def _short(text: str) -> str:
    return " ".join(text.split())[:REASON_CHARACTERS]
