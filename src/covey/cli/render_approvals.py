"""What agents ask, in full, and what came of it, for people."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hint, visible, wrapped
from covey.cli.text import DIM, GREEN, YELLOW, Paint, age, clock_of, many, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ID_END = 6
"""Characters at the end of an id that identify an approval in a list."""
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
    head = f"{other['agent']}  {clean(other['ref'])}  {clean(other['detail'] or other['state'])}"
    return [
        f"{paint('▲', YELLOW)} {cut(head, paint.columns - 2)}",
        paint(cut(f"    {other['command']}", paint.columns), DIM),
        "",
    ]


def request(item: dict[str, Any], paint: Paint) -> list[str]:
    """Return who asks for what, in full."""
    sign = paint("▲", YELLOW) if item["status"] == "open" else paint("○", DIM)
    helper = " (a helper)" if item["helper"] else ""
    agent = f"{item['agent']}{helper}  {clean(item['ref'])}  {clean(item['tool'])}"
    head = f"{item['id'][-ID_END:]}  {age(item['age_ms'])}  {agent}"
    lines = [f"{sign} {cut(head, paint.columns - 2)}"]
    lines += [f"    {line}" for line in visible(item["command"]).split("\n")]
    if item["folder"]:
        lines.append(paint(cut(f"    in {clean(short(item['folder']))}", paint.columns), DIM))
    if item["status"] == "open" and item["suggestions"]:
        covered = wrapped(f"--always would allow: {covers(item['suggestions'])}", max(paint.columns - 4, 1))
        lines += [paint(f"    {line}", DIM) for line in covered]
    return lines


def covers(suggestions: list[dict[str, Any]]) -> str:
    """Return what the rules that an agent offers to remember would allow."""
    found = []
    for one in suggestions:
        rules = [rule for rule in one.get("rules") or [] if isinstance(rule, dict)]
        found += [f"{rule.get('toolName', '')}({rule.get('ruleContent') or 'anything'})" for rule in rules]
        found += [f"access to {folder}" for folder in one.get("directories") or []]
    return visible(", ".join(found) or "what its rules say")


def _next(item: dict[str, Any]) -> str:
    """Return the commands that settle a request, or what came of it."""
    if item["status"] != "open":
        return outcome(item)
    always = [f"{item['commands'][0]} --always"] if item["suggestions"] and not item["questions"] else []
    return " · ".join([*item["commands"], *always])


def outcome(item: dict[str, Any]) -> str:
    """Return what came of a request."""
    if item["status"] != "answered":
        return f"{item['status']}: {clean(item['why'])}"
    via = {"policy": f" by the policy, rule {clean(str(item['by'].get('rule', '')))}"}.get(item["via"], "")
    told = f": {clean(item['message'])}" if item["message"] else ""
    return f"{DONE[item['decision']]}{' for always' if item['always'] else ''}{via}{told}"


def settled(result: dict[str, Any], paint: Paint) -> str:
    """What was answered, and to whom."""
    what = visible(result["command"]).partition("\n")[0]
    return "\n".join(
        [
            cut(
                f"{paint(DONE[result['decision']], GREEN)}  {result['agent']} {clean(result['ref'])}", paint.columns + 9
            ),
            cut(f"  {clean(result['tool'])}: {what}", paint.columns),
        ]
    )


def presence(result: dict[str, Any], _: Paint) -> str:
    """Whether the person is away, and until when."""
    if not result["away"]:
        return "you are here: agents ask at their terminals"
    until = f"until {clock_of(result['until'])}" if result["until"] else "until you say `covey here`"
    return f"you are away {until}: what agents ask waits in `covey approvals`"
