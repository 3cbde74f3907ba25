"""What stands around the fleet, for a person: targets, adapters, integrations."""

from __future__ import annotations

from covey.cli.cells import clean, cut
from covey.cli.render import short
from covey.cli.render_fleet import BLUE, DIM, RED, SIGNS, YELLOW, Paint, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

HEALTH = {"ok": ("●", BLUE), "degraded": ("▲", YELLOW), "down": ("✗", RED)}


def targets(result: dict[str, Any], paint: Paint) -> str:
    if not result["items"]:
        return "No targets\n  covey target add vm1 --kind ssh  adds one that you reach with: ssh vm1"
    rows = [[item["health"], clean(item["target"]), item["kind"], clean(item["ssh_target"]), clean(item["reason"])] for item in result["items"]]
    return "\n".join(table(["HEALTH", "TARGET", "KIND", "SSH", "REASON"], rows, [HEALTH[item["health"]] for item in result["items"]], paint))


def target(result: dict[str, Any], paint: Paint) -> str:
    sign, colour = HEALTH[result["health"]]
    reason = f": {clean(result['reason'])}" if result["reason"] else ""
    return f"{paint(sign, colour)} {clean(result['target'])} is {result['health']}{reason}"


def adapters(result: dict[str, Any], paint: Paint) -> str:
    rows = []
    for item in result["items"]:
        can = item["capabilities"]
        sees = [name.removeprefix("supports_") for name, on in can.items() if on and name.startswith("supports_")]
        rows.append([clean(item["agent"]), item["integration"]["state"], short(clean(item["origin"])), " ".join(sees)])
    lines = table(["AGENT", "INTEGRATION", "ORIGIN", "SEES"], rows, [("○", DIM)] * len(rows), paint)
    for one in result["problems"]:
        lines += ["", paint(f"✗ {clean(one['problem'])}", RED), f"  {clean(one['suggestion'])}"]
    return "\n".join(lines)


def explained(result: dict[str, Any], paint: Paint) -> str:
    state = result["state"]
    sign, colour = SIGNS[state]
    lines = [f"{paint(f'{sign} {state}', colour)}  {clean(result['detail'])}".rstrip()]
    if result["rule"]:
        lines.append(cut(f"  because  rule {clean(result['rule'])}: {clean(result['evidence'])}", paint.columns))
    if result["caveat"]:
        lines.append(cut(f"  caveat   {clean(result['caveat'])}", paint.columns))
    lines += [cut(f"  not      {clean(one['rule'])} ({one['state']}): {clean(one['why'])}", paint.columns) for one in result["tried"] if one["why"]]
    return "\n".join(lines)


def integrated(result: dict[str, Any], paint: Paint) -> str:
    """What was done to which file; what would be done looks the same, and its diff follows."""
    agent = clean(result["agent"])
    lines = [f"{agent}: {result['state']}" + ("" if result["changed"] else ", nothing to change")]
    for file in result["files"]:
        kept = f" (a copy of what was there: {short(clean(file['backup']))})" if file["backup"] else ""
        lines.append(f"  {clean(file['change'])} {short(clean(file['path']))}{kept}")
        lines += [f"    {_diff(line, paint)}" for line in file["diff"].splitlines()]
    return "\n".join([*lines, *(f"  {clean(note)}" for note in result["notes"])])


def _diff(line: str, paint: Paint) -> str:
    indent = line[: len(line) - len(line[1:].lstrip())] if line[:1] in {"+", "-", " "} else ""
    return paint(indent + clean(line[len(indent) :]), {"+": BLUE, "-": RED}.get(line[:1], DIM))


RENDERERS: dict[str, Callable[[Any, Paint], str]] = {
    "target.list": targets,
    "target.add": target,
    "target.connect": target,
    "target.remove": lambda result, _: f"{clean(result['target'])} is forgotten; its agents keep running",
    "adapters.list": adapters,
    "adapters.explain": explained,
    "integrate": integrated,
    "bar": lambda result, _: result["text"],
}
