"""One item of the attention queue, and how events change it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from covey.contract.attention import KINDS
from covey.contract.attention_events import ATTENTION_CHANGED, ATTENTION_CLOSED, ATTENTION_OPENED, ATTENTION_SETTLED
from covey.kernel.clock import timestamp
from covey.kernel.events.event import encode
from covey.kernel.visible_text import visible

if TYPE_CHECKING:
    from covey.contract.event_kind import EventKind
    from covey.kernel.events.event import Event

SETTLED_BY, ASKER = "settled_by", "asker"
"""An item that its asker settles cannot be closed by hand: it stays as long as the asker waits."""
SAME_QUESTION = "same_question"
"""Set in an `attention.asked` that corrects the text of the last one; it does not count as another question."""
REQUEST_ID = "request_id"
"""An id that the asker gives to one question, so that it can be asked again after a crash without counting twice."""
OTHER = KINDS[-1]
SHORT_ID = 6
"""Characters at the end of an id that are enough to name an item."""
TITLE_CHARACTERS, DETAIL_CHARACTERS = 200, 4000
KEY_CHARACTERS = 8192
DATA_BYTES = 64 * 1024


class Item(Struct, frozen=True, kw_only=True):
    """Something that needs a person.

    Its id is that of the event that opened it: an event that is handled twice opens one item.
    """

    id: str
    key: str
    source: str
    title: str
    detail: str
    data: dict[str, Any]
    """What else the asker gave, such as `beat` and `run`."""
    opened_at: float
    updated_at: float
    times: int = 1
    """How often it was asked for."""
    closed_at: float | None = None
    closed_why: str = ""

    @property
    def kind(self) -> str:
        """What it is about: one of KINDS."""
        kind = self.data.get("kind")
        return kind if kind in KINDS else OTHER

    @property
    def command(self) -> str:
        """The command that settles it: the asker's, else the one that closes it."""
        return str(self.data.get("command") or f"covey attention done {self.id[-SHORT_ID:]}")

    @property
    def urgency(self) -> tuple[int, float, str]:
        """Its place in the order of a list: the most blocking first, of these the longest waiting."""
        return KINDS.index(self.kind), self.opened_at, self.id

    def as_dict(self) -> dict[str, Any]:
        """Return the item as the contract has it, without its age."""
        return {
            **asdict(self),
            "kind": self.kind,
            "command": self.command,
            "opened_at": timestamp(self.opened_at),
            "updated_at": timestamp(self.updated_at),
            "closed_at": None if self.closed_at is None else timestamp(self.closed_at),
        }


class Change(NamedTuple):
    """An item after a change, and the kind of event that announces it; None for a mere repetition."""

    item: Item
    kind: EventKind | None


def changed(before: Item | None, event: Event) -> Change | None:
    """Return how an event changes the open item of its key; None if it changes nothing."""
    if event.kind == ATTENTION_SETTLED:
        return None if before is None else closed(before, event.time, _line(event.data.get("why"), TITLE_CHARACTERS))
    asked = _asked(event)
    if asked is None:
        return None
    if before is None:
        return Change(asked, ATTENTION_OPENED)
    if _is_repeated(before, asked):
        return None
    times = before.times if event.data.get(SAME_QUESTION) is True else before.times + 1
    item = replace(
        before, title=asked.title, detail=asked.detail, data=asked.data, updated_at=asked.updated_at, times=times
    )
    is_news = (item.title, item.detail) != (before.title, before.detail)
    return Change(item, ATTENTION_CHANGED if is_news else None)


def closed(item: Item, now: float, why: str) -> Change:
    """Return the change that closes an item."""
    return Change(replace(item, closed_at=now, closed_why=why), ATTENTION_CLOSED)


def _is_repeated(before: Item, asked: Item) -> bool:
    """Return whether an asker that was not sure, after a crash, has asked its last question again."""
    request_id = asked.data.get(REQUEST_ID)
    return asked.id == before.id or (bool(request_id) and request_id == before.data.get(REQUEST_ID))


def _asked(event: Event) -> Item | None:
    """Return the item that an event asks for; None if its key is missing or too long."""
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


def _line(value: object, limit: int) -> str:
    return _cut(" ".join(_text(value).split()), limit)


def _text(value: object, limit: int | None = None) -> str:
    """Return text that a database, a program's environment and a terminal accept: models and file names chose it.

    A person decides by it, so what hides in it is spelt out.
    """
    shown = visible("" if value is None else str(value).replace("\r\n", "\n")).strip()
    return shown if limit is None else _cut(shown, limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    missing = f"… ({len(text) - limit:,} more characters)"
    return text[: limit - len(missing)] + missing
