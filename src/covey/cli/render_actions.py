"""Receipts and screens of agents, for people."""

from __future__ import annotations

from covey.cli.cells import clean, clean_lines, cut, hanging, visible_line, wrapped
from covey.cli.table import table
from covey.cli.text import DIM, GREEN, YELLOW, Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROVEN = frozenset(("seen", "answered"))
"""The rungs at which the agent is known to have the message."""
ID_END = 6
"""Characters at the end of an id that identify a receipt in a list."""


def sent(result: dict[str, Any], paint: Paint) -> str:
    """How far a message came, and why no further; the answer, if it was waited for."""
    receipt, stripped = result["receipt"], result["stripped"]
    if receipt is None:
        waits = result.get("waits_for")
        return f"It would wait: {clean(waits)}" if waits else f"It would be sent to {clean(result['snapshot']['ref'])}."
    lines = [] if "answer" in result else _how_far(receipt, paint)
    if stripped:
        lines.append(f"  {stripped} control characters were left out")
    lines = [cut(line, paint.columns) for line in lines]
    return "\n".join([*lines, answer(result["answer"], paint)] if "answer" in result else lines)


def _how_far(receipt: dict[str, Any], paint: Paint) -> list[str]:
    colour = GREEN if receipt["rung"] in PROVEN else YELLOW
    lines = [f"{paint(receipt['rung'], colour)}  {clean(receipt['evidence'])}".rstrip()]
    if receipt["open"]:
        lines.append(f"  it waits: {clean(receipt['why'])}")
        lines.append(f"  take it back: covey receipts cancel {receipt['id'][-ID_END:]}")
    elif receipt["why"]:
        lines.append(f"  no further: {clean(receipt['why'])}")
    return lines


def answer(result: dict[str, Any], paint: Paint) -> str:
    """The reply of an agent, or why there is none."""
    if result["outcome"] == "answered":
        return clean_lines(result["reply"])
    words = {"asks": "it asks something", "error": "it has failed", "not_sent": "it was not sent", "done": "it is done"}
    what = words.get(result["outcome"], "no answer")
    why = f": {clean(result['why'])}" if result["why"] else ""
    return "\n".join(
        cut(line, paint.columns)
        for line in (
            f"{paint(result['receipt']['rung'], YELLOW)}  {clean(result['receipt']['evidence'])}",
            f"  {what}{why}",
        )
    )


def cancelled(result: dict[str, Any], paint: Paint) -> str:
    """That a message was taken back."""
    return cut(f"It was taken back, and nothing was typed: {clean(result['text'])}", paint.columns)


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
    """The screen of an agent as it is, with its colours if colour is wanted; or its last turns."""
    if "turns" in result:
        parts = [_turn(turn, paint) for turn in result["turns"]]
        return "\n\n".join(parts) or "There is no turn yet"
    lines = result["coloured"] if paint.colour else result["lines"]
    return "\n".join(lines)


def _turn(turn: dict[str, Any], paint: Paint) -> str:
    prompt = "\n".join(f"{paint('>', DIM)} {line}" for line in clean_lines(turn["prompt"]).split("\n"))
    return f"{prompt}\n\n{clean_lines(turn['reply']) or paint('no reply yet', DIM)}"


def dialog(result: dict[str, Any], paint: Paint) -> str:
    """What is asked, and the options with their keys; nothing of it is cut."""
    lines = [line for row in result["text"] for line in wrapped(clean(row), paint.columns)]
    for option in result["options"]:
        means = f" ({option['means']})" if option["means"] else ""
        text = f"{visible_line(option['label'])}{means}, key: {' '.join(option['keys'])}"
        lines += hanging(f"  {option['number']} ", text, paint.columns)
    return "\n".join([*lines, paint(result["fingerprint"], DIM)])


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
        [item["id"][-ID_END:], _rung(item), item["agent"], clean(item["ref"]), clean(item["why"] or item["text"])]
        for item in result["items"]
    ]
    signs = [("○", DIM) if item["rung"] in PROVEN else ("▲", YELLOW) for item in result["items"]]
    return "\n".join(table(["ID", "RUNG", "AGENT", "WHERE", "WHAT"], rows, signs, paint))


def _rung(item: dict[str, Any]) -> str:
    if "position" in item:
        return f"waits, {item['position']}."
    return "not sent" if item["rung"] == "accepted" and not item["open"] else str(item["rung"])
