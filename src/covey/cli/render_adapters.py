"""Agent programs for a person: which are known, which rule explains a screen, what an integration changes."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hanging
from covey.cli.render_fleet import SIGNS
from covey.cli.table import table
from covey.cli.text import BLUE, DIM, RED, YELLOW, Paint, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INTEGRATION = {"installed": ("●", BLUE), "outdated": ("▲", YELLOW), "blocked": ("▲", YELLOW)}
LONGEST_DIFF = 200
"""Lines of a difference that are shown at most."""


def adapters(result: dict[str, Any], paint: Paint) -> str:
    """One line for each agent, then versions that were not understood, and problems of descriptions."""
    items = result["items"]
    rows = [
        [
            clean(item["agent"]),
            item["integration"]["state"],
            _newest(item["tested"]),
            _versions(item["installed"]),
            _versions(item["running"]),
            clean(_note(item)),
        ]
        for item in items
    ]
    head = ["AGENT", "INTEGRATION", "MEASURED", "INSTALLED", "RUNNING", "NOTE"]
    lines = table(head, rows, [INTEGRATION.get(row[1], ("○", DIM)) for row in rows], paint)
    for item in items:
        for one in item["drift"]:
            counts = ", ".join(f"{kind} {count}" for kind, count in sorted(one["counts"].items()))
            colour = YELLOW if one["alarming"] else DIM
            named = f"{clean(item['agent'])} {clean(one['version']) or 'of unknown version'}"
            lines += [
                paint(line, colour) for line in hanging("▲", f"{named} was not understood: {counts}", paint.columns)
            ]
    absent = next((row[0] for row in rows if row[1] in {"absent", "outdated"}), "")
    if absent:
        lines += ["", cut(f"covey integrate {absent}  makes it report to Covey itself", paint.columns)]
    for one in result["problems"]:
        problem = hanging("✗", clean(one["problem"]), paint.columns)
        lines += ["", *(paint(line, RED) for line in problem), *hanging(" ", clean(one["suggestion"]), paint.columns)]
    return "\n".join(lines)


def _newest(versions: list[str]) -> str:
    """Return the newest version that was measured, and how many others were."""
    others = f" +{len(versions) - 1}" if len(versions) > 1 else ""
    return f"{clean(versions[-1])}{others}" if versions else "-"


def _versions(items: list[dict[str, Any]]) -> str:
    """Return versions, each with a star if it was never measured."""
    return (
        ", ".join(dict.fromkeys(f"{clean(item['version']) or '?'}{'*' if item['note'] else ''}" for item in items))
        or "-"
    )


def _note(item: dict[str, Any]) -> str:
    blind = [
        name.removeprefix("supports_")
        for name, on in item["capabilities"].items()
        if name.startswith("supports_") and not on
    ]
    integration = item["integration"]
    unmeasured = any(one["note"] for one in (*item["installed"], *item["running"]))
    notes = [
        *([f"cannot tell {', '.join(blind)}"] if blind else []),
        *([integration["detail"]] if integration["detail"] and integration["state"] != "none" else []),
        *(["* never measured"] if unmeasured else []),
        *([f"described in {short(item['origin'])}"] if item["origin"] != "built-in" else []),
    ]
    return "; ".join(notes)


def explained(result: dict[str, Any], paint: Paint) -> str:
    """The state that a screen shows, the rule that says so, and the rules that do not hold."""
    state = result["state"]
    sign, colour = SIGNS[state]
    detail = clean(result["detail"]) if result["rule"] else "no rule holds"
    lines = [f"{paint(f'{sign} {state}', colour)}  {cut(detail, paint.columns - len(state) - 4)}".rstrip()]
    if result["rule"]:
        seen = clean(result["evidence"])
        lines.append(cut(f"  because  rule {clean(result['rule'])}{f': {seen}' if seen else ''}", paint.columns))
    if result["caveat"]:
        lines += hanging("  caveat  ", clean(result["caveat"]), paint.columns)
    for one in result["tried"]:
        if one["why"]:
            of = "title " if one["source"] == "title" else ""
            lines.append(
                cut(f"  not      {of}{clean(one['rule'])} ({one['state']}): {clean(one['why'])}", paint.columns)
            )
    return "\n".join(lines)


def integrated(result: dict[str, Any], paint: Paint, *, dry_run: bool = False) -> str:
    """What was done to which file, or with `dry_run` would be; with the differences if the result has them."""
    agent, files = clean(result["agent"]), result["files"]
    lines = [f"{agent}: {result['state']}" + ("" if result["changed"] else ", nothing to change")]
    if dry_run and result["changed"]:
        lines = [f"{agent}: {result['state']}; this would be done"]
    for file in files:
        lines += hanging(
            f"  {clean(file['change'])} ", f"{short(clean(file['path']))}: {clean(file['about'])}", paint.columns
        )
        if file["backup"]:
            lines += hanging(
                "         ", f"with a copy of what was there: {short(clean(file['backup']))}", paint.columns
            )
        diff = file["diff"].splitlines()
        lines += [f"    {_diff(line, paint)}" for line in diff[:LONGEST_DIFF]]
        lines += [paint(f"    … {len(diff) - LONGEST_DIFF} more lines", DIM)] if len(diff) > LONGEST_DIFF else []
    for note in result["notes"]:
        lines += hanging(" ", clean(note), paint.columns)
    if dry_run and files and not any(file["diff"] for file in files):
        lines.append(paint("  --verbose shows every line", DIM))
    return "\n".join(lines)


def _diff(line: str, paint: Paint) -> str:
    indent = line[: len(line) - len(line[1:].lstrip())] if line[:1] in {"+", "-", " "} else ""
    return paint(cut(indent + clean(line[len(indent) :]), paint.columns - 4), {"+": BLUE, "-": RED}.get(line[:1], DIM))
