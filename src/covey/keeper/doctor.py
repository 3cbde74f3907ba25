"""What `covey doctor` reads out of the keeper's part of the status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.doctor.finding import FAIL, Finding
from covey.kernel.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator


def findings(part: dict[str, Any]) -> Iterator[Finding]:
    """Yield the sessions that cannot be served and the adapters that fail again and again; nothing if all is well."""
    for problem in part["problems"]:
        yield Finding("keeper", "session", FAIL, problem, "covey keep list")
    for adapter in part["failing_adapters"]:
        said = adapter["last_line"] or "its log is empty"
        detail = f"{adapter['name']} ends again and again ({adapter['restarts']} restarts): {said}"
        yield Finding("keeper", "adapter", FAIL, detail, f"tail {quoted(adapter['log'])}")
