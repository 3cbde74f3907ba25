"""Runs of beats for a person: a list, one run in full, and the outcome of one."""

from __future__ import annotations

import time

from covey.cli.cells import clean, cut, hanging, hint, width
from covey.cli.table import table
from covey.cli.text import BLUE, DIM, GREEN, RED, YELLOW, age, clock_of, duration, many, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from covey.cli.text import Paint

SIGNS = {"ok": ("✓", GREEN), "attention": ("▲", YELLOW), "error": ("✗", RED)}
REFERENCE = 6
"""Characters at the end of a run's id that identify it; `covey beats show` takes them."""
OUTPUT_LINES = 3
"""Lines of a tool's output that are shown; the rest is in the JSON."""
TEXT_LINES = 40
WORTH_MS = 100
"""A tool call that took less is shown without its time."""
PROBED = {
    "ok": "the probe found nothing; no model was asked",
    "unchanged": "the probe found nothing new; no model was asked",
}
KEY_FIELDS = ("command", "cmd", "file_path", "path", "url", "pattern", "query")
"""Fields of a tool's input that show what it is about."""


def history(result: dict[str, Any], paint: Paint) -> str:
    """One line for each run."""
    items = result["items"]
    if not items:
        lines = hint("covey beat", "runs the HEARTBEAT.md of this folder", paint.columns)
        return "\n".join(["No runs yet", *lines, *hint("covey beats list", "shows what is scheduled", paint.columns)])
    rows = [
        [
            outcome(item),
            day_of(item["began_at"] or item["queued_at"]),
            clean(item["beat"]),
            took(item),
            price(item) or "-",
            item["run"][-REFERENCE:],
            what(item),
        ]
        for item in items
    ]
    lines = table(
        ["OUTCOME", "BEGAN", "BEAT", "TOOK", "COST", "RUN", "WHAT"], rows, [sign(item) for item in items], paint
    )
    return "\n".join(
        [*lines, "", paint(cut(f"covey beats show {rows[0][5]}  shows what was said and done", paint.columns), DIM)]
    )


def show(result: dict[str, Any], paint: Paint) -> str:
    """A run in full: its outcome, times, cost, and the conversation."""
    turns = list(conversation(result["turns"], paint))
    return "\n".join([*headline(result, paint), *_facts(result, paint), *(["", *turns] if turns else [])])


def result_line(result: dict[str, Any], paint: Paint) -> str:
    """Return the outcome of a run that has just ended, and what it took."""
    lines = headline(result, paint)
    spent = [
        took(result),
        *([price(result)] if price(result) else []),
        *([many(result["num_turns"], "turn")] if result["num_turns"] else []),
    ]
    if result["outcome"] == "ok" and width(lines[0]) < paint.columns // 2:
        lines[0] += paint(f"  {' · '.join(spent)}", DIM)
    else:
        lines.append(paint(f"  {' · '.join(spent)}", DIM))
    lines += _refused(result, paint)
    return "\n".join(lines)


def headline(result: dict[str, Any], paint: Paint) -> list[str]:
    """Return an outcome such as `▲ attention  api-health: 2 tests fail`, on as many lines as it needs."""
    mark, colour = sign(result)
    text = found(result)
    return labelled(f"{mark} {outcome(result)} ", colour, clean(result["beat"]) + (f": {text}" if text else ""), paint)


def labelled(label: str, colour: str, text: str, paint: Paint) -> list[str]:
    """Return a coloured label and after it a text, on as many lines as it needs."""
    first, *more = hanging(label, text, paint.columns)
    return [paint(label, colour) + first[len(label) :], *more]


def what(item: dict[str, Any]) -> str:
    """Return what a run found, or why it failed; if all was well, what was refused."""
    return found(item) or (f"refused: {clean(', '.join(item['denials']))}" if item["denials"] else "")


def found(item: dict[str, Any]) -> str:
    """Return what a run found, or why it failed; an empty string if there is nothing to say."""
    if item["error_kind"]:
        kind = "" if item["error_kind"] in {"interrupted", "withdrawn"} else f"{item['error_kind'].replace('_', ' ')}: "
        return clean(f"{kind}{item['error']}")
    if item["summary"]:
        return clean(f"{_still(item)}{item['summary']}")
    return PROBED.get(item["probe"], "") if item["outcome"] == "ok" else ""


def _still(item: dict[str, Any]) -> str:
    """Return a prefix for what a model found earlier, of a run whose probe has found nothing new since."""
    return f"still the same, found {age(since(item['looked_at'], time.time()))} ago: " if item["looked_at"] else ""


def _facts(run: dict[str, Any], paint: Paint) -> Iterator[str]:
    facts = {
        "beat": f"{clean(run['beat'])} · {run['agent']} · {_cause(run)}",
        "began": _begin(run),
        "cost": " · ".join(
            part
            for part in (price(run), _tokens(run), many(run["num_turns"], "turn") if run["num_turns"] else "")
            if part
        ),
        "probe": run["probe"] and PROBED.get(run["probe"], "the probe found something"),
        "missed": run["missed"]
        and f"{many(run['missed'], 'earlier run')} could not start in time, and this one replaces them",
        "again": f"not before {clock_of(run['retry_at'])}" if run["retry_at"] else "",
        "where": short(clean(run["workspace"])),
        "run": run["run"],
    }
    for name, fact in facts.items():
        if fact:
            yield from hanging(f"  {name:<8}", str(fact), paint.columns)
    yield from _refused(run, paint)


