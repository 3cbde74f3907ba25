"""What this node tells another Covey that watches this machine from afar: what the agents here say by hooks and files, which cannot be seen from there.

Hello, then what was said since the cursor that was asked for; where that does not lead up to now, all that is claimed now; then what is said as it comes.
Both ends of the conversation know it by the values here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, to_builtins

from covey import __version__
from covey.contract.fleet_events import AGENT_SIGNAL
from covey.fleet.model import Claim
from covey.kernel.event import SlowReader
from covey.kernel.stream import Message

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from covey.fleet.runtimes import Runtime
    from covey.kernel.clock import Clock
    from covey.kernel.event import Event
    from covey.kernel.events import Events
    from covey.kernel.stream import Batch

PROTOCOL = 1
PULSE_S = 2.0
"""A teller is never silent for longer."""
SEEN_FROM_AFAR = frozenset({"title", "screen"})
"""Sources that whoever watches the tmux server has as well."""


class Said(Struct, frozen=True, kw_only=True):
    """What one source says about one agent. Nodes have different names for the machine, so the agent is named by what it is."""

    pane_epoch: str
    agent: str
    pid: int
    process_started: int
    source: str
    at: float
    claim: Claim | None
    """None: the source has nothing to say any more."""

    @property
    def whose(self) -> tuple[str, str, int, int]:
        return self.pane_epoch, self.agent, self.pid, self.process_started


class Hello(Struct, frozen=True, kw_only=True, tag="hello", tag_field="event"):
    """The first line."""

    protocol: int
    version: str
    life: str
    """From one start of the daemon to its end: what was claimed in another life is not claimed any more."""
    time: float


class Heard(Struct, frozen=True, kw_only=True, tag="heard", tag_field="event"):
    """Something was said."""

    cursor: int
    said: Said


class Standing(Struct, frozen=True, kw_only=True, tag="standing", tag_field="event"):
    """All that is claimed now; what is not among it is claimed no more."""

    cursor: int
    said: tuple[Said, ...]


class Pulse(Struct, frozen=True, kw_only=True, tag="pulse", tag_field="event"):
    """Nothing was said for a while, and it is this late here."""

    cursor: int
    time: float


Line = Hello | Heard | Standing | Pulse


class Fleet(Protocol):
    """What is told about."""

    life: str

    def own(self) -> Iterable[Runtime]:
        """The agents on this machine."""
        ...

    def claims(self, runtime_id: str) -> Iterable[Claim]: ...
    def mark(self) -> str:
        """An id that is greater than that of every signal so far."""
        ...


class Telling:
    """One listener; `batches` is the stream."""

    def __init__(self, fleet: Fleet, events: Events, clock: Clock, params: Mapping[str, Any]) -> None:
        self._fleet = fleet
        self._events = events
        self._clock = clock
        self._since: int | None = (
            params["since"] if params["since"] is not None and params["since"] <= events.cursor else None
        )
        self._known = self._since is not None and params["life"] == fleet.life

    async def batches(self) -> AsyncGenerator[Batch, None]:
        yield (_message(Hello(protocol=PROTOCOL, version=__version__, life=self._fleet.life, time=self._clock.time())),)
        async with self._events.subscribe(since=self._since, kinds=(AGENT_SIGNAL,)) as subscription:
            while self._since is not None and (missed := await subscription.take(0.0)):
                if messages := self._told(missed):
                    yield messages
            mark = ""
            if subscription.gap is not None or not self._known:
                mark = (
                    self._fleet.mark()
                )  # what is in the picture but not in the journal yet will come by as well, and is not told again
                yield (_message(Standing(cursor=subscription.cursor, said=tuple(self._standing()))),)
            told_at = self._clock.monotonic()
            while True:
                try:
                    batch = await subscription.take(PULSE_S)
                except SlowReader:  # who comes back is told what was missed
                    return
                if subscription.closed:
                    return
                messages = self._told(event for event in batch if event.data["event_id"] > mark)
                now = self._clock.monotonic()
                if now - told_at >= PULSE_S or not batch:  # also amid what is of no use to anybody else
                    told_at = now
                    messages.append(_message(Pulse(cursor=subscription.cursor, time=self._clock.time())))
                if messages:
                    yield messages

    def _told(self, events: Iterable[Event]) -> list[Message]:
        own = {runtime.runtime_id: runtime for runtime in self._fleet.own()}
        found = (
            (event, own[event.subject])
            for event in events
            if event.subject in own and event.data["source"] not in SEEN_FROM_AFAR
        )
        return [_message(Heard(cursor=event.cursor, said=_signal(runtime, event.data))) for event, runtime in found]

    def _standing(self) -> Iterable[Said]:
        for runtime in self._fleet.own():
            for claim in self._fleet.claims(runtime.runtime_id):
                if claim.source not in SEEN_FROM_AFAR:
                    yield _said(runtime, claim.source, claim.at, claim)


def _signal(runtime: Runtime, data: Mapping[str, Any]) -> Said:
    claim = data["claim"] and Claim(**data["claim"])
    return _said(runtime, data["source"], data["event_time"], claim)


def _said(runtime: Runtime, source: str, at: float, claim: Claim | None) -> Said:
    return Said(
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
