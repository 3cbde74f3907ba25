"""The fleet on one line: for the status line of tmux, for the menu bar of macOS (SwiftBar), or as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.fleet.answers.view import ordered
from covey.kernel.visible_text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.fleet.answers.view import Row, TargetStatus

FORMATS = ("plain", "tmux", "swiftbar")
SIGNS = {
    "✗": (("error",), "fg=red", "#c0392b"),
    "▲": (("waiting_approval", "waiting_input"), "fg=yellow", "#b58900"),
    "●": (("running",), "fg=blue", "#268bd2"),
    "○": (("completed", "idle"), "dim", ""),
    "?": (("unknown",), "dim", ""),
}
"""Each sign with its states and its colours."""
LONGEST_DETAIL = 60


AWAY = "away"
"""Ends the line while the person is away: some dialogs do not show then."""


def bar(
    rows: Iterable[Row], targets: Iterable[TargetStatus], form: str = "plain", *, away: bool = False
) -> dict[str, Any]:
    """Return the line and its counts. Without agents it is empty, except in a menu bar, which hides empty lines."""
    rows = ordered(rows)
    counts = {sign: sum(row.state in states for row in rows) for sign, (states, _, _) in SIGNS.items()}
    down = [target.target for target in targets if target.health == "down"]
    if form == "swiftbar":
        text = _swiftbar(rows, counts, down, away=away)
    else:
        text = " ".join(filter(None, ({"plain": _uncoloured, "tmux": _tmux}[form](counts), AWAY if away else "")))
    return {"text": text, "needs_action": sum(row.needs_action for row in rows), "total": len(rows), "down": down}


def _uncoloured(counts: dict[str, int]) -> str:
    return " ".join(f"{count}{sign}" for sign, count in counts.items() if count)


def _tmux(counts: dict[str, int]) -> str:
    return " ".join(f"#[{SIGNS[sign][1]}]{count}{sign}#[default]" for sign, count in counts.items() if count)


def _swiftbar(rows: list[Row], counts: dict[str, int], down: list[str], *, away: bool) -> str:
    """Return a title and a menu with one line for each agent. A bar in a text would begin SwiftBar's parameters."""
    loudest = next((sign for sign in ("✗", "▲") if counts[sign]), "")
    title = " ".join(filter(None, (_uncoloured(counts) or "○", AWAY if away else "")))
    lines = [f"{title}{_coloured(loudest)}", "---"]
    for row in rows:
        sign = next(sign for sign, (states, _, _) in SIGNS.items() if row.state in states)
        place = f"{row.target}/{row.session_name}:{row.window_index}.{row.pane_index}"
        lines.append(_safe(f"{sign} {row.agent}  {place}  {row.detail[:LONGEST_DETAIL]}".rstrip()) + _coloured(sign))
    lines += [f"{_safe(name)} is down" for name in down]
    return "\n".join(lines if len(lines) > 2 else [*lines, "No agents"])  # noqa: PLR2004 - the title and the line below it


def _coloured(sign: str) -> str:
    colour = SIGNS[sign][2] if sign else ""
    return f" | color={colour}" if colour else ""


def _safe(text: str) -> str:
    return " ".join(shown(text).splitlines()).replace("|", "¦")
