"""What agents ask, in full, and what came of it, for people."""

from __future__ import annotations

from covey.cli.cells import broken, clean, cut, hint, visible, visible_line
from covey.cli.text import DIM, GREEN, YELLOW, Paint, age, clock_of, many, short
from covey.kernel.quick_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ID_END = 6
"""Characters at the end of an id that identify an approval in a list."""
QUOTED, OURS = "  │ ", "    "
"""Begin the lines of a request, and ours below it."""
CONTINUED = "  ↳ "
"""Begins the rest of a line that is longer than the terminal is wide."""
DONE = {"allow": "approved", "deny": "denied", "answer": "answered"}


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Each request with its whole command, and the commands that settle it."""
    lines: list[str] = []
    for item in result["items"]:
        lines += [*request(item, paint), paint(cut(f"    {_next(item)}", paint.columns), DIM), ""]
    for other in result["others"]:
        lines += _other(other, paint)
    lines.append(_summary(result))
    if result["presence"]["away"]:
        lines.append(presence(result["presence"], paint))
    if not result["items"]:
        lines += [paint(line, DIM) for line in hint("covey approvals --all", "shows what was", paint.columns)]
    return "\n".join(lines)


def _summary(result: dict[str, Any]) -> str:
    asked = f"{many(result['open'], 'request')} to answer" if result["open"] else "Nothing is asked through a hook"
    others = len(result["others"])
    if not others:
        return asked if result["open"] else "Nothing is asked"
    return f"{asked} · {many(others, 'agent')} to answer with keys"


def _other(other: dict[str, Any], paint: Paint) -> list[str]:
    """Return an agent that waits for an answer that no hook can give, with the command that shows its dialog."""
    head = "  ".join(map(visible_line, (other["agent"], other["ref"], other["detail"] or other["state"])))
    return [
        f"{paint('▲', YELLOW)} {cut(head, paint.columns - 2)}",
        paint(cut(f"    {visible_line(other['command'])}", paint.columns), DIM),
        "",
    ]


def request(item: dict[str, Any], paint: Paint) -> list[str]:
    """Return who asks for what, in full, with a bar before each line of theirs: no text of theirs can have one."""
    sign = paint("▲", YELLOW) if item["status"] == "open" else paint("○", DIM)
    helper = " (a helper)" if item["helper"] else ""
    parts = (item["id"][-ID_END:], age(item["age_ms"]), f"{item['agent']}{helper}", item["ref"], item["tool"])
    head, *more = _lines("  ", "  ".join(map(visible_line, parts)), paint)
    lines = [f"{sign} {head.removeprefix('  ')}", *more]
    lines += [line for one in visible(item["command"]).split("\n") for line in _lines(QUOTED, one, paint)]
    ours = [f"in {visible_line(short(item['folder']))}"] if item["folder"] else []
    if item.get("unread"):  # a Covey of another machine may not tell it
        ours.append(f"no rule may allow it: {visible_line(item['unread'])}")
    if item["status"] == "open" and item["suggestions"]:
        ours.append(f"--always would allow: {covers(item['suggestions'])}")
    return lines + [paint(line, DIM) for one in ours for line in _lines(OURS, one, paint)]


def _lines(margin: str, text: str, paint: Paint) -> list[str]:
    """Return a line behind a margin, broken by us: a terminal would begin the rest where our own lines begin."""
    first, *more = broken(text, max(paint.columns - len(margin), 1))
    return [f"{margin}{first}", *(f"{CONTINUED}{piece}" for piece in more)]


def covers(suggestions: list[dict[str, Any]]) -> str:
    """Return what the rules that an agent offers to remember would allow, with all that comes with them."""
    found = []
    for one in suggestions:
        rest = {key: value for key, value in one.items() if key not in {"type", "behavior"}}
        rules = rest.pop("rules", None)
        if isinstance(rules, list):
            found += [_rule(rule) for rule in rules]
        elif rules is not None:
            rest["rules"] = rules
        if isinstance(rest.get("directories"), list):
            found += [f"access to {folder}" for folder in rest.pop("directories")]
        found += [
            f"{key} {value}" if isinstance(value, str) else f"{key} {dumps(value)}" for key, value in rest.items()
        ]
    return visible_line(", ".join(found) or "what its rules say")


def _rule(rule: object) -> str:
    if not isinstance(rule, dict) or rule.keys() - {"toolName", "ruleContent"}:
        return dumps(rule)
    return f"{rule.get('toolName', '')}({rule.get('ruleContent') or 'anything'})"


def _next(item: dict[str, Any]) -> str:
    """Return the commands that settle a request, or what came of it."""
    if item["status"] != "open":
        return outcome(item)
    always = [f"{item['commands'][0]} --always"] if item["suggestions"] and not item["questions"] else []
    return " · ".join(map(visible_line, [*item["commands"], *always]))


def outcome(item: dict[str, Any]) -> str:
    """Return what came of a request."""
    if item["status"] != "answered":
        return f"{item['status']}: {clean(item['why'])}"
    via = {"policy": f" by the policy, rule {clean(str(item['by'].get('rule', '')))}"}.get(item["via"], "")
    told = f": {clean(item['message'])}" if item["message"] else ""
    return f"{DONE[item['decision']]}{' for always' if item['always'] else ''}{via}{told}"


def settled(result: dict[str, Any], paint: Paint) -> str:
    """What was answered, and to whom."""
    first, *more = visible(result["command"]).split("\n")
    what = f"{visible_line(result['tool'])}: {first}"
    more_lines = f" … {many(len(more), 'more line')}" if more else ""
    return "\n".join(
        [
            cut(
                f"{paint(DONE[result['decision']], GREEN)}  {result['agent']} {clean(result['ref'])}", paint.columns + 9
            ),
            f"{cut(f'  {what}', paint.columns - len(more_lines))}{more_lines}",
        ]
    )


def presence(result: dict[str, Any], _: Paint) -> str:
    """Whether the person is away, and until when."""
    if not result["away"]:
        return "you are here: agents ask at their terminals"
    until = f"until {clock_of(result['until'])}" if result["until"] else "until you say `covey here`"
    return f"you are away {until}: what agents ask waits in `covey approvals`"
