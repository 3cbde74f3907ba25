"""`covey signals`: another Covey runs it over ssh, to receive signals of agents that it cannot see from there."""

from __future__ import annotations

from covey.kernel.client import Client, Interrupted
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def signals(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Print one line for each signal. It always ends with an error, so that the caller connects again."""
    out = writer()
    for message in Client(home.node.socket).stream(operation, params):
        out.event(message["data"])
    raise Interrupted("it has stopped")
