"""Kept sessions, their channels and what happened to them, for a person."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hanging, hint
from covey.cli.table import table
from covey.cli.text import BLUE, DIM, GREEN, YELLOW, Paint, clock_of, many, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PHASES = {"running": ("●", BLUE), "starting": ("◌", YELLOW), "waits": ("▲", YELLOW), "stopped": ("○", DIM)}


def sessions(result: dict[str, Any], paint: Paint) -> str:
    """The table of kept sessions."""
    if not result["items"]:
        return "\n".join(["No kept sessions", *hint("covey keep start api --agent codex", "keeps one", paint.columns)])
    rows = [
        [
            clean(item["name"]),
            item["agent"],
            _doing(item),
            str(item["waiting"] or ""),
            str(item["restarts"] or ""),
            clean(short(item["cwd"])),
        ]
        for item in result["items"]
    ]
    signs = [PHASES[item["phase"]] for item in result["items"]]
    return "\n".join(table(["NAME", "AGENT", "STATE", "WAITING", "RESTARTS", "FOLDER"], rows, signs, paint))


def _doing(item: dict[str, Any]) -> str:
    return str(item["state"] or "starting") if item["phase"] == "running" else str(item["phase"])


def session(result: dict[str, Any], paint: Paint) -> str:
    """One session after something was done to it, and the way to it."""
    name = clean(result["name"])
    sign, colour = PHASES[result["phase"]]
    lines = [f"{paint(sign, colour)} {name}: {result['agent']} {_sentence(result)}"]
    lines += [f"  {clean(note)}" for note in result["notes"]]
    if result["phase"] != "stopped":
        lines += hint(f"covey keep attach {name}", "goes there", paint.columns)
        lines += hint(f'echo hello > "$(covey keep path {name})/in"', "gives it a message", paint.columns)
    return "\n".join(lines)


def _sentence(item: dict[str, Any]) -> str:
    if item["phase"] == "waits":
        return f"has crashed ({clean(item['why'])}); it is started again at {clock_of(item['starts_at'])}"
    if item["phase"] == "stopped":
        return f"does not run: {clean(item['why'])}" if item["why"] else "does not run"
    return f"is {_doing(item)} in {clean(short(item['cwd']))}"


def status(result: dict[str, Any], paint: Paint) -> str:
    """A session, its channels, and the messages that wait."""
    item = result["session"]
    facts = {
        "conversation": clean(item["conversation"]) or "not known yet",
        "transcript": clean(short(item["transcript"])) or "not known yet",
        "channels in": clean(short(item["path"])),
        "tmux": f"{clean(item['name'])} {item['pane_id']} in {clean(item['socket'])}",
        "started": clock_of(item["started_at"]) if item["started_at"] else "never",
        "restarts": str(item["restarts"]),
        **({"worktree": f"{clean(item['worktree'])} on {clean(item['branch'])}"} if item["worktree"] else {}),
        **({"arguments": clean(" ".join(item["args"]))} if item["args"] else {}),
        **({"variables": clean(" ".join(item["variables"]))} if item["variables"] else {}),
        "after a reboot": "comes back" if item["keep"] else "stays stopped",
    }
    lines = [session(item, paint).partition("\n")[0]]
    for name, value in facts.items():
        first, *more = hanging(f"  {name:<15}", value, paint.columns)  # whole: a person copies it
        label = f"  {name:<15}"
        lines += [f"{paint(label, DIM)}{first.removeprefix(label)}", *more]
    lines += [f"  {clean(note)}" for note in item["notes"]]
    for adapter in result["failing_adapters"]:
        said = clean(adapter["last_line"]) or "its log is empty"
        text = f"{clean(adapter['name'])} ends again and again: {said}; its log is {clean(short(adapter['log']))}"
        lines += hanging("  ▲", text, paint.columns)
    lines += ["", channels({"items": result["channels"], "not_served": result["not_served"]}, paint)]
    if result["messages"]:
        lines += ["", f"{many(item['waiting'], 'message')} waiting"]
        for message in result["messages"]:
            again = " (sent again)" if message["again"] else ""
            text = f"  {clock_of(message['at'])} {clean(message['channel'])}{again}: {clean(message['text'])}"
            lines.append(cut(text, paint.columns))
    return "\n".join(lines)


def channels(result: dict[str, Any], paint: Paint) -> str:
    """The table of channels."""
    if not result["items"]:
        return "No channels"
    rows = [
        [
            clean(item["name"]),
            "in" if item["incoming"] else "",
            "out" if item["outgoing"] else "",
            str(item["taken"]),
            str(item["refused"]),
        ]
        for item in result["items"]
    ]
    lines = table(["CHANNEL", "IN", "OUT", "TAKEN", "REFUSED"], rows, [("·", DIM)] * len(rows), paint)
    if count := result["not_served"]:
        text = f"{many(count, 'FIFO')} more {'is' if count == 1 else 'are'} not read: the session has too many channels"
        lines += hanging("▲", text, paint.columns)
    return "\n".join(lines)


def logs(result: dict[str, Any], paint: Paint) -> str:
    """What happened, one line each."""
    if not result["items"]:
        return "Nothing has happened yet"
    lines = []
    for item in result["items"]:
        at = clock_of(item["at"])
        first, *more = hanging(f"{at} ", clean(item["text"]), paint.columns)
        lines += [f"{paint(at, DIM)}{first.removeprefix(at)}", *more]
    return "\n".join(lines)


def path(result: dict[str, Any], _: Paint) -> str:
    """The folder alone, for scripts."""
    return str(result["path"])


def forgotten(result: dict[str, Any], _: Paint) -> str:
    """That a session is forgotten, and what became of its worktree."""
    lines = [f"{clean(result['name'])} is forgotten"]
    if result["messages"]:
        lines.append(f"  with {many(result['messages'], 'message')} that waited")
    if result["worktree"]:
        what = "was removed: nothing in it was changed" if result["removed"] else f"stays: {clean(result['why'])}"
        lines.append(f"  the worktree {clean(result['worktree'])} {what}")
    return "\n".join(lines)


def sent(result: dict[str, Any], paint: Paint) -> str:
    """That a message went out."""
    return f"{paint('sent', GREEN)}  {many(result['bytes'], 'byte')} on {clean(result['channel'])}"
