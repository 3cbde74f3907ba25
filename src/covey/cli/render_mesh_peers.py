"""The meshes of this home, their peers and the broker, for a person."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hint, wrapped
from covey.cli.render_mesh import held_back
from covey.cli.table import lines_of, sizes_of
from covey.cli.text import BLUE, DIM, GREEN, RED, YELLOW, Paint, duration, many, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MEGABYTE = 1024 * 1024
SHORTEST = {"STATE": len("not connected")}
"""Cells that columns of the list of meshes keep on a narrow terminal."""


def meshes(result: dict[str, Any], paint: Paint) -> str:
    """The meshes that were joined, and the broker."""
    lines = []
    if result["items"]:
        rows = [
            [
                item["slug"],
                _doing(item),
                clean(item["name"]),
                item["role"],
                "" if item["queue_depth"] is None else str(item["queue_depth"]),
                clean(item["problem"]) or ", ".join(clean(url) for url in item["servers"]),
            ]
            for item in result["items"]
        ]
        head = ["MESH", "STATE", "NAME", "ROLE", "QUEUE", "BROKER"]
        sizes = sizes_of(head, rows, paint.columns, yielding=("ROLE", "NAME"), shortest=SHORTEST)
        broken = any(item["problem"] for item in result["items"])
        lines = lines_of(head, rows, [_sign(item) for item in result["items"]], paint, sizes, wrap=broken)
    else:
        lines = ["No mesh was joined"]
        lines += hint("covey mesh create team", "makes one", paint.columns)
        lines += hint("covey mesh join TOKEN", "joins one with an invite", paint.columns)
    if result["broker"] is not None:
        lines += ["", *_broker_state(result["broker"], paint)]
    return "\n".join(lines)


def _doing(item: dict[str, Any]) -> str:
    if item["pid"] is None:
        return "down" if item["wanted"] == "down" else str(item["state"])
    if item["connected"] is None:
        return "no answer"
    return "connected" if item["connected"] else "not connected"


def _sign(item: dict[str, Any]) -> tuple[str, str]:
    if item["problem"]:
        return "✗", RED
    if item["connected"]:
        return "●", BLUE
    return ("○", DIM) if item["wanted"] == "down" and item["pid"] is None else ("▲", YELLOW)


def mesh(result: dict[str, Any], paint: Paint) -> str:
    """A mesh after it was created or joined, and what to do next."""
    sign, colour = _sign(result)
    lines = [f"{paint(sign, colour)} {result['slug']}: you are {clean(result['name'])}, its {result['role']}"]
    lines.append(f"  the peer is {_doing(result)}")
    if result["role"] == "authority":
        lines += hint("covey mesh invite", "makes a text with which somebody can join", paint.columns)
        if all("127.0.0.1" in url for url in result["servers"]):
            lines += hint("covey mesh expose", "opens the broker to other machines first", paint.columns)
    else:
        lines += hint("covey mesh peers", "shows who is there", paint.columns)
    return "\n".join(lines)


def broker(result: dict[str, Any], paint: Paint) -> str:
    """The broker of this home: its state, and who can reach it."""
    lines = _broker_state(result, paint)
    if result["names"]:
        lines.append(cut(f"  {paint('names', DIM)}        {', '.join(map(clean, result['names']))}", paint.columns))
    if result["fingerprint"]:  # on a line of its own: it is compared, so nothing of it may be cut
        lines += [f"  {paint('certificate', DIM)}  SHA-256", f"  {result['fingerprint']}"]
    if not result["listen"]:
        lines += hint("covey mesh expose --listen 0.0.0.0:4222 --names HOST", "opens it", paint.columns)
    return "\n".join(lines)


def _broker_state(result: dict[str, Any], paint: Paint) -> list[str]:
    sign, colour = ("●", BLUE) if result["state"] == "running" else ("▲", YELLOW)
    version = f" (nats-server {result['version']})" if result["version"] else ""
    where = f"open at {', '.join(result['listen'])}" if result["listen"] else "on loopback only"
    return _marked(paint(sign, colour), f"broker {result['state']}{version}, {where}", paint)


def _marked(sign: str, text: str, paint: Paint, margin: str = "") -> list[str]:
    """Return a text behind a sign, on as many lines as it needs."""
    first, *more = wrapped(text, max(paint.columns - len(margin) - 2, 16))
    return [f"{margin}{sign} {first}", *(f"{margin}  {line}" for line in more)]


def left(result: dict[str, Any], paint: Paint) -> str:
    """That a mesh was left, whether the others know, and where the rest is."""
    lines = [f"You have left {result['slug']}"]
    if not result["told"]:
        lines.append("  the others could not be told: an admin can remove you with `covey mesh revoke`")
    return "\n".join([*lines, cut(f"  what was kept of it is in {clean(short(result['path']))}", paint.columns)])


def reset(result: dict[str, Any], _: Paint) -> str:
    """That nothing of a mesh is left."""
    return f"{result['slug']} is removed from this machine"


def status(result: dict[str, Any], paint: Paint) -> str:
    """How each peer is."""
    if not result["items"]:
        return "No mesh was joined"
    return "\n\n".join("\n".join(_peer(item, paint)) for item in result["items"])


def _peer(item: dict[str, Any], paint: Paint) -> list[str]:
    if not item["running"]:
        sign, colour = ("○", DIM) if item["wanted"] == "down" else ("✗", RED)
        lines = _marked(paint(sign, colour), f"{item['slug']}: {clean(item['why'])}", paint)
        return [*lines, *hint(f"covey mesh up {item['slug']}", "starts it", paint.columns)]
    peer = item["peer"]
    sign, colour = ("●", BLUE) if peer["connected"] else ("▲", YELLOW)
    lag = f", {peer['lag_ms']:.0f} ms away" if peer["lag_ms"] is not None else ""
    state = (
        f"connected to {clean(peer['server'])}{lag}" if peer["connected"] else f"not connected: {clean(peer['reason'])}"
    )
    outbox, inbox, hooks, shared = peer["outbox"], peer["inbox"], peer["hooks"], peer["services"]
    facts = {
        "you": f"{clean(peer['name'])}, {peer['role']}",
        "members": f"{peer['members']}, {peer['online']} online",
        "outbox": f"{outbox['pending']} waiting" + (f", {outbox['dead']} given up" if outbox["dead"] else ""),
        "inbox": many(inbox["messages"], "message"),
        "hooks": f"{hooks['fired']} run, {hooks['failed']} failed" if hooks["enabled"] else "off",
        "shared": many(shared["documents"], "document") + ("" if shared["caught_up"] else ", not caught up"),
        "process": f"up {duration(item['uptime_s'])} · {item['rss_bytes'] / MEGABYTE:.0f} MB · pid {item['pid']}",
    }
    lines = _marked(paint(sign, colour), f"{item['slug']}: {state}", paint)
    lines += [cut(f"  {paint(f'{name:<8}', DIM)} {text}", paint.columns) for name, text in facts.items()]
    for held in inbox["held_from"]:
        lines += _marked(paint("▲", YELLOW), held_back(held), paint, "  ")
    for problem in peer["problems"]:
        lines += _marked(paint("▲", YELLOW), clean(problem), paint, "  ")
    return lines


def node_status(result: dict[str, Any], paint: Paint) -> list[str]:
    """Return the lines of `covey status`: how many peers run, the broker, and what is wrong."""
    parts = [f"{result['running']} of {many(result['joined'], 'peer')} running"]
    parts += [f"broker {result['broker']}"] if result["broker"] else []
    return [
        f"mesh       {' · '.join(parts)}",
        *(cut(f"problem    {clean(problem)}", paint.columns) for problem in result["problems"]),
    ]


def reloaded(result: dict[str, Any], paint: Paint) -> str:
    """What has changed at each peer."""
    lines = []
    for item in result["items"]:
        if item["error"]:
            lines += _marked(paint("✗", RED), f"{item['slug']}: {clean(item['error'])}", paint)
        else:
            changed = f"changed: {', '.join(item['changed'])}" if item["changed"] else "nothing has changed"
            lines.append(f"{paint('✓', GREEN)} {item['slug']}: {changed}")
    return "\n".join(lines) or "No mesh was joined"
