"""The items that need a person, as a list."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hanging, hint, width
from covey.cli.table import table
from covey.cli.text import DIM, YELLOW, Paint, age, many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 1000
"""The largest limit of a list."""
PUT_AWAY = "covey attention done "
WAITING = frozenset(("approval", "question", "error"))
"""The kinds of items in which an agent waits for a person."""
ID_END = 6
"""Characters at the end of an id that identify an item in a list."""


def listed(result: dict[str, Any], paint: Paint) -> str:
    """The table of items, with details below each, and a line that sums it up."""
    items, count = result["items"], result["open"]
    if not items:
        return "Nothing needs you\n  covey needs --all  shows what did"
    rows = [
        [
            item["id"][-ID_END:],
            age(item["age_ms"]),
            f"{item['times']}x" if item["times"] > 1 else "",
            clean(item["title"]),
        ]
        for item in items
    ]
    signs = [("▲", YELLOW) if item["closed_at"] is None else ("○", DIM) for item in items]
    head, *body = table(["ID", "FOR", "", "WHAT"], rows, signs, paint, wrap=True)
    lines = [head]
    for item, row in zip(items, body, strict=True):
        lines += [row, *(paint(line, DIM) for line in _below(item, paint.columns))]
    shown = sum(item["closed_at"] is None for item in items)
    closable = next(
        (item["id"] for item in items if item["closed_at"] is None and item["data"].get("settled_by") != "asker"), ""
    )
    hints = []
    if any(item["closed_at"] is None and item["kind"] in WAITING for item in items):
        hints += hint("covey next", "goes to the first agent that waits", paint.columns)
    if closable:
        hints += hint(f"{PUT_AWAY}{closable[-ID_END:]}", "puts one away", paint.columns)
    if shown < count:
        which = "all" if count <= MOST else "more"
        hints += hint(f"covey needs --limit {min(count, MOST)}", f"shows {which} of them", paint.columns)
    return "\n".join([*lines, "", total(count), *(paint(line, DIM) for line in hints)])


def _below(item: dict[str, Any], columns: int) -> list[str]:
    """Return the details of an item without what its title already says: on one line, or wrapped, never cut."""
    title = clean(item["title"])
    texts = [clean(text) for text in (item["detail"] if item["closed_at"] is None else item["closed_why"]).splitlines()]
    command = clean(item["command"])
    if item["closed_at"] is None and not command.startswith(PUT_AWAY) and not any(command in text for text in texts):
        texts.append(command)
    texts = [text for text in texts if text and not title.endswith(f": {text}")]
    joined = " · ".join(texts)
    if width(joined) + 4 <= columns:
        return [f"    {joined}"] if joined else []
    return [line for text in texts for line in hanging("   ", text, columns)]


def total(count: int) -> str:
    """Return the number of open items, such as `3 things need you`."""
    return f"{many(count, 'thing')} need{'s' if count == 1 else ''} you" if count else "Nothing needs you"


def done(result: dict[str, Any], paint: Paint) -> str:
    """The item that was closed."""
    return cut(
        f"Done: {clean(result['title'])}"
        + (f" ({clean(result['closed_why'])})" if result["closed_why"] != "done by hand" else ""),
        paint.columns,
    )


def tested(result: dict[str, Any], paint: Paint) -> str:
    """What came of a test notification, a line for each channel."""
    if not result["items"]:
        return "No channel is configured: see attention.channel in docs/guide/attention.md"
    return "\n".join(
        paint(f"▲ {clean(one['name'])}: {clean(one['problem'])}", YELLOW)
        if one["problem"]
        else f"○ {clean(one['name'])}: sent"
        for one in result["items"]
    )


def status(result: dict[str, Any], columns: int) -> list[str]:
    """Return the lines of `covey status` about open items and notifications; an empty list if there are none."""
    lines = []
    if result["open"]:
        lines.append(cut(f"attention  {total(result['open'])}: {' · '.join(map(clean, result['titles']))}", columns))
    if result["notify_problem"]:
        lines.append(cut(f"notify     {clean(result['notify_problem'])}", columns))
    return lines
