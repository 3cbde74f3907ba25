"""Messages of a mesh, sent and received, and receipts, for a person."""

from __future__ import annotations

from covey.cli.cells import clean, clean_lines, cut, hint, width, wrapped
from covey.cli.table import table
from covey.cli.text import BLUE, DIM, GREEN, RED, YELLOW, Paint, clock_of, many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RUNGS = {
    "stored": ("○", YELLOW, "queued here"),
    "at_broker": ("●", BLUE, "at the broker"),
    "in_inbox": ("✓", GREEN, "in the inbox"),
    "seen": ("✓", GREEN, "seen"),
}
"""The sign of each rung, its colour, and what it proves."""
OUTBOX = "in our outbox"
ONLINE = {True: "online", False: "offline", None: "not known"}


def sent(result: dict[str, Any], paint: Paint) -> str:
    """What is proven about a message that was just sent; with several recipients, for each of them."""
    sign, colour, _ = RUNGS[result["rung"]]
    status = _queued(result) or clean(result["status"])
    again = " (sent before with the same key; nothing was sent again)" if result["replayed"] else ""
    lines = wrapped(f"{status}{again}", paint.columns - 2)
    lines = [f"{paint(sign, colour)} {lines[0]}", *(f"  {line}" for line in lines[1:])]
    if len(result["recipients"]) > 1:
        lines += ["", *_copies(result["recipients"], paint)]
    if result["rung"] != "seen" and result["id"]:
        lines += hint(f"covey mesh receipt {result['id']}", "shows what becomes of it", paint.columns)
    return "\n".join(lines)


def _queued(result: dict[str, Any]) -> str:
    """Return why a message waits, where it is more than the rung: its recipient is offline. Else an empty string."""
    offline = [clean(one["name"]) or one["member"] for one in result["recipients"] if one["online"] is False]
    if not offline or result["rung"] not in ("stored", "at_broker"):
        return ""
    if any(one["rung"] in ("in_inbox", "seen") for one in result["recipients"]):
        return ""  # the status says which of them have it
    if result["rung"] == "stored" and result["status"].partition(";")[0].partition(", for ")[0] != OUTBOX:
        return ""  # the broker is not reached, which keeps it here whoever is there
    others = f" and {len(offline) - 1} more are" if len(offline) > 1 else " is"
    where = ", and the broker has it" if result["rung"] == "at_broker" else ""
    return f"queued: {offline[0]}{others} offline{where}"


def _copies(recipients: list[dict[str, Any]], paint: Paint) -> list[str]:
    rows = [[clean(one["name"]) or one["member"], ONLINE[one["online"]], RUNGS[one["rung"]][2]] for one in recipients]
    return table(["TO", "PEER", "MESSAGE"], rows, [RUNGS[one["rung"]][:2] for one in recipients], paint)


def receipt(result: dict[str, Any], paint: Paint) -> str:
    """What is proven about one message, and when it was."""
    sign, colour, _ = RUNGS[result["rung"]]
    if result["state"] in ("dead", "dropped"):
        sign, colour = "✗", RED
    lines = [f"{paint(sign, colour)} {clean(result['status'])}"]
    moments = {
        "stored": result["accepted_at"],
        "at the broker": result["delivered_at"],
        "in the inbox": result["received_at"],
        "seen": result["seen_at"],
    }
    lines += [f"  {paint(f'{name:<14}', DIM)} {clock_of(at) if at else '-'}" for name, at in moments.items()]
    if result["error"]:
        lines.append(cut(f"  {many(result['attempts'], 'attempt')}; the last: {clean(result['error'])}", paint.columns))
    if result["state"] == "dead":
        lines += hint(f"covey mesh outbox requeue {result['id']}", "tries again", paint.columns)
    return "\n".join(lines)


def inbox(result: dict[str, Any], paint: Paint) -> str:
    """The messages, the oldest first."""
    lines = [line for item in result["items"] for line in message_lines(item, paint)] or ["No messages"]
    for one in result["held_from"]:
        first, *more = wrapped(held_back(one), paint.columns - 2)
        lines += [f"{paint('▲', YELLOW)} {first}", *(f"  {line}" for line in more)]
    return "\n".join(lines)


def held_back(held: dict[str, Any]) -> str:
    """Return how many messages of a member have come and wait for earlier ones, and how long they wait at most."""
    count, until = many(held["messages"], "message"), clock_of(held["until"])
    return f"{count} from {clean(held['name'])} held back until earlier ones come, until {until} at most"


