"""`covey target connect`, which shows progress as it may take long, and `covey target remove`, which asks first."""

from __future__ import annotations

from covey.cli.perform import ask, confirm, show
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


LONGEST_S = 16
"""How long the daemon waits at most for ssh and for the first answer."""


def connect(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Connect to a target now, and show its health."""
    writer().progress(f"connecting to {params['name']}, at most {LONGEST_S} s", stage="connecting")
    show(operation, ask(home, operation, params))
    return 0


def remove(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Remove a target; on a terminal, ask first."""
    confirm(f"Forget the target {params['name']}? Its agents keep running.", "Nothing was removed.")
    show(operation, ask(home, operation, params))
    return 0
