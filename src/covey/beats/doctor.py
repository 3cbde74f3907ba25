"""What `covey doctor` reads out of the beats' part of the status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence


def findings(part: dict[str, Any]) -> Sequence[Finding]:
    """Return beats that cannot run or were stopped; one finding that all is well if there is none of those."""
    if not part["total"]:
        return []
    counts, found = part["by_state"], []
    if broken := counts.get("broken"):
        detail = f"{broken} cannot run: its file or its configuration is wrong, or was changed and not agreed to"
        found.append(Finding("beats", "beats", FAIL, detail, "covey beats list"))
    if parked := counts.get("parked"):
        reasons = ", ".join(dict.fromkeys(reason.partition(":")[0] for reason in part.get("reasons", [])))
        detail = f"{parked} stopped by itself{f' ({reasons})' if reasons else ''}"
        found.append(Finding("beats", "beats", WARN, detail, "covey beats list"))
    return found or [Finding("beats", "beats", OK, f"{part['total']}")]
