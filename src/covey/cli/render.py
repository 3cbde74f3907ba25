"""Answers as a person likes to read them: the first line answers the question, detail follows."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.contract import Operation


WIDE_PIPE = 200
"""Columns of a wide table that goes into a file or a pager."""
SETTLED_S = 60
"""Before this a share of the processor says more about the start than about the daemon."""


def render(operation: Operation, result: Any, *, colour: bool = False, wide: bool = False) -> str:
    """The text for an operation's result; its fields, one a line, where nothing better is known. `wide` tables have every column."""
    own = RENDERERS.get(operation.name)
    if own:
        return own(result)
    from covey.cli import render_adapters, render_attention, render_beats, render_fleet, render_replay, render_targets

    modules = (render_fleet, render_adapters, render_targets, render_replay, render_beats, render_attention)
    renderers = {name: drawn for module in modules for name, drawn in module.RENDERERS.items()}
    drawn = renderers.get(operation.name)
    room = WIDE_PIPE if wide and not os.isatty(1) else columns()
    return drawn(result, render_fleet.Paint(room, colour=colour, wide=wide)) if drawn else fields(result)


def fields(result: Any) -> str:
    """Any result, readably."""
    if isinstance(result, dict):
        width = max((len(key) for key in result), default=0)
        return "\n".join(f"{key:<{width}}  {_plain(value)}" for key, value in result.items())
    if isinstance(result, list):
        return "\n".join(_plain(item) for item in result)
    return _plain(result).rstrip("\n")


def status(result: dict[str, Any]) -> str:
    up, used = result["uptime_s"], result["cpu_seconds"]
    cpu = f"{100 * used / up:.1f} % CPU" if up > SETTLED_S else f"{used:.1f} s CPU"
    lines = [f"covey {result['version']} · up {duration(up)} · {result['rss_bytes'] / 1e6:.0f} MB · {cpu}"]
    lines.append(
        f"home       {short(result['home'])} · pid {result['pid']}"
        + (f" · TCP port {result['tcp_port']}" if result["tcp_port"] else "")
    )
    lines += fleet(result["fleet"]) if result.get("fleet") else []
    lines += beats(result["beats"]) if result.get("beats") else []
    lines += attention(result["attention"]) if result.get("attention") else []
    events = result["events"]
    lines.append(f"events     {events['cursor']} recorded · {events['subscribers']} reading along")
    if result["children"]:
        lines.append("children   " + " · ".join(f"{child['name']} {child['state']}" for child in result["children"]))
    lines += [f"problem    {problem}" for problem in result.get("problems", [])]
    if waiting := result["config"].get("needs_restart"):
        lines.append(f"config     {', '.join(waiting)}: in force after a restart (covey down && covey up)")
    lines += [f"config     {problem}" for problem in result["config"]["problems"]]
    return "\n".join(lines)


def fleet(result: dict[str, Any]) -> list[str]:
    """Two lines of `covey status`: how well targets can be reached, and how many agents are in which state."""
    from covey.cli.cells import clean

    words = [
        f"{target['target']} {target['health']}" + (f" ({clean(target['reason'])})" if target["reason"] else "")
        for target in result["targets"]
    ]
    states = {state: count for state, count in result["summary"]["by_state"].items() if count}
    counts = [f"{count} {state}" for state, count in states.items()] or ["none"]
    return [cut(f"targets    {' · '.join(words)}", columns()), cut(f"agents     {' · '.join(counts)}", columns())]


def beats(result: dict[str, Any]) -> list[str]:
    """One line: how many are scheduled, which is next, and what does not run."""
    from covey.cli import render_beats

    return [render_beats.status(result, columns())]


def attention(result: dict[str, Any]) -> list[str]:
    """What needs a person, if anything does."""
    if not result["open"] and not result["notify_problem"]:
        return []
    from covey.cli import render_attention

    return render_attention.status(result, columns())


def settings(result: dict[str, Any]) -> str:
    rows = [
        (item["key"], _brief(item["value"]), "" if item["source"] == "default" else "set", item["help"])
        for item in result["items"]
    ]
    first, second = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    lines = [f"{key:<{first}}  {value:<{second}}  {source:<3}  {text}".rstrip() for key, value, source, text in rows]
    return "\n".join(cut(line, columns()) for line in lines)


def setting(result: dict[str, Any]) -> str:
    value = result["value"]
    return "\n".join(map(_plain, value)) if _tables(value) else _plain(value)


def changed(result: dict[str, Any]) -> str:
    later = " (after the next restart)" if result["needs_restart"] else ""
    return f"{result['key']}: {_plain(result['old'])} -> {_plain(result['new'])}{later}"


def reloaded(result: dict[str, Any]) -> str:
    if not result["changed"]:
        return "Nothing has changed"
    later = f"; after a restart: {', '.join(result['needs_restart'])}" if result["needs_restart"] else ""
    return f"Now in force: {', '.join(result['changed'])}{later}"


def columns() -> int:
    """The width of the terminal, or one that fits everywhere."""
    try:
        return max(os.get_terminal_size(1).columns or 80, 40)
    except OSError:
        return 80


def cut(line: str, width: int) -> str:
    """A line that does not wrap."""
    return line if len(line) <= width else line[: width - 1] + "…"


def duration(seconds: float) -> str:
    """`3d 4h`, `4m 5s`: two units are enough."""
    left = int(seconds)
    parts: list[str] = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        if left >= size or (unit == "s" and not parts):
            parts.append(f"{left // size}{unit}")
            left %= size
    return " ".join(parts[:2])


def short(path: str) -> str:
    """A path with the home folder as a tilde."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def _document(result: Any) -> str:
    import json

    return json.dumps(result, indent=2)


def _brief(value: Any) -> str:
    """A value for one cell: tables are counted."""
    return f"{len(value)} table{'s'[: len(value) > 1]}" if _tables(value) else _plain(value)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (dict, list)):
        import json

        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


RENDERERS: dict[str, Callable[[Any], str]] = {
    "status": status,
    "config.list": settings,
    "config.get": setting,
    "config.set": changed,
    "config.unset": changed,
    "reload": reloaded,
    "backup": lambda result: f"Wrote {result['bytes']} bytes to {short(result['path'])}",
    "openapi": _document,
    "health": lambda result: f"ok, up {duration(result['uptime_s'])}",
}
