"""`covey replay`: the past of the fleet. The exit code says whether a check has found a difference."""

from __future__ import annotations

from covey.cli.perform import ask, show
from murli import EXIT_PARTIAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def replay(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Show the fleet at a time, or check it: exit code 3 if recorded states do not follow from the recorded signals."""
    result = ask(home, operation, params)
    show(operation, result)
    return 0 if result.get("matches", True) else EXIT_PARTIAL
