"""`covey doctor`: what is missing or wrong, and the command that mends it."""

from __future__ import annotations

from covey.cli.perform import ask
from murli import EXIT_PARTIAL, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def doctor(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Exit code 3 if something has to be mended."""
    from covey.kernel.doctor import readable
    from covey.kernel.finding import Finding

    result = ask(home, operation, params)
    out = writer()
    text = readable([Finding(**finding) for finding in result["findings"]], colour=out.colour) if out.is_tty else ""
    out.success(text, result)
    return 0 if result["ok"] else EXIT_PARTIAL
