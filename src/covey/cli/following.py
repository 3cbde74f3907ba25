"""Following a stream of the daemon over its restarts."""

from __future__ import annotations

import time

from covey.kernel.client import Client, Interrupted, NotRunning
from murli import AgentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from covey.contract import Operation

PATIENCE_S = 30.0
"""How long a follower waits for a daemon that has gone to come back."""
PAUSE_S = 0.25
LOST = "covey.lost"


def following(
    path: str,
    operation: Operation,
    params: Callable[[], dict[str, Any]],
    *,
    endless: bool = True,
    patience: float = PATIENCE_S,
    connected: bool = False,
    deadline: float | None = None,
) -> Iterator[dict[str, Any]]:
    """The messages of a stream. A broken connection is made again, with the parameters as they are then; so is one that ends, if it is `endless`.

    An error of the daemon in the middle of the stream is raised; a reader that was too slow begins anew. While nobody is there, one message with the
    event `covey.lost` says so; after `patience` seconds, the error. A daemon that is not there at all is no error for one that was `connected` before.
    A daemon that is there and silent at the `deadline`, a moment of `time.monotonic`, is an error.
    """
    broken_at = 0.0
    while True:
        try:
            for message in Client(path, deadline=deadline).stream(operation, params()):
                connected, broken_at = True, 0.0
                if message.get("event") == "covey.slow":
                    break
                if message.get("event") == "covey.error":
                    raise AgentError.from_envelope(message["data"])
                yield message
            else:
                if not endless:
                    return
                raise Interrupted("it has stopped")  # noqa: TRY301 - one end of a connection is like another
        except (Interrupted, NotRunning):
            if not connected or (broken_at and time.monotonic() - broken_at > patience):
                raise
            if not broken_at:
                broken_at = time.monotonic()
                yield {"event": LOST, "data": {}}
            time.sleep(PAUSE_S)
