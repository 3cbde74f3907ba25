"""What a fault has shown: figures by what they count, and what was broken."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.show import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.mesh.verdict import Verdict

    Progress = Callable[[str, int, int], None]
    """Is told what has been done, how many of it, and of how many."""


@dataclass
class Outcome:
    """The result of one fault. `skipped` says why it could not be made on this machine."""

    fault: str
    figures: dict[str, Any] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    skipped: str = ""

    def add(self, verdict: Verdict, prefix: str = "") -> None:
        """Take over what a verifier has counted."""
        self.figures |= {f"{prefix}{name}": count for name, count in verdict.figures.items()}
        self.broken += [f"{prefix}{what}" for what in verdict.broken]

    def require(self, what: str, *, holds: bool) -> None:
        """Note a promise as broken unless it holds."""
        if not holds:
            self.broken.append(what)

    @property
    def text(self) -> str:
        """The table and what was broken."""
        if self.skipped:
            return f"{self.fault}: not tried: {self.skipped}"
        rows = [[name, _shown(value)] for name, value in self.figures.items()]
        load = "load average " + " ".join(f"{one:.1f}" for one in os.getloadavg())
        return "\n".join([table([self.fault, ""], rows), load, *(f"broken: {one}" for one in self.broken)])


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
