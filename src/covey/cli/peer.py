"""Asks the peer of a mesh: over its socket if it runs, else over a short connection to the broker, made here."""

from __future__ import annotations

import os
import time

from covey.cli.person import check_person
from covey.kernel.client import Client, NotRunning
from covey.kernel.seat_choice import chosen_seat
from murli import AgentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from covey.kernel.seat import Seat

PAUSES, PAUSE_S = 100, 0.1
"""How often, and at which interval, a peer that starts or stops is asked again."""
NOT_RUNNING = "daemon_not_running"
SLUG_VARIABLE, TOKEN_VARIABLE = "COVEY_MESH", "COVEY_MESH_TOKEN"


def seat_of(home: Home, operation: Operation, params: dict[str, Any]) -> Seat:
    """Return the seat of the daemon that a command line means. Raises AgentError that lists those that there are."""
    return chosen_seat(home, operation.served_by, params.get(operation.seat_parameter))


def token_for(seat: Seat) -> str:
    """Return the token to show to a peer: that of the hook in which this command runs, if it is a hook of that peer."""
    slug = os.environ.get(SLUG_VARIABLE, seat.name)
    return os.environ.get(TOKEN_VARIABLE, "") if slug == seat.name else ""


def client_of(seat: Seat, *, timeout: float = 30.0) -> Client:
    """Return a client of a peer."""
    return Client(seat.socket, seat=seat, timeout=timeout, token=token_for(seat))


def ask_peer(home: Home, operation: Operation, params: dict[str, Any]) -> Any:
    """Return the result of an operation of a peer. Raises the AgentError of the operation or of the connection.

    A peer that does not run is not needed for operations that are `cold`.
    """
    from covey.cli.perform import new_key, warn_of_other_version

    seat = seat_of(home, operation, params)
    client, key = client_of(seat), new_key() if operation.mutating else ""
    sent = {name: value for name, value in params.items() if operation.parameter(name) is not None}
    patience = PAUSES
    while True:
        try:
            result = client.call(operation, sent, idempotency_key=key)
        except NotRunning:
            if not operation.cold:
                raise
            from covey.mesh.cold import perform as perform_cold

            check_person(home, operation, sent)
            given = {name: value for name, value in sent.items() if value is not None}
            try:
                return perform_cold(home, seat.name, operation, given, key=key)
            except AgentError as error:
                # The peer starts or stops at this moment, or another command is in its place for one call.
                if error.error != NOT_RUNNING or not patience:
                    raise
            patience -= 1
            time.sleep(PAUSE_S)
        else:
            warn_of_other_version(client.server_version, seat.command("down"), seat.command("up"))
            return result
