"""`covey signals`: what another Covey runs here over ssh, to hear what cannot be seen from there."""

from __future__ import annotations

from covey.kernel.client import Client, Interrupted
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def signals(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """One line for each thing that is told. It never ends well: whoever listens comes back."""
    out = writer()
    for message in Client(home.node.socket).stream(operation, params):
        out.event(message["data"])
    raise Interrupted("it has stopped")
