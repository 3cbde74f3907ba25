"""The policy for people: its rules, a decision, and what would have been decided."""

from __future__ import annotations

from covey.cli.cells import clean, cut, wrapped
from covey.cli.table import table
from covey.cli.text import DIM, GREEN, RED, YELLOW, clock_of, many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint

COLOURS = {"allow": GREEN, "deny": RED, "ask": YELLOW}


def rules(result: dict[str, Any], paint: Paint) -> str:
    """One line for each rule, those that win first, and what is wrong with the policy."""
    lines = _problems(result["problems"], paint)
    if not result["items"]:
        return "\n".join([*lines, "There are no rules: every request is left to you"])
    rows = [
        [item["effect"], clean(item["name"]), clean(_conditions(item["conditions"]) or "everything")]
        for item in result["items"]
    ]
    signs = [("●", COLOURS[item["effect"]]) for item in result["items"]]
    return "\n".join([*lines, *table(["EFFECT", "RULE", "FOR"], rows, signs, paint)])


def decision(result: dict[str, Any], paint: Paint) -> str:
    """What would be decided, and why."""
    effect = result["effect"]
    first, *more = wrapped(clean(result["why"]), paint.columns - len(effect) - 2)
    return "\n".join([f"{paint(effect, COLOURS[effect])}  {first}", *(f"{'':{len(effect)}}  {one}" for one in more)])


def trial(result: dict[str, Any], paint: Paint) -> str:
    """What would have been decided otherwise, and how many requests there were."""
    lines = _problems(result["problems"], paint)
    if not result["total"]:
        return "\n".join([*lines, "No agent has asked for anything in that time"])
    changed = [item for item in result["items"] if item["changed"]]
    if changed:
        rows = [
            [
                clock_of(item["at"]),
                f"{item['decided']} → {item['effect']}",
                clean(item["rule"]) or "-",
                clean(item["agent"]),
                clean(f"{item['tool']} {item['command'] or ' '.join(item['paths'])}")
                + (f"  (you: {clean(item['outcome'])})" if item["against"] else ""),
            ]
            for item in changed
        ]
        signs = [("▲", RED) if item["against"] else ("●", DIM) for item in changed]
        lines += [*table(["TIME", "DECISION", "RULE", "AGENT", "REQUEST"], rows, signs, paint), ""]
    lines.append(
        f"{many(result['total'], 'request')}: {result['allow']} allowed, {result['deny']} denied, "
        f"{result['ask']} asked; {result['changed']} otherwise than then, {result['against']} against your answer"
    )
    return "\n".join(lines)


def _conditions(conditions: dict[str, str]) -> str:
    return "  ".join(f"{key} {value}" for key, value in conditions.items())


def _problems(problems: list[dict[str, Any]], paint: Paint) -> list[str]:
    lines = []
    for one in problems:
        place = f"line {one['line']}: " if one["line"] else ""
        rule = f"rule {one['rule']}: " if one["rule"] else ""
        lines.append(cut(f"✗ {place}{rule}{clean(one['message'])}", paint.columns))
    return [paint(line, RED) for line in lines] + (["While that is so, nothing is allowed.", ""] if lines else [])