def _cause(run: dict[str, Any]) -> str:
    if run["why"] == "hand":
        return "run by hand"
    return f"due at {clock_of(run['slot'])}" if run["slot"] else "run by the schedule"


def _begin(run: dict[str, Any]) -> str:
    began = run["began_at"]
    if not began:
        return "never" if run["state"] == "done" else "not yet"
    passed = duration(since(began, time.time()) / 1000)
    return f"{clock_of(began)} ({passed} ago)" + (f", took {took(run)}" if run["ended_at"] else "")


def _refused(run: dict[str, Any], paint: Paint) -> list[str]:
    return [line for denial in run["denials"] for line in hanging("  refused ", clean(denial), paint.columns)]


def conversation(turns: list[dict[str, Any]], paint: Paint) -> Iterator[str]:
    """Yield what was said and which tools were called, turn by turn. The final answer is not repeated."""
    before = ""
    for number, turn in enumerate(turns, 1):
        text = (turn.get("text") or "").strip()
        if turn["role"] == "result" and text in {before, ""}:
            continue
        label = paint(f"{number:>3}", DIM)
        for line in _lines(text, paint.columns - 5):
            yield f"{label}  {line}"
            label = "   "
        for call in turn.get("toolCalls") or ():
            yield from _call(call, label, paint)
            label = "   "
        before = text or before


def _call(call: dict[str, Any], label: str, paint: Paint) -> Iterator[str]:
    lasted = f"  {_seconds(call['durationMs'])}" if (call.get("durationMs") or 0) >= WORTH_MS else ""
    text = cut(tool(call["name"], brief(call["input"])), paint.columns - 5 - len(lasted))
    yield f"{label}  {text}{paint(lasted, DIM)}"
    answered = [line for line in (clean(line) for line in (call.get("output") or "").splitlines()) if line]
    for line in answered[:OUTPUT_LINES]:
        yield paint(f"       {cut(line, paint.columns - 7)}", DIM)
    if len(answered) > OUTPUT_LINES:
        yield paint(f"       … {many(len(answered) - OUTPUT_LINES, 'more line')}", DIM)


def tool(name: str, text: str) -> str:
    """Return a tool call such as `[tool] Bash(npm test)`."""
    return clean(f"[tool] {name}({text})")


def brief(arguments: dict[str, Any]) -> str:
    """Return a tool's input for one line: its most important field, or all of it as JSON."""
    text = next((arguments[name] for name in KEY_FIELDS if arguments.get(name)), None)
    if isinstance(text, str):
        return text
    import json

    return json.dumps(arguments, ensure_ascii=False) if arguments else ""


def _lines(text: str, cells: int) -> Iterator[str]:
    lines = [part for line in text.splitlines() for part in hanging("", clean(line), cells + 1)]
    yield from (line[1:] for line in lines[:TEXT_LINES])
    if len(lines) > TEXT_LINES:
        yield f"… {many(len(lines) - TEXT_LINES, 'more line')}"


def day_of(stamp: str) -> str:
    """Return a time: today `14:05:11`, this year `11-14 09:00`, else the date."""
    day, _, clock = clock_of(stamp).rpartition(" ")
    if not day:
        return clock
    return f"{day[5:]} {clock[:5]}" if day[:4] == time.strftime("%Y") else day


def outcome(run: dict[str, Any]) -> str:
    """Return `ok`, `ok (probe)`, `attention`, `error`, or `withdrawn` if it never began.

    A run that has not ended is `queued` or `running`.
    """
    if run["error_kind"] == "withdrawn":
        return "withdrawn"
    return "ok (probe)" if run["outcome"] == "ok" and run["probe"] in PROBED else str(run["outcome"] or run["state"])


def sign(run: dict[str, Any]) -> tuple[str, str]:
    """Return the sign of a run, and its colour."""
    if run["outcome"]:
        return SIGNS[run["outcome"]]
    return ("○", DIM) if run["state"] == "done" else ("●", BLUE)


def took(run: dict[str, Any]) -> str:
    """Return how long a run took, such as `8.2s` or `4m 5s`."""
    return "-" if run["duration_ms"] is None else _seconds(run["duration_ms"])


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f}s" if milliseconds < 60_000 else duration(milliseconds / 1000)  # noqa: PLR2004 - a minute


def price(spent: dict[str, Any]) -> str:
    """Return a cost such as `$1.25`, `$0.0012`, or `~$0.40` if it is an estimate.

    For an agent that reports no cost, return its tokens, such as `12k tokens`; an empty string if nothing is known.
    """
    if cost := spent.get("cost_usd"):
        about = "~" if spent.get("cost_estimated") else ""
        return about + (f"${cost:.2f}" if cost >= 0.1 else f"${cost:.4f}".rstrip("0"))  # noqa: PLR2004 - beats are cheap
    return _tokens(spent)


def _tokens(spent: dict[str, Any]) -> str:
    count = spent.get("tokens") or 0
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if count >= size:
            return f"{count / size:.3g}{unit} tokens"
    return f"{count} tokens" if count else ""


def since(stamp: str, now: float) -> int:
    """Return the milliseconds since a timestamp; negative if it is in the future."""
    from datetime import datetime

    return round((now - datetime.fromisoformat(stamp).timestamp()) * 1000)
