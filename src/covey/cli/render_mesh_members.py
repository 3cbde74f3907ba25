"""Peers, members, invites and profiles of a mesh, for a person."""

from __future__ import annotations

from covey.cli.cells import clean, cut, hint
from covey.cli.table import table
from covey.cli.text import BLUE, DIM, GREEN, YELLOW, Paint, clock_of, many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATUS = {"idle": ("●", BLUE), "working": ("●", BLUE), "dnd": ("▲", YELLOW)}


def peers(result: dict[str, Any], paint: Paint) -> str:
    """Who is online, then the others."""
    first = f"{result['online']} of {many(len(result['items']), 'peer')} online"
    if len(result["items"]) < 2:  # noqa: PLR2004 - this one alone
        return "\n".join(
            [first, *hint("covey mesh invite", "makes a text with which somebody can join", paint.columns)]
        )
    items = sorted(result["items"], key=lambda item: (not item["online"], item["name"]))
    rows = [
        [
            clean(item["name"]) + (" (you)" if item["you"] else ""),
            item["status"] if item["online"] else "offline",
            " ".join(f"@{clean(group['name'])}" for group in item["groups"]),
            clock_of(item["seen_at"]) if item["seen_at"] else "never",
            clean(item["summary"]),
        ]
        for item in items
    ]
    signs = [STATUS[item["status"]] if item["online"] else ("○", DIM) for item in items]
    return "\n".join([first, "", *table(["NAME", "STATUS", "GROUPS", "SEEN", "WHAT"], rows, signs, paint)])


def members(result: dict[str, Any], paint: Paint) -> str:
    """The members, each with its key on a line of its own: it is copied into rules, so nothing of it may be cut."""
    rows = [
        [
            clean(item["name"]) + (" (you)" if item["you"] else ""),
            "removed" if item["revoked_at"] else item["role"],
            clock_of(item["joined_at"]),
            item["key"],
        ]
        for item in result["items"]
    ]
    signs = [("○", DIM) if item["revoked_at"] else ("●", BLUE) for item in result["items"]]
    present = sum(not item["revoked_at"] for item in result["items"])
    head, *lines = table(["NAME", "ROLE", "JOINED", "SEALED WITH"], rows, signs, paint)
    both = [part for line, item in zip(lines, result["items"], strict=True) for part in (line, f"  {item['member']}")]
    return "\n".join([f"{many(present, 'member')} · topic keys of epoch {result['epoch']}", "", head, *both])


def profile(result: dict[str, Any], paint: Paint) -> str:
    """What others see of this member."""
    facts = {
        "status": result["status"],
        "summary": clean(result["summary"]) or "-",
        "groups": " ".join(f"@{clean(group['name'])}" for group in result["groups"]) or "-",
        "avatar": clean(result["avatar"]) or "-",
        "member": result["member"],
    }
    seen = "seen by others" if result["visible"] else "offline to others"
    lines = [f"{clean(result['name'])} is {seen}"]
    return "\n".join(
        [*lines, *(cut(f"  {paint(f'{name:<8}', DIM)} {text}", paint.columns) for name, text in facts.items())]
    )


def groups(result: dict[str, Any], _: Paint) -> str:
    """The groups of this member."""
    named = [f"@{clean(one['name'])}" + (f" ({clean(one['role'])})" if one["role"] else "") for one in result["items"]]
    return f"In {', '.join(named)}" if named else "In no group"


def heartbeat(result: dict[str, Any], _: Paint) -> str:
    """What others see from now on, and until when."""
    return f"{result['status']} until {clock_of(result['until'])}"


def invite(result: dict[str, Any], paint: Paint) -> str:
    """The text to paste, alone on its lines so that it can be copied, and how long it is good for."""
    uses = "once" if result["uses"] == 1 else f"{result['uses']} times"
    lines = [f"Whoever has this can join {uses} until {clock_of(result['expires_at'])}, as {result['role']}:", ""]
    lines += [f"  covey mesh join {result['token']}", ""]
    return "\n".join([*lines, *hint(f"covey mesh revoke {result['id']}", "takes it back", paint.columns)])


def invites(result: dict[str, Any], paint: Paint) -> str:
    """The invites, and who has joined with them."""
    if not result["items"]:
        return "\n".join(["No invites", *hint("covey mesh invite", "makes one", paint.columns)])
    rows = [
        [
            item["id"],
            item["role"],
            _state(item),
            clock_of(item["expires_at"]),
            ", ".join(clean(name) for name in item["joined"]),
        ]
        for item in result["items"]
    ]
    signs = [("●", BLUE) if _is_open(item) else ("○", DIM) for item in result["items"]]
    return "\n".join(table(["INVITE", "ROLE", "LEFT", "EXPIRES", "JOINED"], rows, signs, paint))


def _is_open(item: dict[str, Any]) -> bool:
    return not item["revoked"] and item["left"] > 0 and item["expires_at"] > _now()


def _now() -> str:
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())


def _state(item: dict[str, Any]) -> str:
    if item["revoked"]:
        return "taken back"
    if item["left"] and not _is_open(item):
        return "expired"
    return f"{item['left']} of {item['uses']}"


def revoked(result: dict[str, Any], paint: Paint) -> str:
    """Who was removed, and that the keys of topics are new."""
    if result["invite"]:
        return f"The invite {result['invite']} is taken back: nobody can join with it any more"
    lines = [f"{paint('✓', GREEN)} {clean(result['name'])} is removed and disconnected"]
    if result["epoch"] is not None:
        lines.append(f"  topic keys are new (epoch {result['epoch']}): what is posted from now on it cannot read")
        lines.append("  the invites that it made or joined with are taken back")
    return "\n".join(lines)


def renamed(result: dict[str, Any], _: Paint) -> str:
    """The old and the new name."""
    return f"{clean(result['old'])} is {clean(result['name'])} from now on"


def rotated(result: dict[str, Any], _: Paint) -> str:
    """The key that is in force."""
    return f"Messages to you are sealed with the key {result['key']} (number {result['number']}) from now on"


def exported(result: dict[str, Any], paint: Paint) -> str:
    """Where the identity is, and that the passphrase is needed."""
    lines = [f"The identity of {result['slug']} is in {clean(result['path'])}, sealed with your passphrase"]
    return "\n".join(
        [*lines, *hint(f"covey mesh keys import {clean(result['path'])}", "takes it over there", paint.columns)]
    )


def imported(result: dict[str, Any], paint: Paint) -> str:
    """Which mesh is there now, and whether its peer runs or how it is started."""
    lines = [f"{result['slug']} is here, with the identity {result['member']}"]
    if result["running"]:
        return "\n".join([*lines, *hint(f"covey mesh status {result['slug']}", "shows how its peer is", paint.columns)])
    return "\n".join([*lines, *hint(f"covey mesh up {result['slug']}", "starts its peer", paint.columns)])
