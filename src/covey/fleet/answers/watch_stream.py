"""`watch` inside the daemon: a snapshot, then every change, as a stream that can be resumed.

The subscription begins before the snapshot: a change in between is sent twice, but never missed.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import asdict, replace

from covey.fleet.answers.view import SCHEMA_VERSION, Filters, Row, TargetStatus, age_ms, panes, sessions, windows
from covey.fleet.history.picture import row_of
from covey.fleet.history.record import AGENT_CHANGES
from covey.kernel.clock import timestamp
from covey.kernel.events.event import SlowReader, encode
from covey.kernel.moments import moment, seconds
from covey.kernel.operations.stream import Message, gap, slow
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.events.event import Event
    from covey.kernel.events.events import Events
    from covey.kernel.operations.stream import Batch

HEARTBEAT_S = 15.0
SHORTEST_INTERVAL_S = 0.1
PAGE = 500


class Fleet(Protocol):
    """The rows and targets that are streamed. A change whose event is published is already in the rows."""

    def rows(self) -> Sequence[Row]: ...
    def targets(self) -> Sequence[TargetStatus]: ...


class WatchStream:
    """The stream of one watcher. Wrong parameters raise AgentError before the stream begins."""

    def __init__(
        self, fleet: Fleet, events: Events, clock: Clock, params: Mapping[str, Any], resume_after: int | None = None
    ) -> None:
        self._fleet = fleet
        self._events = events
        self._clock = clock
        self._filters = Filters.of(params, fleet.targets())
        self._scope: str = params["scope"]
        self._once: bool = params["once"]
        self._interval = (
            seconds(params["interval"], "interval", least=SHORTEST_INTERVAL_S) if params["interval"] else None
        )
        self._cursor, self._moment = _since(params["since"], resume_after, clock.time())
        self._shown: dict[str, dict[str, Any]] = {}

    async def batches(self) -> AsyncGenerator[Batch, None]:
        """Yield the changes since the moment that was asked for, a snapshot, and then each change."""
        yield ()
        since = self._cursor if self._moment is None else await self._before(self._moment)
        async with self._events.subscribe(since=since, kinds=AGENT_CHANGES) as subscription:
            if subscription.gap is not None:
                yield (gap(*subscription.gap),)
            while since is not None and (missed := await subscription.take(0.0)):
                if covered := [self._change_line(event, {}) for event in missed if self._covers(event)]:
                    yield covered
            yield (self._snapshot(subscription.cursor),)
            snapshot_at = self._clock.monotonic()
            while not self._once:
                left = HEARTBEAT_S if self._interval is None else snapshot_at + self._interval - self._clock.monotonic()
                try:
                    batch = await subscription.take(min(max(left, 0.0), HEARTBEAT_S))
                except SlowReader as error:
                    yield (slow(error),)
                    return
                if subscription.closed:
                    return
                yield self._changes(batch, subscription.cursor)
                if self._interval is not None and self._clock.monotonic() >= snapshot_at + self._interval:
                    snapshot_at = self._clock.monotonic()
                    yield (self._snapshot(subscription.cursor),)

    async def _before(self, wanted: float) -> int:
        """Return the cursor after which everything happened at `wanted` or later."""
        cursor = 0
        while batch := await self._events.history(since=cursor, kinds=AGENT_CHANGES, limit=PAGE):
            for event in batch:
                if event.time >= wanted:
                    return cursor
                cursor = event.cursor
        return cursor

    def _answer(self) -> dict[str, Any]:
        asked = self._fleet.rows(), self._fleet.targets(), self._filters, self._clock.time()
        if self._scope == "panes":
            return panes(*asked)
        return windows(*asked) if self._scope == "windows" else sessions(*asked)

    def _snapshot(self, cursor: int) -> Message:
        answer = self._answer()
        self._shown = {_key(item): _lasting(item) for item in answer["items"]}
        return self._line("snapshot", cursor, answer, answer["items"])

    def _changes(self, batch: Sequence[Event], cursor: int) -> Batch:
        """Return the messages for a batch of events in this scope."""
        batch = [event for event in batch if self._covers(event)]
        if not batch:
            return ()
        answer = self._answer()
        if self._scope == "panes":
            return [self._change_line(event, answer) for event in batch]
        shown = {_key(item): _lasting(item) for item in answer["items"]}
        changed = [item for item in answer["items"] if self._shown.get(_key(item)) != _lasting(item)]
        gone = [item for key, item in self._shown.items() if key not in shown]
        self._shown = shown
        return [
            self._line(event, cursor, answer, items) for event, items in (("changed", changed), ("gone", gone)) if items
        ]

    def _change_line(self, event: Event, answer: Mapping[str, Any]) -> Message:
        """Return the message for an event about one agent; one of the past has an empty `answer`, so no summary."""
        item, previous = item_of(event, self._clock.time())
        return self._line(event.kind, event.cursor, answer, [item], previous, event.time)

    def _covers(self, event: Event) -> bool:
        """Return whether an event is about an agent that matches the filters, or matched them before the event."""
        row = row_of(event.data)
        before = replace(row, state=event.data.get("previous") or row.state)
        return self._filters.match(row) or self._filters.match(before)

    def _line(
        self,
        event: str,
        cursor: int,
        answer: Mapping[str, Any],
        items: Iterable[Mapping[str, Any]],
        previous: str | None = None,
        at: float | None = None,
    ) -> Message:
        """Return one message. `at` is when a change happened; without it, the message is about now."""
        data = {
            "schema_version": SCHEMA_VERSION,
            "generated_at": timestamp(self._clock.time() if at is None else at),
            "cursor": cursor,
            "scope": self._scope,
            "filters": asdict(self._filters),
            "event": event,
            "previous": previous,
            "summary": answer.get("summary"),
            "targets": answer.get("targets", []),
            "items": list(items),
        }
        return Message(event, data, cursor)


def item_of(event: Event, now: float) -> tuple[dict[str, Any], str | None]:
    """Return the row that an event carries, with its age, and the state before it."""
    row = {name: value for name, value in event.data.items() if name != "previous"}
    return {**row, "age_ms": age_ms(datetime.fromisoformat(row["since"]).timestamp(), now)}, event.data.get("previous")


def _since(text: str | None, resume_after: int | None, now: float) -> tuple[int | None, float | None]:
    """Return where to begin: after a cursor, at a moment, or (neither) now. Raises AgentError for a bad cursor."""
    if resume_after is not None:
        return resume_after, None
    if not text:
        return None, None
    kind, _, number = text.partition(":")
    if kind == "cursor":
        if not (number.isascii() and number.isdigit() and len(number) <= 16):  # noqa: PLR2004 - as many digits as the journal counts
            raise user_error(
                f"{text[:60]!r} is not a cursor",
                "Write cursor:<number>, with the cursor of the last line you saw.",
                field="since",
            )
        return int(number), None
    return None, moment(text, "since", now)


def _key(item: Mapping[str, Any]) -> str:
    return encode([item["identity"], item.get("socket"), item.get("runtime_id")])


def _lasting(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item without its ages, which change by themselves."""
    targets = [
        {name: value for name, value in target.items() if name != "age_ms"} for target in item.get("targets", ())
    ]
    return {
        **{name: value for name, value in item.items() if name != "age_ms"},
        **({"targets": targets} if targets else {}),
    }
