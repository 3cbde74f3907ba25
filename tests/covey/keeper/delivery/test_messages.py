"""Messages that wait, in a real database: none is lost, and what was handed over is known after a crash."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from covey.contract.keeper_events import MESSAGE_ACCEPTED
from covey.keeper.channels.message import Message
from covey.keeper.delivery import messages as module
from covey.keeper.delivery.messages import CLAIMED, MIGRATION, Messages, forget_messages, rename_messages
from covey.kernel.events.events import Events
from covey.kernel.store.store import Store


class Room:
    """A database, its events, and the messages of a session in it as a daemon has them after its start."""

    def __init__(self, store: Store, events: Events) -> None:
        self.store = store
        self.events = events

    async def messages(self, name: str = "api") -> Messages:
        found = Messages(name, self.store, self.events)
        await found.load()
        return found


@contextlib.asynccontextmanager
async def room(folder: Path) -> AsyncIterator[Room]:
    async with await Store.open(folder / "db", [*Events.MIGRATIONS, MIGRATION, CLAIMED]) as store:
        yield Room(store, await Events.open(store, clock=lambda: 1.0))


def message(content: str, channel: str = "telegram") -> Message:
    return Message(channel=channel, content=content, at=5.0, meta={"from": "x"})


async def test_what_came_in_is_there_after_a_restart_in_order(tmp_path: Path) -> None:
    async with room(tmp_path) as one:
        api = await one.messages()
        await api.add([message("one"), message("two\nlines")])
        await api.add([Message(channel="default", claimed="boss", content="three", at=5.0)])
        await api.add([])
        await (await one.messages("web")).add([message("other")])
        events = await one.events.history(kinds=[MESSAGE_ACCEPTED])
        assert [(event.subject, event.data["channel"], event.data["messages"]) for event in events] == [
            ("api", "telegram", 2),
            ("api", "default", 1),
            ("web", "telegram", 1),
        ]
    async with room(tmp_path) as again:
        found = await again.messages()
        assert found.waiting == api.waiting
        assert [one.content for one in found.waiting] == ["one", "two\nlines", "three"]
        assert [one.claimed for one in found.waiting] == ["", "", "boss"]
        assert (found.attempt, found.attempted) == ("", [])


async def test_what_was_handed_over_is_known_to_the_next_daemon(tmp_path: Path) -> None:
    async with room(tmp_path) as one:
        api = await one.messages()
        await api.add([message("one"), message("two"), message("three")])
        batch = api.waiting[:2]
        await api.begin(batch, "key agent")
        assert (api.attempt, api.attempted) == ("key agent", [one.id for one in batch])
        await api.add([message("four")])
    async with room(tmp_path) as again:
        found = await again.messages()
        assert (found.attempt, found.attempted) == ("key agent", [one.id for one in batch])
        assert [one.content for one in found.waiting] == ["one", "two", "three", "four"]


@pytest.mark.parametrize("again", [True, False])
async def test_an_attempt_that_came_to_nothing_is_over(tmp_path: Path, *, again: bool) -> None:
    async with room(tmp_path) as one:
        api = await one.messages()
        await api.add([message("one"), message("two")])
        await api.begin(api.waiting[:1], "key agent")
        await (api.send_again if again else api.take_back)(api.waiting[:1])
        for found in (api, await one.messages()):
            assert (found.attempt, found.attempted) == ("", [])
            assert [(one.content, one.again) for one in found.waiting] == [("one", again), ("two", False)]


async def test_what_the_agent_has_seen_is_gone_for_good(tmp_path: Path) -> None:
    async with room(tmp_path) as one:
        api = await one.messages()
        await api.add([message("one"), message("two"), message("three")])
        batch = api.waiting[:2]
        await api.begin(batch, "key agent")
        await one.store.write(lambda db: api.remove(db, batch))
        api.removed(batch)
        assert api.fewer.is_set()
        for found in (api, await one.messages()):
            assert (found.attempt, [one.content for one in found.waiting]) == ("", ["three"])
        await api.add([message("four")])  # an id is not given twice
        assert len({one.id for one in [*batch, *api.waiting]}) == 4


async def test_a_session_is_full_by_number_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with room(tmp_path) as one:
        api = await one.messages()
        monkeypatch.setattr(module, "MOST", 2)
        await api.add([message("one")])
        found = [api.full]
        await api.add([message("two")])
        found.append(api.full)
        monkeypatch.setattr(module, "MOST", 3)
        found.append(api.full)
        monkeypatch.setattr(module, "MOST_CHARACTERS", 6)
        assert [*found, api.full] == [False, True, False, True]


async def test_messages_follow_a_new_name_and_go_with_their_session(tmp_path: Path) -> None:
    async with room(tmp_path) as one:
        await (await one.messages()).add([message("one"), message("two")])
        await (await one.messages("other")).add([message("three")])
        await one.store.write(lambda db: rename_messages(db, "api", "web"))
        assert [len((await one.messages(name)).waiting) for name in ("api", "web", "other")] == [0, 2, 1]
        assert await one.store.write(lambda db: forget_messages(db, "web")) == 2
        assert [len((await one.messages(name)).waiting) for name in ("web", "other")] == [0, 1]


async def test_a_message_is_stored_once_when_its_transaction_is_done_again(tmp_path: Path) -> None:
    """Writes share a transaction: one that fails has the others done anew."""

    def fails(_: object) -> None:
        raise RuntimeError("no")

    async with room(tmp_path) as one:
        api = await one.messages()
        results = await asyncio.gather(
            *(one.store.write(fails) if number % 3 == 0 else api.add([message(f"m{number}")]) for number in range(60)),
            return_exceptions=True,
        )
        assert sum(isinstance(result, RuntimeError) for result in results) == 20
        assert [result for result in results if result is not None and not isinstance(result, RuntimeError)] == []
        stored = (await one.messages()).waiting
        assert stored == sorted(api.waiting, key=lambda waiting: waiting.id)
        assert len(stored) == 40
