"""The past of the fleet for a person."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hanging
from covey.cli.render_fleet import agents, total
from covey.cli.text import DIM, RED, clock_of, duration, many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint


def replay(result: dict[str, Any], paint: Paint) -> str:
    """The table of agents at a time; or whether the recorded states follow from the recorded signals."""
    return checked(result, paint) if "matches" in result else shown(result, paint)


def shown(result: dict[str, Any], paint: Paint) -> str:
    """The agents at a time."""
    moment = clock_of(result["at"])
    if not result["items"]:
        asked = any(result["filters"].values())
        return f"No agent {'matched' if asked else 'was there'} at {moment}"
    return "\n".join(
        [paint(f"As it was at {moment}", DIM), *agents(result, paint), "", total(result, paint, hint=False)]
    )


def checked(result: dict[str, Any], paint: Paint) -> str:
    """Whether the recorded states follow from the recorded signals, and which do not."""
    changes, signals = many(result["changes"], "change"), many(result["signals"], "signal")
    checked_ = f"{changes} from {signals} since {clock_of(result['since'])}"
    if result["matches"]:
        lines = hanging("It matches:", f"{checked_} come out the same", paint.columns)
    else:
        label = "It does not match:"
        first, *more = hanging(label, f"{result['mismatched']} of {checked_} come out otherwise", paint.columns)
        lines = [first.replace(label, paint(label, RED), 1), *more]
    for one in result["mismatches"]:
        states = " -> ".join(f"{name} {_state(one[name])}" for name in ("recorded", "derived") if one[name])
        why = clean(one["why"]) + (f": {states}" if states else "")
        lines.append(cut(f"  {clock_of(one['at'])}  runtime:{one['runtime_id']}  {why}", paint.columns))
    if result["late"]:
        longest = duration(result["latest"][0]["late_ms"] / 1000)
        late = f"{result['late']} of the changes that come by themselves were late, by {longest} at most"
        lines += hanging(" ", f"{late}: the machine slept, or its clock was set", paint.columns)
    if result["unknown"]:
        are = "is older than the journal and was" if result["unknown"] == 1 else "are older than the journal and were"
        lines += hanging(" ", f"{many(result['unknown'], 'agent')} {are} not checked", paint.columns)
    return "\n".join(lines)


def _state(judged: dict[str, str]) -> str:
    return clean(f"{judged['state']} ({judged['reason']}, {judged['confidence']})")
