"""Verbs for the peers themselves: up, down, status, logs, reload, metrics, events and run."""

from __future__ import annotations

import os

from covey.cli.peer import SLUG_VARIABLE, client_of, token_for
from covey.cli.perform import ask, show
from covey.contract import OPERATIONS
from covey.contract.mesh_shapes import KIND
from covey.kernel.client import NotRunning
from covey.kernel.seat_choice import chosen_seat, joined_names
from murli import EXIT_PARTIAL, AgentError, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from covey.kernel.seat import Seat

QUICK_S = 5.0
BY_NAME = {operation.name: operation for operation in OPERATIONS}


def keep(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Have the node keep a peer running, or end it."""
    slug = params["slug"] or (None if params["all"] else os.environ.get(SLUG_VARIABLE) or None)
    show(operation, ask(home, operation, {**params, "slug": slug}))
    return 0


def status(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Show how peers are. The exit code is 3 if one of them does not answer."""
    found = [_process(home, seat) for seat in _seats(home, params)]
    show(operation, {"items": found})
    return 0 if all(one["running"] for one in found) else EXIT_PARTIAL


def _process(home: Home, seat: Seat) -> dict[str, Any]:
    from covey.mesh.joined import wanted
    from covey.mesh.peer_output import said_last

    gone = {"running": False, "version": "", "pid": None, "uptime_s": None, "rss_bytes": None, "why": ""}
    try:
        told = client_of(seat, timeout=QUICK_S).call(BY_NAME["status"], {})
    except AgentError as error:
        why, wish = error.message, wanted(seat)
        if isinstance(error, NotRunning):
            said = said_last(home, seat.name) if wish == "up" else ""
            why = f"it does not start: {said}" if said else "it does not run"
        return {"slug": seat.name, **gone, "wanted": wish, "why": why}
    known = {name: told[name] for name in ("version", "pid", "uptime_s", "rss_bytes")}
    return {"slug": seat.name, **gone, **known, "running": True, "wanted": wanted(seat), "peer": told[KIND]}


def logs(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Print the log of a peer."""
    from covey.cli.verbs.logs import logs_of

    return logs_of(_seat(home, params), params)


def reload(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Make peers read their configuration again. The exit code is 3 if one of them has not."""
    items = []
    for seat in _seats(home, params):
        try:
            changed = client_of(seat).call(BY_NAME["reload"], {})["changed"]
            items.append({"slug": seat.name, "changed": changed, "error": ""})
        except AgentError as error:
            items.append({"slug": seat.name, "changed": [], "error": error.message})
    show(operation, {"items": items})
    return EXIT_PARTIAL if any(item["error"] for item in items) else 0


def metrics(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Print the metrics of a peer."""
    text = client_of(_seat(home, params)).call(BY_NAME["metrics"], {})
    writer().success(text.rstrip("\n"), text)
    return 0


def events(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Print the events of a peer."""
    from covey.cli.verbs.events import events_of

    seat = _seat(home, params)
    asked = {name: value for name, value in params.items() if name != "slug"}
    return events_of(seat, BY_NAME["events"], asked, token=token_for(seat))


def run(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Be the peer of a mesh until it is told to stop."""
    seat = _seat(home, params)
    from covey.mesh.__main__ import main

    return main([home.path, seat.name])


def _seat(home: Home, params: dict[str, Any]) -> Seat:
    return chosen_seat(home, KIND, params["slug"])


def _seats(home: Home, params: dict[str, Any]) -> list[Seat]:
    """Return the seats that are meant. With --all, none if no mesh was joined."""
    if params["all"]:
        return [home.seat(KIND, name) for name in joined_names(home, KIND)]
    return [_seat(home, params)]
