"""The daemon for a person: its status, its configuration, and what it has done."""

from __future__ import annotations

from covey.cli.cells import clean, cut
from covey.cli.text import duration, many, short, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint

SHARE_AFTER_S = 60
"""Before this a share of the processor says more about the start than about the daemon."""


def status(result: dict[str, Any], paint: Paint) -> str:
    """The daemon on one line, then a line for each of its parts and for each problem."""
    lines = [_headline(result), _home(result)]
    if result.get("fleet"):
        lines += fleet(result["fleet"], paint)
    if result.get("beats"):
        from covey.cli import render_beats

        lines.append(render_beats.status(result["beats"], paint.columns))
    if result.get("attention"):
        from covey.cli import render_attention

        lines += render_attention.status(result["attention"], paint.columns)
    if result.get("mcp") and result["mcp"]["http"]:
        lines.append(f"mcp        {result['mcp']['http']}{' · may act' if result['mcp']['act'] else ''}")
    if result.get("mesh") and (result["mesh"]["joined"] or result["mesh"]["broker"]):
        from covey.cli import render_mesh_peers

        lines += render_mesh_peers.node_status(result["mesh"], paint)
    events = result["events"]
    lines.append(f"events     {events['cursor']} recorded · {many(events['subscribers'], 'subscriber')}")
    if result["children"]:
        lines.append("children   " + " · ".join(f"{child['name']} {child['state']}" for child in result["children"]))
    lines += [f"problem    {problem}" for problem in result.get("problems", [])]
    if (loop := result.get("loop", {})).get("blocked"):
        lines.append(
            f"loop       was blocked {loop['blocked']} times within the last hour, up to {loop['longest_s']:.2f} s"
        )
    if waiting := result["config"].get("needs_restart"):
        lines.append(f"config     {', '.join(waiting)}: in force after a restart (covey down && covey up)")
    lines += [f"config     {problem}" for problem in result["config"]["problems"]]
    return "\n".join(lines)


def _headline(result: dict[str, Any]) -> str:
    up, used = result["uptime_s"], result["cpu_seconds"]
    cpu = f"{100 * used / up:.1f} % CPU" if up > SHARE_AFTER_S else f"{used:.1f} s CPU"
    return f"covey {result['version']} · up {duration(up)} · {result['rss_bytes'] / 1e6:.0f} MB · {cpu}"


def _home(result: dict[str, Any]) -> str:
    port = f" · TCP port {result['tcp_port']}" if result["tcp_port"] else ""
    return f"home       {short(result['home'])} · pid {result['pid']}{port}"


def fleet(result: dict[str, Any], paint: Paint) -> list[str]:
    """Two lines of `covey status`: the health of each target, and how many agents are in which state."""
    targets = [
        f"{target['target']} {target['health']}" + (f" ({clean(target['reason'])})" if target["reason"] else "")
        for target in result["targets"]
    ]
    states = {state: count for state, count in result["summary"]["by_state"].items() if count}
    counts = [f"{count} {state}" for state, count in states.items()] or ["none"]
    return [
        cut(f"targets    {' · '.join(targets) or 'none: covey target add host --kind local'}", paint.columns),
        cut(f"agents     {' · '.join(counts)}", paint.columns),
        *_approvals(result, paint),
    ]


def _approvals(result: dict[str, Any], paint: Paint) -> list[str]:
    """Return a line about what waits for a decision, and one that the person is away; none if it is not so."""
    from covey.cli import render_approvals

    waiting, presence = result["approvals"], result["presence"]
    lines = [f"approvals  {many(waiting, 'request')}: covey approvals"] if waiting else []
    if presence["away"]:
        lines.append(cut(f"presence   {render_approvals.presence(presence, paint)}", paint.columns))
    return lines


def settings(result: dict[str, Any], paint: Paint) -> str:
    """One line for each setting: its value, whether it is set, and what it is for."""
    rows = [
        (item["key"], _cell(item["value"]), "" if item["source"] == "default" else "set", item["help"])
        for item in result["items"]
    ]
    first, second = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    lines = [f"{key:<{first}}  {value:<{second}}  {source:<3}  {text}".rstrip() for key, value, source, text in rows]
    return "\n".join(cut(line, paint.columns) for line in lines)


def setting(result: dict[str, Any], _: Paint) -> str:
    """The value of one setting; a list of tables has a line for each."""
    value = result["value"]
    return "\n".join(map(value_text, value)) if _is_list_of_tables(value) else value_text(value)


def changed(result: dict[str, Any], _: Paint) -> str:
    """The old and the new value of a setting."""
    later = " (after the next restart)" if result["needs_restart"] else ""
    return f"{result['key']}: {value_text(result['old'])} -> {value_text(result['new'])}{later}"


def reloaded(result: dict[str, Any], _: Paint) -> str:
    """The settings that `covey reload` has changed."""
    if not result["changed"]:
        return "Nothing has changed"
    later = f"; after a restart: {', '.join(result['needs_restart'])}" if result["needs_restart"] else ""
    return f"Now in force: {', '.join(result['changed'])}{later}"


def backup(result: dict[str, Any], _: Paint) -> str:
    """The file that was written."""
    return f"Wrote {result['bytes']} bytes to {short(result['path'])}"


def health(result: dict[str, Any], _: Paint) -> str:
    """That the daemon answers, and since when it runs."""
    return f"ok, up {duration(result['uptime_s'])}"


def document(result: Any, _: Paint) -> str:
    """Any result as indented JSON."""
    import json

    return json.dumps(result, indent=2)


def _cell(value: Any) -> str:
    """Return a value for one cell: tables are counted."""
    return many(len(value), "table") if _is_list_of_tables(value) else value_text(value)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
