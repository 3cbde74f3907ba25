"""The messages of a stream of the daemon, over restarts of the daemon: the one consumer of server-sent events."""

from __future__ import annotations

import time

from covey.kernel.client import Client, Interrupted, NotRunning
from murli import AgentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.seat import Seat

PATIENCE_S = 30.0
"""How long a follower waits for a daemon that has gone to come back."""
PAUSE_S = 0.25
GAP, SLOW, ERROR = "covey.gap", "covey.slow", "covey.error"
"""Messages of the daemon about the stream: events are no longer kept, the reader was too slow, the operation failed."""
LOST, RESET = "covey.lost", "covey.reset"
"""Messages of this module: the daemon does not answer; its journal has begun anew."""


def following(
    path: str,
    operation: Operation,
    params: Callable[[], dict[str, Any]],
    *,
    endless: bool = True,
    patience: float = PATIENCE_S,
    connected: bool = False,
    deadline: float | None = None,
    resettable: bool = False,
    seat: Seat | None = None,
    token: str = "",
) -> Iterator[dict[str, Any]]:
    """Yield the messages of a stream. A broken connection is made again, with what `params` returns then.

    So is a connection that ends, if the stream is `endless`, and one whose reader was too slow. While the daemon is
    away, one message with the event `covey.lost` says so. Raises `NotRunning` or `Interrupted` after `patience`
    seconds, and at once if there was no connection before; `connected` says that the caller had one. Raises
    `NotAnswered` if the daemon is silent at the `deadline`, a moment of `time.monotonic`, and the daemon's error if the
    operation fails.

    A daemon whose journal has begun anew refuses the cursor of the last message. That is an error too; but if the
    stream is `resettable`, a message with the event `covey.reset` says so, and the caller changes what `params`
    returns. `seat` and `token` are those of `Client`.
    """
    broken_at = 0.0
    received = False
    while True:
        try:
            for message in _connection(Client(path, deadline=deadline, seat=seat, token=token), operation, params()):
                connected, broken_at = True, 0.0
                if message.get("event") == SLOW:
                    break
                received = True
                yield message
            else:
                if not endless:
                    return
                raise Interrupted("it has stopped", seat)  # noqa: TRY301 - one end of a connection is like another
        except (Interrupted, NotRunning):
            if not connected or (broken_at and time.monotonic() - broken_at > patience):
                raise
            if not broken_at:
                broken_at = time.monotonic()
                yield {"event": LOST, "data": {}}
            time.sleep(PAUSE_S)
        except AgentError as error:
            if not (resettable and received and error.field == "since"):
                raise
            received = False
            yield {"event": RESET, "data": {}}


def _connection(client: Client, operation: Operation, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages of one connection. Raises the error that the daemon sends in the middle of the stream."""
    for message in client.stream(operation, params):
        if message.get("event") == ERROR:
            raise AgentError.from_envelope(message["data"])
        yield message
