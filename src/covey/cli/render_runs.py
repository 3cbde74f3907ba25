"""Runs of beats, for a person: one line each, one in full, and how one ended."""

from __future__ import annotations

import time

from covey.cli.agents_table import age
from covey.cli.cells import clean, cut, hanging, width
from covey.cli.render import duration, short
from covey.cli.render_fleet import BLUE, DIM, RED, YELLOW, clock_of, many, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from covey.cli.render_fleet import Paint

GREEN = "\x1b[32m"
SIGNS = {"ok": ("✓", GREEN), "attention": ("▲", YELLOW), "error": ("✗", RED)}
REFERENCE = 6
"""Letters of a run's id that tell it from others; `covey beats show` takes them."""
OUTPUT_LINES = 3
"""Of what a tool answered; the rest is in the JSON."""
TEXT_LINES = 40
WORTH_MS = 100
"""A tool that took less took no time."""
PROBED = {
    "ok": "the probe found nothing; no model was asked",
    "unchanged": "the probe found nothing new; no model was asked",
}
TELLING = ("command", "cmd", "file_path", "path", "url", "pattern", "query")
"""The part of a tool's input that tells what it is about."""


def history(result: dict[str, Any], paint: Paint) -> str:
    """One line for each run."""
    items = result["items"]
    if not items:
        return (
            "No runs yet\n  covey beat  runs the HEARTBEAT.md of this folder; covey beats list  shows what is scheduled"
        )
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
        [*lines, "", paint(cut(f"covey beats show {rows[0][5]}  tells what was said and done", paint.columns), DIM)]
    )


def show(result: dict[str, Any], paint: Paint) -> str:
    """A run in full: how it ended, when, for how much, and the conversation."""
    told = list(conversation(result["turns"], paint))
    return "\n".join([*headline(result, paint), *_facts(result, paint), *(["", *told] if told else [])])


def result_line(result: dict[str, Any], paint: Paint) -> str:
    """How a run that has just ended went: the outcome, then what it took."""
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
    """`▲ attention  api-health: 2 tests fail`, on as many lines as it needs."""
    mark, colour = sign(result)
    said = found(result)
    return labelled(f"{mark} {outcome(result)} ", colour, clean(result["beat"]) + (f": {said}" if said else ""), paint)


def labelled(label: str, colour: str, text: str, paint: Paint) -> list[str]:
    """A coloured label and a text behind it, on as many lines as it needs."""
    first, *more = hanging(label, text, paint.columns)
    return [paint(label, colour) + first[len(label) :], *more]


def what(item: dict[str, Any]) -> str:
    """What a run found, or why it found nothing; if all was well, what was refused."""
    return found(item) or (f"refused: {clean(', '.join(item['denials']))}" if item["denials"] else "")


def found(item: dict[str, Any]) -> str:
    if item["error_kind"]:
        kind = "" if item["error_kind"] in {"interrupted", "withdrawn"} else f"{item['error_kind'].replace('_', ' ')}: "
        return clean(f"{kind}{item['error']}")
    if item["summary"]:
        return clean(f"{_still(item)}{item['summary']}")
    return PROBED.get(item["probe"], "") if item["outcome"] == "ok" else ""


def _still(item: dict[str, Any]) -> str:
    """`still the same, told 30m ago: ` before what a model found earlier, of a run whose probe has found nothing new since."""
    return f"still the same, told {age(since(item['looked_at'], time.time()))} ago: " if item["looked_at"] else ""


def _facts(run: dict[str, Any], paint: Paint) -> Iterator[str]:
    began = run["began_at"]
    why = (
        "run by hand"
        if run["why"] == "hand"
        else f"due at {clock_of(run['slot'])}"
        if run["slot"]
        else "run by the schedule"
    )
    facts = {
        "beat": f"{clean(run['beat'])} · {run['agent']} · {why}",
        "began": f"{clock_of(began)} ({duration(since(began, time.time()) / 1000)} ago){f', took {took(run)}' if run['ended_at'] else ''}"
        if began
        else "never"
        if run["state"] == "done"
        else "not yet",
        "cost": " · ".join(
            part
            for part in (price(run), _tokens(run), many(run["num_turns"], "turn") if run["num_turns"] else "")
            if part
        ),
        "probe": run["probe"] and PROBED.get(run["probe"], "it had something to say"),
        "missed": run["missed"] and f"stands for {many(run['missed'], 'time')} that came before and could not be kept",
        "again": f"not before {clock_of(run['retry_at'])}" if run["retry_at"] else "",
        "where": short(clean(run["workspace"])),
        "run": run["run"],
    }
    for name, fact in facts.items():
        if fact:
            yield from hanging(f"  {name:<8}", str(fact), paint.columns)
    yield from _refused(run, paint)


