"""The commands of `covey --help`, in groups by what a person wants."""

from __future__ import annotations

from covey.contract import GROUPS, OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SECTIONS = {
    "see your agents": ("ps", "watch", "why", "wait", "needs", "attention", "bar", "list", "replay"),
    "have them seen": ("integrate", "target", "adapters"),
    "beats, prompts on a schedule": ("init", "beat", "beats"),
    "the daemon": ("up", "down", "status", "doctor", "logs", "config", "reload", "service", "backup"),
    "for programs": ("events", "health", "metrics", "openapi", "signals", "completion"),
}
OTHERS = "more"
COLUMN = 15
"""Where the summaries begin."""


def overview(wrapped: Callable[[str], list[str]]) -> str:
    """Every command with its summary, by section; one that no section names stands at the end. `wrapped` breaks a summary into lines."""
    summaries = _summaries()
    others = [name for name in summaries if not any(name in names for names in SECTIONS.values())]
    lines = []
    for title, names in {**SECTIONS, OTHERS: tuple(others)}.items():
        there = [name for name in names if name in summaries]
        if not there:
            continue
        lines += ["", f"{title}:"]
        for name in there:
            label, summary = summaries[name]
            first, *more = wrapped(summary)
            lines.append(f"  {label}".ljust(COLUMN) + first)
            lines += [" " * COLUMN + line for line in more]
    return "\n".join(lines[1:])


def _summaries() -> dict[str, tuple[str, str]]:
    """The first word of each command, how it is shown, and what it does."""
    found: dict[str, tuple[str, str]] = {}
    for operation in OPERATIONS:
        if len(operation.cli) == 1:
            others = f" ({', '.join(operation.aliases)})" if operation.aliases else ""
            found[operation.cli[0]] = (f"{operation.cli[0]}{others}", operation.summary)
        elif operation.cli:
            found.setdefault(operation.cli[0], (operation.cli[0], GROUPS[operation.cli[0]]))
            found |= {alias: (alias, operation.summary) for alias in operation.aliases}
    return found
