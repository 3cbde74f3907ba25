"""The attention subsystem: the handlers of its operations, and what runs while the daemon does."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from covey.attention import doctor, notify
from covey.attention.channels import Channels
from covey.attention.item import ASKER, SETTLED_BY
from covey.attention.queue import MIGRATIONS, Queue
from covey.attention.settings import SETTINGS
from covey.contract.attention import ATTENTION_STATUS, OPERATIONS
from covey.contract.attention_events import EVENTS
from covey.kernel.subsystem import Opened, Subsystem
from covey.kernel.tasks import Tasks
from murli import not_found, user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from covey.attention.item import Item
    from covey.kernel.clock import Clock
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.subsystem import Context

TITLES = 3


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    """Run the queue and the channels while the daemon runs."""
    async with (
        Queue(context.store, context.events, context.clock, context.metrics) as items,
        Tasks(context.clock, context.metrics) as tasks,
    ):
        channels = Channels(items, context)
        tasks.keep("notification channels", channels.live)

        def status() -> dict[str, Any]:
            latest = sorted(items.open.values(), key=lambda item: item.opened_at, reverse=True)
            return {
                "open": len(latest),
                "titles": [item.title for item in latest[:TITLES]],
                **channels.status(),
            }

        context.metrics.gauge("covey_attention_open", "Things that need a person.", lambda: len(items.open))
        yield Opened(AttentionOperations(items, channels, context.clock).handlers(), status)


ATTENTION = Subsystem(
    "attention",
    opened,
    operations=OPERATIONS,
    migrations=(*MIGRATIONS, notify.MIGRATION),
    settings=SETTINGS,
    status=ATTENTION_STATUS,
    events=EVENTS,
    checks=doctor.checks,
    findings=doctor.findings,
)


class AttentionOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, items: Queue, channels: Channels, clock: Clock) -> None:
        self._queue = items
        self._channels = channels
        self._clock = clock

    def handlers(self) -> Mapping[str, Handler]:
        return {"attention.list": self.list, "attention.done": self.done, "attention.test": self.test}

    async def list(self, call: Call) -> dict[str, Any]:
        found = await self._queue.listed(everything=call.params["all"], limit=call.params["limit"])
        return {"items": [self._shown(item) for item in found], "open": len(self._queue.open)}

    async def done(self, call: Call) -> dict[str, Any]:
        item = one_of(await self._queue.find(call.params["item"]), call.params["item"])
        if item.closed_at is None and item.data.get(SETTLED_BY) == ASKER:
            raise user_error(
                f"{item.title} is not settled: only an answer there does that",
                "Answer it where it asks; the item goes away by itself.",
                error="attention_open",
                field="item",
            )
        return self._shown(await self._queue.close(item, "done by hand"))

    async def test(self, _: Call) -> dict[str, Any]:
        return {"items": await self._channels.test()}

    def _shown(self, item: Item) -> dict[str, Any]:
        return {**item.as_dict(), "age_ms": max(int((self._clock.time() - item.opened_at) * 1000), 0)}


def one_of(found: Sequence[Item], asked: str) -> Item:
    """Return the only item that was found. Raises AgentError if there is none, or several."""
    if not asked or not found:
        raise not_found(f"there is no item {asked[:100]!r}", "See what there is with: covey needs", field="item")
    if len(found) > 1:
        raise user_error(
            f"{asked[:100]} is the end of several ids",
            "Give more of it.",
            field="item",
            valid_values=[item.id for item in found],
        )
    return found[0]
