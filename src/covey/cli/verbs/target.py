"""`covey target remove`: a person is asked first."""

from __future__ import annotations

import sys

from covey.cli.perform import ask
from murli import cancelled, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def remove(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Forget a target."""
    from covey.cli.render import render

    out = writer()
    if out.is_tty and not out.forced and not _agreed(params["name"]):
        raise cancelled("Nothing was removed.")
    result = ask(home, operation, params)
    out.success(lambda shown: render(operation, shown, colour=out.colour), result)
    return 0


def _agreed(name: str) -> bool:
    sys.stderr.write(f"Forget the target {name}? Its agents keep running. [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
