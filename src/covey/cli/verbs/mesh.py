"""`covey mesh send`, `topic post`, `broadcast`, `receipt`, `inbox`, `profile` and `join`: more than one question."""

from __future__ import annotations

import time

from covey.cli.message_text import STDIN, message_of, read_text
from covey.cli.peer import client_of, seat_of, token_for
from covey.cli.perform import ask, show
from covey.contract import OPERATIONS
from covey.contract.mesh_messages import LONGEST_WAIT_S, MOST_BYTES, RUNG_OF_WAIT
from covey.contract.mesh_shapes import RUNGS
from murli import EXIT_PARTIAL, user_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}
SAYING = {
    "broker": "the broker has stored it",
    "inbox": "it is in the recipient's inbox",
    "seen": "the recipient's agent has seen it",
}
REACHED = {"broker": "stored by the broker", "inbox": "in the recipient's inbox", "seen": "seen by an agent"}


def send(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Send a message, and with --wait go on asking until that much is proven or the time is up."""
    text = _text(params, "covey mesh send @bob 'the build is green'")
    waits, limit = params["wait"], time.monotonic() + params["timeout_s"]
    _say_what_is_waited_for(params)
    first = {**params, "message": text, "timeout_s": min(params["timeout_s"], LONGEST_WAIT_S)}
    result = ask(home, operation, first)
    refused = False
    for copy in result["recipients"]:
        receipt = _awaited(home, params, copy["id"], waits, limit) if _is_below(copy["rung"], waits) else None
        if receipt is not None:
            copy |= {"rung": receipt["rung"], "online": receipt["online"]}
            refused = refused or receipt["refused"]
            result |= {"status": receipt["status"]} if len(result["recipients"]) == 1 else {}
    rungs = [copy["rung"] for copy in result["recipients"]] or [result["rung"]]
    result["rung"] = min(rungs, key=RUNGS.index)
    result["queued"] = result["queued"] and result["rung"] in ("stored", "at_broker")
    below = _is_below(result["rung"], waits)
    if below and not refused:
        result["status"] += f"; not {REACHED[waits]} within {params['timeout_s']:g} s"
    show(operation, result)
    return EXIT_PARTIAL if below else 0


def post(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Post to a topic, or send to everybody."""
    example = "covey mesh broadcast 'the build is green'"
    if operation.name == "mesh.topic.post":
        example = "covey mesh topic post alerts 'the build is green'"
    show(operation, ask(home, operation, {**params, "message": _text(params, example)}))
    return 0


def _text(params: dict[str, Any], example: str) -> str:
    """Return the text of a message. Raises AgentError if there is none, or more of it than a message may have."""
    text = message_of(params, example)
    size = len(text.encode(errors="surrogatepass"))
    if size > MOST_BYTES:
        raise user_error(
            f"the message is too large: it has {size} bytes and may have {MOST_BYTES}",
            "Send a shorter text, or share a file and send where it is.",
            error="message_too_large",
            field="message",
        )
    return text


def receipt(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Show a receipt, and with --wait go on asking until that much is proven or the time is up."""
    _say_what_is_waited_for(params)
    limit = time.monotonic() + params["timeout_s"]
    found = _awaited(home, params, params["id"], params["wait"], limit)
    show(operation, found)
    return EXIT_PARTIAL if _is_below(found["rung"], params["wait"]) else 0


def _awaited(home: Home, params: dict[str, Any], message: str, waits: str, limit: float) -> dict[str, Any]:
    """Return the receipt of a message when it is at the rung that is waited for, is given up, or the time is up."""
    while True:
        left = max(limit - time.monotonic(), 0.0)
        asked = {"id": message, "wait": waits, "timeout_s": min(left, LONGEST_WAIT_S), "mesh": params["mesh"]}
        found: dict[str, Any] = ask(home, BY_NAME["mesh.receipt"], asked)
        ended = found["refused"] or found["state"] in ("dead", "dropped") or not _is_below(found["rung"], waits)
        if ended or time.monotonic() >= limit:
            return found


def _is_below(rung: str, waits: str) -> bool:
    return RUNGS.index(rung) < RUNGS.index(RUNG_OF_WAIT[waits])


def _say_what_is_waited_for(params: dict[str, Any]) -> None:
    out = writer()
    if params["wait"] != "none" and params["timeout_s"] >= 0 and out.is_tty:
        out.log(f"waiting until {SAYING[params['wait']]}, at most {params['timeout_s']:g} s")


def inbox(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Show the messages that have come, and with --follow those that come."""
    if not params["follow"]:
        show(operation, ask(home, operation, params))
        return 0
    from covey.cli.following import following
    from covey.cli.render_mesh import held_back

    seat, out = seat_of(home, operation, params), writer()
    # The place in the journal is read before the inbox is: what comes in between is in both, and is shown once.
    began = client_of(seat).call(BY_NAME["status"], {})["events"]["cursor"]
    asked = {"follow": True, "since": str(began), "kind": ["message"], "limit": None}
    page = ask(home, operation, params)
    shown = page["cursor"]
    put = _putter(operation)
    for item in page["items"]:
        put(item)
    for held in page["held_from"]:
        out.log(held_back(held), "warning")
    wanted = _filter(params)
    for message in following(
        seat.socket, BY_NAME["events"], asked.copy, resettable=True, seat=seat, token=token_for(seat)
    ):
        event = message["data"]
        if "cursor" not in event or "kind" not in event:
            if message.get("event") == "covey.lost":
                out.log("the peer has stopped; waiting for it to come back", "warning")
            continue
        asked["since"] = str(event["cursor"])
        if event["data"]["cursor"] > shown and wanted(event["data"]):
            put(event["data"])
    return 0


def _putter(operation: Operation) -> Callable[[dict[str, Any]], None]:
    """Return what prints one message: text for a person, a line of JSON for a program."""
    out = writer()
    if not out.is_tty:
        return out.event
    from covey.cli.render_mesh import message_lines
    from covey.cli.text import Paint, columns

    del operation
    paint = Paint(columns(), colour=out.colour)
    return lambda item: out.line("\n".join(message_lines(item, paint)))


def _filter(params: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
    topic, sender = (params["topic"] or "").removeprefix("#"), (params["from"] or "").removeprefix("@")
    return lambda item: (
        (not topic or item["topic"] == topic) and (not sender or sender in (item["from"], item["from_name"]))
    )


def profile(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Show or change the profile; without --visible and --hidden, whether others see it stays as it is."""
    if params["visible"] and params["hidden"]:
        raise user_error("--visible and --hidden exclude each other", "Give one of them.", field="hidden")
    visible = params["visible"] if params["visible"] or params["hidden"] else None
    show(operation, ask(home, operation, {**params, "visible": visible}))
    return 0


def join(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Join with an invite, whose text may come from standard input, so that it is not in the list of processes."""
    token = read_text(STDIN, "token") if params["token"] == STDIN else params["token"]
    show(operation, ask(home, operation, {**params, "token": "".join(token.split())}))
    return 0
