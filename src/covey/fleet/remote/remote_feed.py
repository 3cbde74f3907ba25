"""The feed of this node for another Covey that watches this machine over ssh.

It carries what the agents here say by hooks and files, which cannot be seen from there: a hello, then the reports since
the cursor that was asked for, or, where that does not lead up to now, a snapshot of all claims; then reports as they
come. Both ends use the values here. The names on the wire (`heard`, `standing`, `said`, `life`) belong to the protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field, to_builtins

from covey import __version__
from covey.contract.fleet_events import AGENT_SIGNAL
from covey.fleet.state.model import Claim
from covey.kernel.events.event import SlowReader
from covey.kernel.operations.stream import Message

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from covey.fleet.watch.runtimes import Runtime
    from covey.kernel.clock import Clock
    from covey.kernel.events.event import Event
    from covey.kernel.events.events import Events
    from covey.kernel.operations.stream import Batch

PROTOCOL = 1
PULSE_S = 2.0
"""A feed is never silent for longer."""
VISIBLE_REMOTELY = frozenset({"title", "screen"})
"""Sources that the other node reads from the tmux server itself."""


class Report(Struct, frozen=True, kw_only=True):
    """What one source says about one agent.

    Nodes have different names for the machine, so the agent is named by its pane and its process.
    """

    pane_epoch: str
    agent: str
    pid: int
    process_started: int
    source: str
    at: float
    claim: Claim | None
    """None: the source withdraws its last claim."""

    @property
    def owner(self) -> tuple[str, str, int, int]:
        """What identifies the agent."""
        return self.pane_epoch, self.agent, self.pid, self.process_started


class Hello(Struct, frozen=True, kw_only=True, tag="hello", tag_field="event"):
    """The first line."""

    protocol: int
    version: str
    instance_id: str = field(name="life")
    """Another one after each start of the daemon: what was claimed before a restart is not claimed any more."""
    time: float


class ReportLine(Struct, frozen=True, kw_only=True, tag="heard", tag_field="event"):
    """One report."""

    cursor: int
    report: Report = field(name="said")


class Snapshot(Struct, frozen=True, kw_only=True, tag="standing", tag_field="event"):
    """All claims that are in force now; a claim that is not among them has been withdrawn."""

    cursor: int
    reports: tuple[Report, ...] = field(name="said")


class Pulse(Struct, frozen=True, kw_only=True, tag="pulse", tag_field="event"):
    """A sign of life after a time without reports, with the clock of this machine."""

    cursor: int
    time: float


Line = Hello | ReportLine | Snapshot | Pulse


class Fleet(Protocol):
    """The fleet whose agents are reported."""

    instance_id: str

    def local_runtimes(self) -> Iterable[Runtime]:
        """Return the agents on this machine."""
        ...

    def claims(self, runtime_id: str) -> Iterable[Claim]: ...
    def new_id(self) -> str:
        """Return an id that is greater than the id of every signal so far."""
        ...


class RemoteFeed:
    """The feed for one other node; `batches` is the stream."""

    def __init__(self, fleet: Fleet, events: Events, clock: Clock, params: Mapping[str, Any]) -> None:
        self._fleet = fleet
        self._events = events
        self._clock = clock
        self._since: int | None = (
            params["since"] if params["since"] is not None and params["since"] <= events.cursor else None
        )
        self._known = self._since is not None and params["life"] == fleet.instance_id

    async def batches(self) -> AsyncGenerator[Batch, None]:
        """Yield the lines of the feed. It ends if the reader is too slow, which can resume with its last cursor."""
        yield (_message(self._hello()),)
        async with self._events.subscribe(since=self._since, kinds=(AGENT_SIGNAL,)) as subscription:
            while self._since is not None and (missed := await subscription.take(0.0)):
                if messages := self._reports(missed):
                    yield messages
            newest = ""
            if subscription.gap is not None or not self._known:
                # Signals that are in the snapshot but not in the journal yet are still to come: they are skipped then.
                newest = self._fleet.new_id()
                yield (_message(Snapshot(cursor=subscription.cursor, reports=tuple(self._snapshot()))),)
            pulse_at = self._clock.monotonic()
            while True:
                try:
                    batch = await subscription.take(PULSE_S)
                except SlowReader:
                    return
                if subscription.closed:
                    return
                messages = self._reports(event for event in batch if event.data["event_id"] > newest)
                now = self._clock.monotonic()
                if now - pulse_at >= PULSE_S or not batch:  # also among signals that are not reported
                    pulse_at = now
                    messages.append(_message(Pulse(cursor=subscription.cursor, time=self._clock.time())))
                if messages:
                    yield messages

    def _hello(self) -> Hello:
        return Hello(
            protocol=PROTOCOL, version=__version__, instance_id=self._fleet.instance_id, time=self._clock.time()
        )

    def _reports(self, events: Iterable[Event]) -> list[Message]:
        local = {runtime.runtime_id: runtime for runtime in self._fleet.local_runtimes()}
        found = (
            (event, local[event.subject])
            for event in events
            if event.subject in local
            and event.data["source"] not in VISIBLE_REMOTELY
            and not event.data.get("only_claimed")
        )
        return [
            _message(ReportLine(cursor=event.cursor, report=_report_of_signal(runtime, event.data)))
            for event, runtime in found
        ]

    def _snapshot(self) -> Iterable[Report]:
        for runtime in self._fleet.local_runtimes():
            for claim in self._fleet.claims(runtime.runtime_id):
                if claim.source not in VISIBLE_REMOTELY:
                    yield _report(runtime, claim.source, claim.at, claim)


def _report_of_signal(runtime: Runtime, data: Mapping[str, Any]) -> Report:
    claim = data["claim"] and Claim(**data["claim"])
    return _report(runtime, data["source"], data["event_time"], claim)


def _report(runtime: Runtime, source: str, at: float, claim: Claim | None) -> Report:
    return Report(
        pane_epoch=runtime.pane_epoch,
        agent=runtime.agent,
        pid=runtime.pid,
        process_started=runtime.process_started,
        source=source,
        at=at,
        claim=claim,
    )


def _message(line: Line) -> Message:
    return Message("", to_builtins(line))
