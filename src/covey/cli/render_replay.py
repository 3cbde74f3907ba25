"""The past of the fleet, for people."""

from __future__ import annotations

from covey.cli.cells import clean, cut
from covey.cli.render import duration
from covey.cli.render_fleet import DIM, RED, agents, clock_of, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.cli.render_fleet import Paint


def replay(result: dict[str, Any], paint: Paint) -> str:
    """The table of agents at a time; or whether the record agrees with itself."""
    return checked(result, paint) if "matches" in result else shown(result, paint)


def shown(result: dict[str, Any], paint: Paint) -> str:
    moment = clock_of(result["at"])
    if not result["items"]:
        asked = any(result["filters"].values())
        return f"No agent {'matched' if asked else 'was there'} at {moment}"
    return "\n".join([paint(f"As it was at {moment}", DIM), *agents(result["items"], paint), "", total(result, paint, hint=False)])


def checked(result: dict[str, Any], paint: Paint) -> str:
    heard = f"{result['changes']} changes from {result['signals']} signals since {clock_of(result['since'])}"
    if result["matches"]:
        lines = [f"It matches: {heard} come out the same"]
    else:
        lines = [f"{paint('It does not match', RED)}: {result['mismatched']} of {heard} come out otherwise"]
    for one in result["mismatches"]:
        told = " -> ".join(f"{word} {_told(one[word])}" for word in ("recorded", "derived") if one[word])
        lines.append(cut(f"  {clock_of(one['at'])}  runtime:{one['runtime_id']}  {clean(one['why'])}{': ' if told else ''}{told}", paint.columns))
    if result["late"]:
        longest = duration(result["latest"][0]["late_ms"] / 1000)
        lines.append(
            f"  {result['late']} of the changes that come by themselves were late, by {longest} at most: the machine slept, or its clock was set"
        )
    if result["unknown"]:
        lines.append(f"  {result['unknown']} agents are older than the journal and were not checked")
    return "\n".join(lines)


def _told(told: dict[str, str]) -> str:
    return clean(f"{told['state']} ({told['reason']}, {told['confidence']})")


RENDERERS: dict[str, Callable[[Any, Paint], str]] = {"replay": replay}