def found(result: dict[str, Any], paint: Paint) -> str:
    """The messages that were found, the newest first."""
    lines = [line for item in result["items"] for line in message_lines(item, paint)]
    if not lines:
        lines = ["Nothing was found"]
    if not result["indexed"]:
        lines.append("The index is not complete yet: the newest messages may be missing")
    return "\n".join(lines)


def message_lines(item: dict[str, Any], paint: Paint) -> list[str]:
    """Return one message: who, when and where on one line, its text below."""
    sender = clean(item["from_name"]) or item["from"]
    if item["from_agent"]:
        sender = f"{sender}/{clean(item['from_agent'])}"
    marks = [
        *([f"#{clean(item['topic'])}"] if item["topic"] and item["kind"] == "topic" else []),
        *(["to all"] if item["kind"] == "broadcast" else []),
        *([f"to your agent {clean(item['to_agent'])}"] if item["to_agent"] else []),
        *(["a reply"] if item["reply_to_id"] else []),
        *(["now"] if item["priority"] == "now" else []),
        *(["mentions you"] if item["mentioned"] else []),
        *(["late"] if item["late"] else []),
    ]
    sign, colour = ("▲", YELLOW) if item["priority"] == "now" or item["mentioned"] else ("●", BLUE)
    head = f"{clock_of(item['received_at'])}  {sender}"
    first = "  ".join([head, *marks])
    fits = width(first) + 4 + len(item["id"]) <= paint.columns  # the id is never cut: it is copied
    lines = [f"{paint(sign, colour)} {cut(first, paint.columns - 2)}" + (f"  {item['id']}" if fits else "")]
    lines += [] if fits else [f"  {item['id']}"]
    for line in clean_lines(item["text"]).split("\n"):
        lines += [f"    {part}" for part in wrapped(line, max(paint.columns - 4, 16))]
    return lines


def outbox(result: dict[str, Any], paint: Paint) -> str:
    """The rows of the outbox; what is dead needs a person."""
    first = f"{many(result['pending'], 'message')} waiting, {result['dead']} given up"
    if not result["items"]:
        return first
    rows = [
        [
            item["id"],
            item["state"],
            clean(item["to"]),
            clock_of(item["accepted_at"]),
            _tried(item),
        ]
        for item in result["items"]
    ]
    signs = [("✗", RED) if item["state"] == "dead" else RUNGS[item["rung"]][:2] for item in result["items"]]
    lines = [first, "", *table(["ID", "STATE", "TO", "SINCE", "WHY"], rows, signs, paint)]
    if result["dead"]:
        lines += ["", *hint("covey mesh outbox requeue --all", "tries those that were given up again", paint.columns)]
    return "\n".join(lines)


def _tried(item: dict[str, Any]) -> str:
    """Return how often a message was tried, and why it was not sent; empty if it was not tried yet."""
    why = clean(item["error"])
    return f"{many(item['attempts'], 'attempt')}{': ' if why else ''}{why}" if item["attempts"] else why


def requeued(result: dict[str, Any], _: Paint) -> str:
    """How many messages are tried again."""
    return f"{many(len(result['ids']), 'message')} will be sent again" if result["ids"] else "There was nothing to send"


def dropped(result: dict[str, Any], _: Paint) -> str:
    """How many messages were dropped."""
    return f"{many(len(result['ids']), 'message')} dropped" if result["ids"] else "There was nothing to drop"


def topics(result: dict[str, Any], paint: Paint) -> str:
    """The topics that this peer knows by name."""
    if not result["items"]:
        return "\n".join(["No topics", *hint("covey mesh topic subscribe alerts", "begins with one", paint.columns)])
    rows = [
        [clean(item["name"]), str(item["messages"]), clock_of(item["last_at"]) if item["last_at"] else ""]
        for item in result["items"]
    ]
    signs = [("●", BLUE) if item["subscribed"] else ("○", DIM) for item in result["items"]]
    return "\n".join(table(["TOPIC", "MESSAGES", "LAST"], rows, signs, paint))


def topic(result: dict[str, Any], paint: Paint) -> str:
    """Whether a topic is subscribed to now."""
    sign, colour = ("●", BLUE) if result["subscribed"] else ("○", DIM)
    words = "its messages come into the inbox" if result["subscribed"] else "its messages do not come any more"
    return f"{paint(sign, colour)} {clean(result['name'])}: {words}"
