"""What `covey doctor` says about the hooks of a peer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.doctor.finding import OK, WARN, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator


def findings(part: dict[str, Any], slug: str) -> Iterator[Finding]:
    """Yield what `Hooks.status` says is wrong with the hooks of a mesh; that all is well if there are hooks."""
    section = f"mesh {slug}"
    if not part["enabled"]:
        if part["hooks"]:
            yield Finding(section, "hooks", WARN, "hooks.enabled is false, and none of the hooks runs")
        return
    for problem in part["problems"]:
        yield Finding(section, "hooks", WARN, problem)
    if part["hooks"] and not part["problems"]:
        yield Finding(section, "hooks", OK, ", ".join(hook["hook"] for hook in part["hooks"]))
