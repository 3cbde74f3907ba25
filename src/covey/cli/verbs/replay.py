"""`covey replay`: the past of the fleet. The exit code tells whether a check has found a difference."""

from __future__ import annotations

from covey.cli.perform import ask
from murli import EXIT_PARTIAL, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def replay(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Exit code 3 if states that were told do not follow from what was heard."""
    from covey.cli.render import render

    out = writer()
    result = ask(home, operation, params)
    out.success(lambda shown: render(operation, shown, colour=out.colour), result)
    return 0 if result.get("matches", True) else EXIT_PARTIAL
