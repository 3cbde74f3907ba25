"""`covey doctor`: what is missing or wrong, and the command that mends it."""

from __future__ import annotations

from murli import EXIT_PARTIAL, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def doctor(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Exit code 3 if something has to be mended. Looked at from here, with your PATH, and not through a daemon that may be the problem."""
    from covey.kernel.doctor import readable
    from covey.kernel.finding import Finding
    from covey.kernel.offline import OFFLINE

    result = OFFLINE[operation.name](home, params)
    out = writer()
    text = readable([Finding(**finding) for finding in result["findings"]], colour=out.colour) if out.is_tty else ""
    out.success(text, result)
    return 0 if result["ok"] else EXIT_PARTIAL
