"""What an event makes of an item."""

from __future__ import annotations

from itertools import count
from typing import Any

from covey.attention.item import Change, Item, changed
from covey.kernel.events.event import Event

NUMBERS = count(1)


def event(kind: str, key: str = "beat:/x", **data: Any) -> Event:
    number = next(NUMBERS)
    return Event(number, f"ID{number}", 1000.0 + number, f"attention.{kind}", key, data, "beats")


def opened(**data: Any) -> Item:
    change = changed(None, event("asked", **data))
    assert isinstance(change, Change)
    assert change.kind == "attention.opened"
    return change.item


def test_what_is_asked_first_opens_an_item_named_after_the_event() -> None:
    asked = event("asked", title="tests fail", detail="3 of 7", beat="nightly", run="R1")
    change = changed(None, asked)
    assert change is not None
    item = change.item
    assert (item.id, item.key, item.source, item.title, item.detail) == (
        asked.id,
        "beat:/x",
        "beats",
        "tests fail",
        "3 of 7",
    )
    assert (item.data, item.times, item.opened_at, item.closed_at) == (
        {"beat": "nightly", "run": "R1"},
        1,
        asked.time,
        None,
    )


def test_asked_again_it_is_the_same_item_and_only_a_new_text_is_news() -> None:
    item = opened(title="a", detail="b", run="R1")
    again = changed(item, event("asked", title="a", detail="b", run="R2"))
    assert again is not None
    assert (again.kind, again.item.id, again.item.times, again.item.data) == (None, item.id, 2, {"run": "R2"})
    newer = changed(again.item, event("asked", title="a", detail="c"))
    assert newer is not None
    assert (newer.kind, newer.item.times, newer.item.detail) == ("attention.changed", 3, "c")
    assert newer.item.opened_at == item.opened_at < newer.item.updated_at


def test_a_correction_of_the_same_question_changes_the_text_and_does_not_count() -> None:
    item = opened(title="asks for approval", ref="old")
    change = changed(item, event("asked", title="asks for approval: make", ref="new", same_question=True))
    assert change is not None
    assert (change.kind, change.item.title, change.item.times) == ("attention.changed", "asks for approval: make", 1)
    assert change.item.data == {"ref": "new"}


def test_the_same_request_counts_once_however_often_it_is_repeated() -> None:
    item = opened(title="a", request_id="R1")
    assert changed(item, event("asked", title="a", request_id="R1")) is None
    other = changed(item, event("asked", title="a", request_id="R2"))
    assert other is not None
    assert other.item.times == 2


def test_what_is_settled_is_closed_and_what_was_never_asked_stays_nothing() -> None:
    change = changed(opened(title="a"), event("settled", why="the last run was ok"))
    assert change is not None
    assert (change.kind, change.item.closed_why) == ("attention.closed", "the last run was ok")
    assert change.item.closed_at is not None
    assert changed(None, event("settled", why="x")) is None


def test_nonsense_is_made_into_something_that_can_be_shown_or_into_nothing() -> None:
    item = opened(title="a\x00b\ud800\x1b[31m\n c" + "x" * 500, detail=None, big="y" * 100_000)
    assert item.title.startswith(r"a\x00b\ud800\x1b[31m cxx")
    assert item.title.endswith("x… (322 more characters)")
    assert len(item.title) <= 200
    assert (item.detail, item.data) == ("", {})
    assert opened(title=["no", "text"]).title == "['no', 'text']"
    assert opened().title == "beat:/x"
    assert opened(detail="one\r\ntwo\x07").detail == "one\ntwo\\x07"
    assert changed(None, event("asked", key="", title="whose?")) is None
    assert changed(None, event("asked", key="k" * 10_000, title="too long")) is None
    closed = changed(opened(title="a"), event("settled"))
    assert closed is not None
    assert closed.item.closed_why == ""
