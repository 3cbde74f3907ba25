"""The events of the attention queue: what asks for a person, and what becomes of it."""

from __future__ import annotations

from covey.contract.attention import ITEM_COMMAND, ITEM_FIELDS, ITEM_KIND
from covey.contract.event_kind import EventKind
from covey.contract.operation import Omittable, shape

RECORDED_ITEM = shape(
    "RecordedAttentionItem",
    **{**ITEM_FIELDS, "kind": Omittable(ITEM_KIND), "command": Omittable(ITEM_COMMAND)},
)
"""Items that were recorded by earlier releases have no kind and no command."""

ATTENTION_ASKED = EventKind(
    "attention.asked",
    "Something needs a person. Asked again under the same key, it is the same item. An item that is `settled_by` its "
    "asker cannot be closed by hand. With `same_question` the text of the last question is corrected, and it does not "
    "count as another one; a question with the `request_id` of the last one is a repetition and is dropped. `kind` "
    "says what it is about, `command` what settles it.",
    subject="key",
    data=shape(
        title="string",
        detail="string",
        kind=Omittable(ITEM_KIND),
        command=Omittable("string"),
        settled_by=Omittable({"type": "string", "enum": ["asker"]}),
        same_question=Omittable("boolean"),
        request_id=Omittable("string"),
    ),
)
ATTENTION_SETTLED = EventKind(
    "attention.settled", "Nobody is needed any more. `why` says it to people.", subject="key", data=shape(why="string")
)
ATTENTION_OPENED = EventKind("attention.opened", "The queue has a new item.", subject="key", data=RECORDED_ITEM)
ATTENTION_CHANGED = EventKind(
    "attention.changed", "The text of an open item is different now.", subject="key", data=RECORDED_ITEM
)
ATTENTION_CLOSED = EventKind(
    "attention.closed", "An item was settled by its asker, or closed by hand.", subject="key", data=RECORDED_ITEM
)

EVENTS = (ATTENTION_ASKED, ATTENTION_SETTLED, ATTENTION_OPENED, ATTENTION_CHANGED, ATTENTION_CLOSED)
