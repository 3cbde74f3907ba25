"""One thing that needs a person, and what becomes of it when an event speaks of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from covey.kernel.clock import timestamp
from covey.kernel.event import encode

if TYPE_CHECKING:
    from covey.kernel.event import Event

ASKED, SETTLED = "attention.asked", "attention.settled"
"""What others say: the subject is the key of a matter, so that asking twice is asking once. `title` and `detail` are for people; `why` it is settled too.

Whatever else is to be in the queue emits these two, and nothing here has to know it. An asker whose `settled_by` is `asker` settles its items itself:
nobody else can put them away while it still asks, so that the queue never says less than the asker does.
"""
SETTLED_BY, ASKER = "settled_by", "asker"
SAME_QUESTION = "same_question"
"""True in the data of an `attention.asked` that corrects the text of the last one: it is not counted as another time."""
OPENED, CHANGED, CLOSED = "attention.opened", "attention.changed", "attention.closed"
"""What the queue says."""
TITLE_CHARACTERS, DETAIL_CHARACTERS = 200, 4000
KEY_CHARACTERS = 8192
DATA_BYTES = 64 * 1024


class Item(Struct, frozen=True, kw_only=True):
    """`id` is the id of the event that opened it: an event that is heard twice opens one item."""

    id: str
    key: str
    source: str
    title: str
    detail: str
    data: dict[str, Any]
    """What else the asker had to say: `beat`, `run`."""
    opened_at: float
    updated_at: float
    times: int = 1
    """How often it was asked."""
    closed_at: float | None = None
    closed_why: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As the contract has it, without its age."""
        closed = None if self.closed_at is None else timestamp(self.closed_at)
        return {
            **asdict(self),
            "opened_at": timestamp(self.opened_at),
            "updated_at": timestamp(self.updated_at),
            "closed_at": closed,
        }


class Change(NamedTuple):
    """What an item has become, and the kind of event that tells of it; none if it is only a repetition."""

    item: Item
    kind: str


def heard(before: Item | None, event: Event) -> Change | None:
    """What an event makes of the open item of its key; None if nothing."""
    if event.kind == SETTLED:
        return None if before is None else closed(before, event.time, _line(event.data.get("why"), TITLE_CHARACTERS))
    asked = _asked(event)
    if asked is None:
        return None
    if before is None:
        return Change(asked, OPENED)
    if asked.id == before.id or (asked.data.get("run") and asked.data["run"] == before.data.get("run")):
        return None  # whoever asked was not sure that it had, after a crash
    times = before.times if event.data.get(SAME_QUESTION) is True else before.times + 1
    item = replace(
        before, title=asked.title, detail=asked.detail, data=asked.data, updated_at=asked.updated_at, times=times
    )
    return Change(item, CHANGED if (item.title, item.detail) != (before.title, before.detail) else "")


def closed(item: Item, now: float, why: str) -> Change:
    return Change(replace(item, closed_at=now, closed_why=why), CLOSED)


def _asked(event: Event) -> Item | None:
    """The item that an event asks for; None if it names no matter."""
    if not event.subject or len(event.subject) > KEY_CHARACTERS:
        return None
    rest = {name: value for name, value in event.data.items() if name not in {"title", "detail", SAME_QUESTION}}
    return Item(
        id=event.id,
        key=event.subject,
        source=event.source,
        title=_line(event.data.get("title"), TITLE_CHARACTERS) or _line(event.subject, TITLE_CHARACTERS),
        detail=_text(event.data.get("detail"), DETAIL_CHARACTERS),
        data=rest if len(encode(rest)) <= DATA_BYTES else {},
        opened_at=event.time,
        updated_at=event.time,
    )


def _line(value: object, most: int) -> str:
    return " ".join(_text(value, most).split())


def _text(value: object, most: int) -> str:
    """Text that a database, a program's environment and a terminal can take: models and file names have chosen it."""
    text = ("" if value is None else str(value)).encode("utf-8", "replace").decode()
    shown = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text).strip()
    return shown if len(shown) <= most else shown[: most - 1] + "…"