def _refused(run: dict[str, Any], paint: Paint) -> list[str]:
    return [line for denial in run["denials"] for line in hanging("  refused ", clean(denial), paint.columns)]


def conversation(turns: list[dict[str, Any]], paint: Paint) -> Iterator[str]:
    """What was said and which tools were called, turn by turn. The answer is not told twice."""
    said = ""
    for number, turn in enumerate(turns, 1):
        text = (turn.get("text") or "").strip()
        if turn["role"] == "result" and text in {said, ""}:
            continue
        label = paint(f"{number:>3}", DIM)
        for line in _lines(text, paint.columns - 5):
            yield f"{label}  {line}"
            label = "   "
        for call in turn.get("toolCalls") or ():
            yield from _call(call, label, paint)
            label = "   "
        said = text or said


def _call(call: dict[str, Any], label: str, paint: Paint) -> Iterator[str]:
    lasted = f"  {_seconds(call['durationMs'])}" if (call.get("durationMs") or 0) >= WORTH_MS else ""
    yield f"{label}  {cut(tool(call['name'], brief(call['input'])), paint.columns - 5 - len(lasted))}{paint(lasted, DIM)}"
    answered = [line for line in (clean(line) for line in (call.get("output") or "").splitlines()) if line]
    for line in answered[:OUTPUT_LINES]:
        yield paint(f"       {cut(line, paint.columns - 7)}", DIM)
    if len(answered) > OUTPUT_LINES:
        yield paint(f"       … {many(len(answered) - OUTPUT_LINES, 'more line')}", DIM)


def tool(name: str, text: str) -> str:
    """`[tool] Bash(npm test)`."""
    return clean(f"[tool] {name}({text})")


def brief(arguments: dict[str, Any]) -> str:
    """A tool's input for one line: what tells most, else all of it."""
    telling = next((arguments[name] for name in TELLING if arguments.get(name)), None)
    if isinstance(telling, str):
        return telling
    import json

    return json.dumps(arguments, ensure_ascii=False) if arguments else ""


def _lines(text: str, cells: int) -> Iterator[str]:
    lines = [part for line in text.splitlines() for part in hanging("", clean(line), cells + 1)]
    yield from (line[1:] for line in lines[:TEXT_LINES])
    if len(lines) > TEXT_LINES:
        yield f"… {many(len(lines) - TEXT_LINES, 'more line')}"


def day_of(stamp: str) -> str:
    """A moment as people place it: today `14:05:11`, this year `11-14 09:00`, else the date."""
    day, _, clock = clock_of(stamp).rpartition(" ")
    if not day:
        return clock
    return f"{day[5:]} {clock[:5]}" if day[:4] == time.strftime("%Y") else day


def outcome(run: dict[str, Any]) -> str:
    """`ok`, `ok (probe)`, `attention`, `error`, `withdrawn` if it was never begun; until there is one, `queued` or `running`."""
    if run["error_kind"] == "withdrawn":
        return "withdrawn"
    return "ok (probe)" if run["outcome"] == "ok" and run["probe"] in PROBED else str(run["outcome"] or run["state"])


def sign(run: dict[str, Any]) -> tuple[str, str]:
    if run["outcome"]:
        return SIGNS[run["outcome"]]
    return ("○", DIM) if run["state"] == "done" else ("●", BLUE)


def took(run: dict[str, Any]) -> str:
    """`8.2s`, `4m 5s`."""
    return "-" if run["duration_ms"] is None else _seconds(run["duration_ms"])


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.1f}s" if milliseconds < 60_000 else duration(milliseconds / 1000)  # noqa: PLR2004 - a minute


def price(spent: dict[str, Any]) -> str:
    """`$1.25`, `$0.0012`, `~$0.40` if it is an estimate; of an agent that tells no cost, `12k tokens`; nothing if nothing is known."""
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
    """Milliseconds that have passed since a moment; negative if it is yet to come."""
    from datetime import datetime

    return round((now - datetime.fromisoformat(stamp).timestamp()) * 1000)
