"""What a channel sends about the items that need a person. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.attention.item import Item

SHOWN = 10
"""Items that a notification lists; it counts all of them."""
TEST: dict[str, Any] = {
    "title": "Covey: a test notification",
    "detail": "You asked for it with: covey attention test",
    "key": "",
    "command": "covey needs",
    "count": 0,
    "items": [],
}


def document(items: Sequence[Item]) -> dict[str, Any]:
    """Return what a channel sends: `title`, `detail`, `key`, `command`, `count`, and the first `items` in full.

    Title, detail, key and command are those of the only item; of several items, they are a summary.
    """
    items = sorted(items, key=lambda item: item.urgency)
    first = [item.as_dict() for item in items[:SHOWN]]
    if len(items) == 1:
        title, detail, key, command = items[0].title, items[0].detail, items[0].key, items[0].command
    else:
        left = len(items) - len(first)
        lines = [item.title for item in items[:SHOWN]] + ([f"and {left} more: covey needs"] if left else [])
        title, detail, key, command = f"{len(items)} things need you", "\n".join(lines), "", "covey needs"
    return {
        "title": title,
        "detail": detail,
        "key": key,
        "command": command,
        "count": len(items),
        "items": first,
    }
