"""The fleet as a person likes to see it: calm, aligned, few colours with meaning, and nothing that wraps."""

from __future__ import annotations

from covey.cli.agents_table import Names, age, least_place, places, table_of, version
from covey.cli.cells import clean, cut, hanging, padded, width, wrapped
from covey.cli.render import duration, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

RED, YELLOW, BLUE, DIM, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[94m", "\x1b[2m", "\x1b[0m"
"""Bright blue: the plain one cannot be read on black."""
SIGNS = {
    "error": ("✗", RED),
    "waiting_approval": ("▲", YELLOW),
    "waiting_input": ("▲", YELLOW),
    "running": ("●", BLUE),
    "completed": ("○", ""),
    "idle": ("○", DIM),
    "unknown": ("?", DIM),
}
GAP = "  "
LEAST_WHAT = 16
"""Cells that the last column keeps when the others are long."""
LEAST_QUESTION = 22
"""The same for agents, whose last column is what a person has to judge."""
LEAST = 4
"""Cells that any column keeps where even that is too much."""


class Paint:
    """How to draw: how wide, with colour or without, and with every column (`wide`) or those that fit."""

    def __init__(self, columns: int, *, colour: bool, wide: bool = False) -> None:
        self.columns = columns
        self.colour = colour
        self.wide = wide

    def __call__(self, text: str, colour: str) -> str:
        return f"{colour}{text}{PLAIN}" if self.colour and colour and text else text


def panes(result: dict[str, Any], paint: Paint) -> str:
    """The table of agents, and a line that sums it up."""
    if not result["items"]:
        return nobody(result)
    return "\n".join([*agents(result, paint), "", total(result, paint)])


def agents(result: dict[str, Any], paint: Paint) -> list[str]:
    """The table of agents alone."""
    head, rows = table_of(result, paint.columns, wide=paint.wide)
    where_ = head.index("WHERE")
    signs = [SIGNS[item["state"]] for item in result["items"]]
    shortest = {"WHERE": least_place([row[where_] for row in rows])}
    sizes = sizes_of(head, rows, paint.columns, least=LEAST_QUESTION, yielding=("FOLDER", "AGENT"), shortest=shortest)
    for row, place in zip(rows, places([row[where_] for row in rows], sizes[where_]), strict=True):
        row[where_] = place
    return lines_of(head, rows, signs, paint, sizes)


def windows(result: dict[str, Any], paint: Paint) -> str:
    """One line for each window: its top state, and how many wait and run."""
    items = result["items"]
    if not items:
        return nobody(result)
    rows, signs, names = [], [], Names(result)
    for item in items:
        place = f"{names.window(item)}  {clean(item['window_name'])}".rstrip()
        rows.append([item["top_state"], place, age(item["age_ms"]), *_counts(item)])
        signs.append(SIGNS[item["top_state"]])
        for agent in item.get("agents", ()):
            rows.append(
                [agent["state"], GAP + clean(f"{agent['pane_id']} {agent['agent']}"), age(agent["age_ms"]), "", "", ""]
            )
            signs.append((" ", SIGNS[agent["state"]][1]))
    body = table(["STATE", "WINDOW", "FOR", "AGENTS", "WAITING", "RUNNING"], rows, signs, paint)
    return "\n".join([*body, "", total(result, paint)])


def sessions(result: dict[str, Any], paint: Paint) -> str:
    """One line for each session; where sessions of several targets are merged, one below it for each target."""
    items = result["items"]
    if not items:
        return nobody(result)
    rows, signs, names = [], [], Names(result)
    for item in items:
        identity, top = item["identity"], item["top_state"]
        rows.append([top, names.session(item), age(item["age_ms"]), *_counts(item)])
        signs.append(SIGNS[top])
        parts = [("target", part) for part in item["targets"] if identity["target"] is None]
        for key, part in [*parts, *(("agent", part) for part in item.get("agents", ()))]:
            rows.append([part["top_state"], GAP + clean(part[key]), age(part["age_ms"]), *_counts(part)])
            signs.append((" ", SIGNS[part["top_state"]][1]))
    body = table(["STATE", "SESSION", "FOR", "AGENTS", "WAITING", "RUNNING"], rows, signs, paint)
    return "\n".join([*body, "", total(result, paint)])


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    signs: Sequence[tuple[str, str]],
    paint: Paint,
    *,
    wrap: bool = False,
) -> list[str]:
    """Aligned lines that fit the terminal; with `wrap` the last column is not cut, and a row that needs several lines has them all in one text."""
    return lines_of(head, rows, signs, paint, sizes_of(head, rows, paint.columns), wrap=wrap)


def sizes_of(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: int,
    *,
    least: int = LEAST_WHAT,
    yielding: Sequence[str] = (),
    shortest: Mapping[str, int] | None = None,
) -> list[int]:
    """The cells of each column: the last one takes what is left, at least `least` cells, and others give way to it.

    The columns named in `yielding` are shortened before the others, of those the widest first; the first column, a state or a name, last.
    Those named in `shortest` keep so many cells as long as the table fits the terminal at all.
    """
    sizes = [max(width(row[column]) for row in [head, *rows]) for column in range(len(head))]
    room = columns - 2 - len(GAP) * (len(head) - 1) - sum(sizes[:-1])
    wanted = min(sizes[-1], least)
    widest = sorted(range(1, len(head) - 1), key=lambda column: (head[column] not in yielding, -sizes[column]))
    kept = {column: (shortest or {}).get(head[column], max(len(head[column]) + 2, LEAST + 1)) for column in widest}
    gives = [(column, kept[column], wanted) for column in widest] + [(column, LEAST, 0) for column in (*widest, 0)]
    for column, fewest, needed in gives:
        given = max(min(needed - room, sizes[column] - fewest), 0)
        sizes[column] -= given
        room += given
    sizes[-1] = max(room, 0)
    return sizes


def lines_of(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    signs: Sequence[tuple[str, str]],
    paint: Paint,
    sizes: Sequence[int],
    *,
    wrap: bool = False,
) -> list[str]:
    """The head and the rows of a table, aligned by the sizes of its columns; for `wrap` see `table`."""
    margin = " " * (2 + sum(sizes[:-1]) + len(GAP) * (len(head) - 1))
    lines = [paint(f"  {_cells(head, sizes)}".rstrip(), DIM)]
    for (sign, colour), row in zip(signs, rows, strict=True):
        first = f"{paint(sign, colour)} {paint(padded(row[0], sizes[0]), colour)}"
        last, *more = wrapped(row[-1], max(sizes[-1], 1)) if wrap else [row[-1]]
        line = f"{first}{GAP}{_cells([*row[1:-1], last], sizes[1:])}".rstrip()
        lines.append("\n".join([line, *(margin + text for text in more)]))
    return lines


def total(result: dict[str, Any], paint: Paint, *, hint: bool = True) -> str:
    """`6 agents on 4 targets · 2 need you · vm3 is down`, and what to type next."""
    counts, items = result["summary"], result["items"]
    agents_of = [bool(count) for count in counts["by_target"].values()]
    where_ = f" on {many(sum(agents_of), 'target')}" if len(agents_of) > 1 else ""
    parts = [f"{many(counts['total'], 'agent')}{where_}"]
    if counts["needs_action"]:
        parts.append(f"{counts['needs_action']} need{'s' if counts['needs_action'] == 1 else ''} you")
    troubled = [target for target in result["targets"] if target["health"] != "ok"]
    each = [f"{clean(target['target'])} is {target['health']}" for target in troubled]
    waiting = next((item for item in items if hint and item["needs_action"] and "runtime_id" in item), None)
    next_ = f"covey why {Names(result).reference(items, waiting, paint.columns)}" if waiting else ""
    line, brief = " · ".join([*parts, *each]), " · ".join([*parts, f"{len(each)} targets not ok"])
    room = paint.columns - (width(next_) + 2 if next_ else 0)
    if width(line) > room and len(each) > 1:
        line = brief
    if width(line) > room:
        return cut(line, paint.columns)
    return f"{line}{' ' * (paint.columns - width(line) - width(next_))}{paint(next_, DIM)}" if next_ else line


def nobody(result: dict[str, Any]) -> str:
    """Nothing to show: where we looked, and how to have something to see."""
    asked = {name.replace("_", "-"): value for name, value in result["filters"].items() if value}
    if asked:
        words = ", ".join(
            f"--{name}" + ("" if value is True else f" {clean(' '.join(value) if isinstance(value, list) else value)}")
            for name, value in asked.items()
        )
        return f"No agent matches {words}\n  covey ps  shows all of them"
    if not result["targets"]:
        return "No machine is watched\n  this one  covey target add host --kind local\n  another   covey target add NAME --kind ssh"
    lines = ["No agents yet"]
    for target in result["targets"]:
        seen = ", ".join(short(clean(socket)) for socket in target["sockets"]) or "no tmux server found"
        state = "" if target["health"] == "ok" else f" ({target['health']}: {clean(target['reason'])})"
        lines.append(f"  looked at  {clean(target['target'])}{state}: {seen}")
    lines += ["  start one  tmux new-session -s work claude", "  then       covey ps"]
    if any(not target["sockets"] for target in result["targets"]):
        lines += ["  not found  servers of tmux -S elsewhere: covey config set fleet.sockets PATH"]
    return "\n".join([*lines, "  not seen   agents behind ssh in a pane: covey target add NAME --kind ssh"])


def why(result: dict[str, Any], paint: Paint) -> str:
    """The state, what decided it, what agrees, what was overruled, and what would change it."""
    item = result["item"]
    since = clock_of(item["since"])
    said = [f", {item['confidence']} confidence", f", since {since}", f" ({ago(item['age_ms'])})"]
    while said and width(item["state"] + "".join(said)) > paint.columns:
        said.pop()
    head = paint(item["state"], SIGNS[item["state"]][1]) + "".join(said)
    told = [("because", claim) for claim in [result["because"]] if claim]
    told += [("agrees", claim) for claim in result["agrees"]] + [("overruled", claim) for claim in result["overruled"]]
    rows = [
        (word, clean(claim["evidence"] or claim["source"]), clean(claim["detail"] or claim["state"]), claim)
        for word, claim in told
    ]
    words, first, middle, last = (max((width(text) for text in column), default=0) for column in _columns(rows))
    aligned = 2 + words + first + middle + last + 3 * len(GAP) <= paint.columns
    lines = [head]
    for word, source, detail, claim in rows:
        if aligned:
            lines.append(
                f"  {word:<{words}}{GAP}{padded(source, first)}{GAP}{padded(detail, middle)}{GAP}{ago(claim['age_ms'])}"
            )
        else:  # below each other: what is to be approved must not be cut
            lines += hanging(f"  {word:<{words}} ", f"{source}, {ago(claim['age_ms'])}", paint.columns)
            lines += hanging(f"  {'':<{words}} ", detail, paint.columns)
        if claim.get("why"):
            lines.append(paint(cut(f"  {'':<{words}}{GAP}lost: {clean(claim['why'])}", paint.columns), DIM))
    if not rows:
        lines.append(f"  nobody says anything about it: {item['reason'].replace('_', ' ')}")
    if result["caveat"]:
        lines += hanging(" ", result["caveat"], paint.columns)
    lines += hanging("  would change it:", result["would_change"], paint.columns)
    program = f"{clean(item['agent'])} {version(item)}".rstrip()
    return "\n".join([*lines, cut(f"  {program} in {where(item)}, runtime:{item['runtime_id']}", paint.columns)])


def where(item: dict[str, Any]) -> str:
    """`host/api:2.1  %14`: the two names under which a person finds an agent."""
    identity = item["identity"]
    server = f"@{item['server']}" if item.get("server") else ""
    place = f"{identity['target']}{server}/{identity['session_name']}:{item['window_index']}.{item['pane_index']}"
    return f"{clean(place)}{GAP}{clean(identity['pane_id'])}"


def ago(milliseconds: int) -> str:
    """`0.3s ago`, `1m 4s ago`."""
    return f"{milliseconds / 1000:.1f}s ago" if milliseconds < 10_000 else f"{duration(milliseconds / 1000)} ago"  # noqa: PLR2004 - tenths tell something only here


def _cells(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return GAP.join(padded(cell, size) for cell, size in zip(cells, sizes, strict=True))


def _columns(rows: Sequence[tuple[str, str, str, dict[str, Any]]]) -> list[list[str]]:
    """The texts of `why`, by column."""
    return [
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
        [ago(row[3]["age_ms"]) for row in rows],
    ]


def _counts(item: dict[str, Any]) -> list[str]:
    return [str(item["total"]), str(item["waiting"] or "-"), str(item["running"] or "-")]


def many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def clock_of(stamp: str) -> str:
    """A moment as the clock on the wall showed it; with the day if it was another."""
    import time
    from calendar import timegm

    local, today = time.localtime(timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))), time.localtime()
    return time.strftime("%H:%M:%S" if local[:3] == today[:3] else "%Y-%m-%d %H:%M:%S", local)


RENDERERS: dict[str, Callable[[Any, Paint], str]] = {
    "list.panes": panes,
    "list.windows": windows,
    "list.sessions": sessions,
    "why": why,
}
