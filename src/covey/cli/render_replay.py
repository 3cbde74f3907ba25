"""The past of the fleet, for people."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hanging
from covey.cli.render import duration
from covey.cli.render_fleet import DIM, RED, agents, clock_of, many, total

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
    return "\n".join(
        [paint(f"As it was at {moment}", DIM), *agents(result, paint), "", total(result, paint, hint=False)]
    )


def checked(result: dict[str, Any], paint: Paint) -> str:
    heard = f"{many(result['changes'], 'change')} from {many(result['signals'], 'signal')} since {clock_of(result['since'])}"
    if result["matches"]:
        lines = hanging("It matches:", f"{heard} come out the same", paint.columns)
    else:
        label = "It does not match:"
        first, *more = hanging(label, f"{result['mismatched']} of {heard} come out otherwise", paint.columns)
        lines = [first.replace(label, paint(label, RED), 1), *more]
    for one in result["mismatches"]:
        told = " -> ".join(f"{word} {_told(one[word])}" for word in ("recorded", "derived") if one[word])
        lines.append(
            cut(
                f"  {clock_of(one['at'])}  runtime:{one['runtime_id']}  {clean(one['why'])}{': ' if told else ''}{told}",
                paint.columns,
            )
        )
    if result["late"]:
        longest = duration(result["latest"][0]["late_ms"] / 1000)
        late = f"{result['late']} of the changes that come by themselves were late, by {longest} at most: the machine slept, or its clock was set"
        lines += hanging(" ", late, paint.columns)
    if result["unknown"]:
        are = "is older than the journal and was" if result["unknown"] == 1 else "are older than the journal and were"
        lines += hanging(" ", f"{many(result['unknown'], 'agent')} {are} not checked", paint.columns)
    return "\n".join(lines)


def _told(told: dict[str, str]) -> str:
    return clean(f"{told['state']} ({told['reason']}, {told['confidence']})")


RENDERERS: dict[str, Callable[[Any, Paint], str]] = {"replay": replay}
