"""Agents, windows and sessions for a person: aligned tables, few colours, no line that wraps."""

from __future__ import annotations

from covey.cli.agents_table import Names, least_place, places, table_of, version
from covey.cli.cells import clean, cut, hanging, hint, padded, width, wrapped
from covey.cli.table import GAP, lines_of, sizes_of, table
from covey.cli.text import BLUE, DIM, RED, YELLOW, Paint, age, ago, clock_of, many, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SIGNS = {
    "error": ("✗", RED),
    "waiting_approval": ("▲", YELLOW),
    "waiting_input": ("▲", YELLOW),
    "running": ("●", BLUE),
    "completed": ("○", ""),
    "idle": ("○", DIM),
    "unknown": ("?", DIM),
}
NO_TARGETS = """\
No machine is watched
  this one  covey target add host --kind local
  another   covey target add NAME --kind ssh"""
LEAST_QUESTION = 22
"""Cells that the last column of agents keeps when the others are long: it is what a person has to judge."""


def panes(result: dict[str, Any], paint: Paint) -> str:
    """The table of agents, and a line that sums it up."""
    if not result["items"]:
        return nobody(result, paint.columns)
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
        return nobody(result, paint.columns)
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
        return nobody(result, paint.columns)
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


def total(result: dict[str, Any], paint: Paint, *, hint: bool = True) -> str:
    """Return a summary such as `6 agents on 4 targets · 2 need you · vm3 is down`, and what to type next."""
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


def nobody(result: dict[str, Any], columns: int) -> str:
    """Return why there is no agent to show: the filters, or where Covey has looked and what to do."""
    asked = {name.replace("_", "-"): value for name, value in result["filters"].items() if value}
    if asked:
        words = ", ".join(
            f"--{name}" + ("" if value is True else f" {clean(' '.join(value) if isinstance(value, list) else value)}")
            for name, value in asked.items()
        )
        return "\n".join(
            [*wrapped(f"No agent matches {words}", columns), *hint("covey ps", "shows all of them", columns)]
        )
    if not result["targets"]:
        return NO_TARGETS
    lines = ["No agents yet"]
    for target in result["targets"]:
        seen = ", ".join(short(clean(socket)) for socket in target["sockets"]) or "no tmux server found"
        state = "" if target["health"] == "ok" else f" ({target['health']}: {clean(target['reason'])})"
        lines += hanging("  looked at ", f"{clean(target['target'])}{state}: {seen}", columns)
    lines += [*hanging("  start one ", "tmux new-session -s work claude", columns), "  then       covey ps"]
    if any(not target["sockets"] for target in result["targets"]):
        elsewhere = "servers of tmux -S elsewhere: covey config set fleet.sockets PATH"
        lines += hanging("  not found ", elsewhere, columns)
    behind_ssh = "agents behind ssh in a pane: covey target add NAME --kind ssh"
    return "\n".join([*lines, *hanging("  not seen  ", behind_ssh, columns)])


def why(result: dict[str, Any], paint: Paint) -> str:
    """The state, what decided it, what agrees, what was overruled, and what would change it."""
    item = result["item"]
    since = clock_of(item["since"])
    parts = [f", {item['confidence']} confidence", f", since {since}", f" ({ago(item['age_ms'])})"]
    while parts and width(item["state"] + "".join(parts)) > paint.columns:
        parts.pop()
    head = paint(item["state"], SIGNS[item["state"]][1]) + "".join(parts)
    claims = [("because", claim) for claim in [result["because"]] if claim]
    claims += [("agrees" if claim["state"] == item["state"] else "fits", claim) for claim in result["agrees"]]
    claims += [("overruled", claim) for claim in result["overruled"]]
    rows = [
        (word, clean(claim["evidence"] or claim["source"]), _said(claim, item["state"]), claim)
        for word, claim in claims
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
        lines.append(f"  no source reports a state: {item['reason'].replace('_', ' ')}")
    if result["caveat"]:
        lines += hanging(" ", result["caveat"], paint.columns)
    lines += hanging("  would change it:", result["would_change"], paint.columns)
    program = f"{clean(item['agent'])} {version(item)}".rstrip()
    return "\n".join([*lines, cut(f"  {program} in {where(item)}, runtime:{item['runtime_id']}", paint.columns)])


def _said(claim: dict[str, Any], state: str) -> str:
    """Return what a source says about an agent; its state too, if the agent is in another one."""
    detail = clean(claim["detail"])
    if claim["state"] == state:
        return detail or clean(claim["state"])
    return f"{clean(claim['state'])}: {detail}" if detail else clean(claim["state"])


def where(item: dict[str, Any]) -> str:
    """Return both names of an agent's pane, such as `host/api:2.1  %14`."""
    identity = item["identity"]
    server = f"@{item['server']}" if item.get("server") else ""
    place = f"{identity['target']}{server}/{identity['session_name']}:{item['window_index']}.{item['pane_index']}"
    return f"{clean(place)}{GAP}{clean(identity['pane_id'])}"


def _columns(rows: Sequence[tuple[str, str, str, dict[str, Any]]]) -> list[list[str]]:
    """Return the texts of `why`, by column."""
    return [
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
        [ago(row[3]["age_ms"]) for row in rows],
    ]


def _counts(item: dict[str, Any]) -> list[str]:
    return [str(item["total"]), str(item["waiting"] or "-"), str(item["running"] or "-")]
