from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.kernel.events.event import Event, Kinds
from covey.kernel.events.events import Events, FutureCursorError, SlowReader, Subscription
from covey.kernel.store.store import Store
from tests.covey.kernel.test_events import LIMIT_S, SCHEMA, cursors, open_events
from tests.covey.kinds import kind


async def read(subscription: Subscription, count: int) -> list[int]:
    return [(await anext(subscription)).cursor for _ in range(count)]


async def fill(events: Events, count: int, name: str = "n") -> None:
    await asyncio.gather(*(events.append(kind(name)) for _ in range(count)))


async def test_without_a_cursor_only_what_comes_is_seen(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        await fill(events, 3)
        listener = events.subscribe()
        assert (events.subscribers, listener.cursor) == (1, 3)
        await fill(events, 2)
        assert await read(listener, 2) == [4, 5]
        assert listener.cursor == 5
        await listener.aclose()
        assert events.subscribers == 0


async def test_with_a_cursor_history_flows_into_what_comes(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        await fill(events, 1000)  # several pages
        async with events.subscribe(since=10) as listener:
            assert await read(listener, 500) == list(range(11, 511))
            await fill(events, 5)
            assert await read(listener, 495) == list(range(511, 1006))
            assert listener.gap is None
            await fill(events, 1)
            assert await read(listener, 1) == [1006]


class LateEvents(Events):
    """The moment between commit and publication, made long."""

    def _publish(self, event: Event) -> None:
        self.held = [*getattr(self, "held", []), event]

    def release(self) -> None:
        for event in self.held:
            super()._publish(event)
        self.held = []


async def test_an_event_that_is_committed_but_not_yet_published_comes_once(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (_, store, clock):
        events = await LateEvents.open(store, clock=clock)
        await fill(events, 3)
        async with events.subscribe(since=1) as early, events.subscribe() as live:
            assert (events.cursor, await read(early, 2)) == (0, [2, 3])
            async with events.subscribe(since=early.cursor):  # what was read may be resumed from, published or not
                pass
            events.release()
            await fill(events, 2)
            events.release()
            assert await read(early, 2) == [4, 5]
            assert await early.take(timeout_s=0) == []
            assert await read(live, 5) == [1, 2, 3, 4, 5]


async def test_only_the_wanted_kinds_come_from_the_journal_and_from_the_bus(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):

        async def some() -> None:
            for name in ("fleet.state", "beat", "fleet", "fleet.x.y"):
                await events.append(kind(name))

        await some()
        async with events.subscribe(since=0, kinds=["fleet.*", "beat"]) as listener:
            await some()
            assert await read(listener, 6) == [1, 2, 4, 5, 6, 8]


async def test_a_listener_for_rare_kinds_catches_up_although_nothing_matches(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        await fill(events, 700)
        async with events.subscribe(since=0, kinds=["rare"]) as listener:
            assert await listener.take(timeout_s=0) == []
            await fill(events, 3)
            await events.append(kind("rare"))
            assert await read(listener, 1) == [704]


async def test_everything_that_is_there_is_taken_at_once(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __), events.subscribe() as listener:
        await fill(events, 50)
        assert cursors(await listener.take()) == list(range(1, 51))
        waiting = asyncio.ensure_future(listener.take(timeout_s=LIMIT_S))
        await asyncio.sleep(0)
        await fill(events, 1)
        assert cursors(await waiting) == [51]
        assert await listener.take(timeout_s=0.001) == []
        assert not listener.closed


async def test_a_slow_reader_is_sent_away_and_resumes_where_it_was(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        await fill(events, 5)
        slow = events.subscribe(since=0, queue=10)
        async with slow, events.subscribe(queue=1000) as quick:
            assert await read(slow, 2) == [1, 2]
            await fill(events, 11)
            assert events.subscribers == 1
            assert cursors(await slow.take()) == [3, 4, 5]
            with pytest.raises(SlowReader, match="10 events behind") as caught:
                await anext(slow)
            assert caught.value.cursor == slow.cursor == 5
            assert "5" in caught.value.suggestion
            assert slow.closed
            assert await read(quick, 11) == list(range(6, 17))
        async with events.subscribe(since=caught.value.cursor) as resumed:
            assert await read(resumed, 11) == list(range(6, 17))


async def test_a_reader_that_is_nobody_is_dropped(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        for _turn in range(10):
            events.subscribe(queue=5)
        await fill(events, 6)
        assert events.subscribers == 0


async def test_a_cursor_from_the_future_is_an_error_before_anything_is_sent(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        await fill(events, 3)
        with pytest.raises(FutureCursorError, match="newest event, 3") as caught:
            await events.subscribe(since=4).__aenter__()
        assert caught.value.envelope()["field"] == "since"
        with pytest.raises(FutureCursorError):
            await anext(events.subscribe(since=2**53))
        async with events.subscribe(since=3) as listener:
            await fill(events, 1)
            assert await read(listener, 1) == [4]
        assert events.subscribers == 0


async def test_what_is_no_longer_kept_is_named_as_a_gap(tmp_path: Path) -> None:
    async with open_events(tmp_path, max_age_s=50) as (events, _, clock):
        await fill(events, 10)
        clock.now += 100
        await fill(events, 5)
        await events.prune()
        for since, gap, first in (
            (0, (1, 10), 11),
            (4, (5, 10), 11),
            (9, (10, 10), 11),
            (10, None, 11),
            (12, None, 13),
            (-3, (1, 10), 11),
        ):
            async with events.subscribe(since=since) as listener:
                assert listener.gap == gap
                assert await read(listener, 1) == [first]
        clock.now += 100
        await events.prune()
        async with events.subscribe(since=7) as listener:
            assert listener.gap == (8, 15)
            await fill(events, 1)
            assert await read(listener, 1) == [16]
        async with events.subscribe(since=16) as listener:
            assert listener.gap is None


async def test_a_replay_that_is_overtaken_by_pruning_ends_rather_than_skips(tmp_path: Path) -> None:
    async with open_events(tmp_path, max_age_s=50) as (events, _, clock):
        await fill(events, 1000)
        async with events.subscribe(since=0) as listener:
            assert await read(listener, 10) == list(range(1, 11))
            clock.now += 100
            await fill(events, 1)
            await events.prune()
            seen: list[int] = []

            async def go_on() -> None:
                while True:
                    seen.extend(await read(listener, 1))

            with pytest.raises(SlowReader, match="pruned") as caught:
                await go_on()
            assert seen == list(range(11, caught.value.cursor + 1))
        async with events.subscribe(since=caught.value.cursor) as resumed:
            assert resumed.gap == (caught.value.cursor + 1, 1000)
            assert await read(resumed, 1) == [1001]


async def test_closing_ends_the_iteration_also_of_a_reader_that_waits(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):

        async def collect(listener: Subscription, third: asyncio.Event) -> list[int]:
            seen = []
            async for event in listener:
                seen.append(event.cursor)
                if len(seen) == 3:
                    third.set()
            return seen

        listeners = [events.subscribe(), events.subscribe(since=0)]
        thirds = [asyncio.Event() for _ in listeners]
        collecting = [asyncio.ensure_future(collect(*pair)) for pair in zip(listeners, thirds, strict=True)]
        await fill(events, 3)
        for third in thirds:
            await third.wait()
        await events.aclose()
        assert await asyncio.gather(*collecting) == [[1, 2, 3]] * 2
        assert await listeners[0].take() == []


async def test_a_replay_that_outlives_the_events_ends_with_the_journal(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        await fill(events, 600)
        async with events.subscribe(since=0) as listener:
            await events.aclose()
            assert [event.cursor async for event in listener] == list(range(1, 601))
        assert await events.subscribe().take() == []
        assert events.subscribers == 0


async def test_a_cancelled_wait_loses_no_event(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):
        await fill(events, 600)
        async with events.subscribe(since=0) as listener:
            seen: list[int] = []
            for turn in range(500):
                if turn % 10 == 0:
                    await events.append(kind("n"))
                waiting = asyncio.ensure_future(listener.take())
                for _turn in range(turn % 5):
                    await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.wait({waiting})
                seen += [] if waiting.cancelled() else cursors(waiting.result())
            while len(seen) < 650:
                seen += cursors(await listener.take())
            assert seen == list(range(1, 651))


async def test_a_thousand_listeners_get_every_event_as_the_same_bytes(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __):

        async def listen(listener: Subscription) -> list[Event]:
            seen: list[Event] = []
            while len(seen) < 50:
                seen += await listener.take()
            return seen

        listening = [asyncio.ensure_future(listen(events.subscribe())) for _ in range(1000)]
        await asyncio.sleep(0)
        sent = [await events.append(kind("n"), str(n)) for n in range(50)]
        received = await asyncio.gather(*listening)
        assert all(seen == sent for seen in received)
        assert all(one is two and one.sse is two.sse for seen in received for one, two in zip(seen, sent, strict=True))


async def test_two_readers_of_one_subscription_are_refused(tmp_path: Path) -> None:
    async with open_events(tmp_path) as (events, _, __), events.subscribe() as listener:
        first = asyncio.ensure_future(listener.take())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="one reader"):
            await listener.take()
        event = await events.append(kind("n"))
        assert await first == [event]


class Reader:
    """A client that keeps what it got, loses its connection, and resumes by cursor."""

    def __init__(self, events: Events, since: int | None, kinds: tuple[str, ...], queue: int) -> None:
        self.events, self.kinds, self.queue = events, kinds, queue
        self.start = events.cursor if since is None else since
        self.got: list[Event] = []
        self.subscription = events.subscribe(since=since, kinds=kinds, queue=queue)

    async def read(self, *, cancel_after: int | None = None) -> None:
        """Take what is there; with `cancel_after`, give up after so many turns of the loop."""
        reading = asyncio.ensure_future(self.subscription.take(timeout_s=None if cancel_after is not None else 0))
        if cancel_after is not None:
            for _ in range(cancel_after):
                await asyncio.sleep(0)
            reading.cancel()
        await asyncio.wait({reading})
        if reading.cancelled():
            return
        error = reading.exception()
        if error is None:
            self.got += reading.result()
        else:
            assert isinstance(error, SlowReader)
            assert error.cursor == self.cursor or not self.got
            await self.resume()

    async def resume(self) -> None:
        await self.subscription.aclose()
        self.subscription = self.events.subscribe(since=self.cursor, kinds=self.kinds, queue=self.queue)

    @property
    def cursor(self) -> int:
        return self.got[-1].cursor if self.got else self.start


KINDS = ("a", "b.x", "b.y", "c")
WANTED: list[tuple[str, ...]] = [(), ("a",), ("b.*",), ("a", "b."), ("b.x", "c")]
STEPS = st.one_of(
    st.tuples(st.just("append"), st.lists(st.sampled_from(KINDS), min_size=4, max_size=20)),
    st.tuples(st.just("append and go"), st.tuples(st.sampled_from(KINDS), st.integers(1, 8))),
    st.tuples(
        st.just("subscribe"), st.tuples(st.floats(0, 1) | st.none(), st.sampled_from(WANTED), st.integers(1, 12))
    ),
    st.tuples(st.just("read"), st.integers(0, 9)),
    st.tuples(st.just("read and give up"), st.tuples(st.integers(0, 9), st.integers(0, 6))),
    st.tuples(st.just("resume"), st.integers(0, 9)),
    st.tuples(st.just("turn"), st.integers(1, 5)),
)


class Game:
    """Appends, subscriptions, disconnections and resumptions in any order."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.readers: list[Reader] = []
        self.appending: list[asyncio.Future[Any]] = []

    async def step(self, name: str, value: Any) -> None:
        match name:
            case "append":
                self.appending += [asyncio.ensure_future(self.events.append(kind(name))) for name in value]
            case "append and go":
                name, turns = value
                self.appending.append(asyncio.ensure_future(self.events.append(kind(name))))
                for _ in range(turns):
                    await asyncio.sleep(0)
                self.appending[-1].cancel()
            case "subscribe":
                part, kinds, queue = value
                self.readers.append(
                    Reader(self.events, None if part is None else int(part * self.events.cursor), kinds, queue)
                )
            case "turn":
                for _ in range(value):
                    await asyncio.sleep(0)
            case _ if self.readers:
                await self.step_of_reader(name, value)

    async def step_of_reader(self, name: str, value: Any) -> None:
        number, turns = value if isinstance(value, tuple) else (value, None)
        reader = self.readers[number % len(self.readers)]
        await (reader.resume() if name == "resume" else reader.read(cancel_after=turns))

    async def end(self) -> None:
        """Every reader comes to have exactly what it asked for."""
        await asyncio.gather(*self.appending, return_exceptions=True)
        last = await self.events.append(kind("a"))
        journal = await self.events.history(limit=10_000)
        assert cursors(journal) == list(range(1, last.cursor + 1))
        for reader in self.readers:
            kinds = Kinds(reader.kinds)
            wanted = [event for event in journal if event.cursor > reader.start and kinds.match(event.kind)]
            for _ in range(1000):
                if len(reader.got) >= len(wanted):
                    break
                await reader.read()
            assert reader.got == wanted
            assert await reader.subscription.take(timeout_s=0) == []


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(STEPS, min_size=8, max_size=50))
def test_every_reader_gets_exactly_the_journal_in_order_whatever_happens_meanwhile(
    steps: list[tuple[str, Any]],
) -> None:
    async def main() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with (
                asyncio.timeout(LIMIT_S),
                await Store.open(Path(folder) / "a.db", SCHEMA, fsync="off", capacity=8) as store,
            ):
                events = await Events.open(store, clock=lambda: 1.0)
                game = Game(events)
                for name, value in steps:
                    await game.step(name, value)
                await game.end()
                await events.aclose()

    asyncio.run(main())
