"""Receipts and screens of agents, for people."""

from __future__ import annotations

from covey.cli.cells import clean, cut
from covey.cli.table import table
from covey.cli.text import DIM, GREEN, YELLOW, Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ID_END = 6
"""Characters at the end of an id that identify a receipt in a list."""


def sent(result: dict[str, Any], paint: Paint) -> str:
    """How far a message came, and why no further."""
    receipt, stripped = result["receipt"], result["stripped"]
    if receipt is None:
        return f"It would be sent to {clean(result['snapshot']['ref'])}."
    lines = [f"{paint(receipt['rung'], GREEN if receipt['rung'] == 'seen' else YELLOW)}  {clean(receipt['evidence'])}"]
    if receipt["why"]:
        lines.append(f"  no further: {clean(receipt['why'])}")
    if stripped:
        lines.append(f"  {stripped} control characters were left out")
    return "\n".join(cut(line, paint.columns) for line in lines)


def interrupted(result: dict[str, Any], paint: Paint) -> str:
    """What an interruption came to."""
    ref, state = clean(result["snapshot"]["ref"]), result["state"]
    return cut(f"{ref} is {state} now" if result["stopped"] else f"{ref} still works", paint.columns)


def killed(result: dict[str, Any], paint: Paint) -> str:
    """What a signal came to."""
    end = "it has ended" if result["ended"] else "it still runs"
    return cut(
        f"SIG{result['signal']} was sent to {result['snapshot']['agent']} (pid {result['pid']}); {end}", paint.columns
    )


def screen(result: dict[str, Any], paint: Paint) -> str:
    """The screen of an agent as it is, with its colours if colour is wanted."""
    lines = result["coloured"] if paint.colour else result["lines"]
    return "\n".join(lines)


def dialog(result: dict[str, Any], paint: Paint) -> str:
    """What is asked, and the options with their keys."""
    lines = [clean(row) for row in result["text"]]
    for option in result["options"]:
        means = f"  {option['means']}" if option["means"] else ""
        lines.append(f"  {option['number']}  {clean(option['label'])}{means}  {paint(' '.join(option['keys']), DIM)}")
    return "\n".join(cut(line, paint.columns) for line in [*lines, paint(result["fingerprint"], DIM)])


def answered(result: dict[str, Any], paint: Paint) -> str:
    """Which option was chosen, and what became of the dialog."""
    ref, label = clean(result["snapshot"]["ref"]), clean(result["option"]["label"])
    lines = [f"{label} was chosen in {ref}, which is {result['state']} now"]
    if not result["gone"]:
        lines = [f"{paint('not answered', YELLOW)}  {clean(result['why'])}"]
    if result["next"]:
        lines.append(f"  it asks something: covey dialog show {ref}")
    return "\n".join(cut(line, paint.columns) for line in lines)


def receipts(result: dict[str, Any], paint: Paint) -> str:
    """One line for each message."""
    if not result["items"]:
        return "Nothing was sent yet"
    rows = [
        [item["id"][-ID_END:], item["rung"], item["agent"], clean(item["ref"]), clean(item["why"] or item["text"])]
        for item in result["items"]
    ]
    signs = [("○", DIM) if item["rung"] == "seen" else ("▲", YELLOW) for item in result["items"]]
    return "\n".join(table(["ID", "RUNG", "AGENT", "WHERE", "WHAT"], rows, signs, paint))
