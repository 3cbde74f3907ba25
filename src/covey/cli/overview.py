"""The commands of `covey --help`, in sections by what a person wants."""

from __future__ import annotations

from covey.contract import GROUPS, OPERATIONS

SECTIONS = {
    "see your agents": ("ps", "watch", "why", "wait", "needs", "next", "back", "attention", "bar", "list", "replay"),
    "act on one of them": (
        "attach",
        "send",
        "approvals",
        "approve",
        "deny",
        "answer",
        "away",
        "here",
        "view",
        "dialog",
        "interrupt",
        "kill",
        "receipts",
        "policy",
    ),
    "have them seen": ("integrate", "target", "adapters"),
    "keep them running": ("keep",),
    "peers on other machines": ("mesh",),
    "beats, prompts on a schedule": ("init", "beat", "beats"),
    "the daemon": ("up", "down", "status", "doctor", "logs", "audit", "config", "reload", "service", "backup"),
    "for programs": ("mcp", "events", "health", "metrics", "openapi", "signals", "completion"),
}
OTHERS = "more"


def sections() -> dict[str, list[tuple[str, str]]]:
    """Return the commands of each section with their summaries; the last section has those that no other names."""
    summaries = _summaries()
    named = {name for names in SECTIONS.values() for name in names}
    others = tuple(name for name in summaries if name not in named)
    found = {
        title: [summaries[name] for name in names if name in summaries]
        for title, names in {**SECTIONS, OTHERS: others}.items()
    }
    return {title: rows for title, rows in found.items() if rows}


def _summaries() -> dict[str, tuple[str, str]]:
    """Return by the first word of each command how it is shown, and its summary."""
    found: dict[str, tuple[str, str]] = {}
    for operation in OPERATIONS:
        if len(operation.cli) == 1:
            others = f" ({', '.join(operation.aliases)})" if operation.aliases else ""
            found[operation.cli[0]] = (f"{operation.cli[0]}{others}", operation.summary)
        elif operation.cli:
            found.setdefault(operation.cli[0], (operation.cli[0], GROUPS[operation.cli[0]]))
            found |= {alias: (alias, operation.summary) for alias in operation.aliases}
    return found
