"""One line at the end of a run: which tests this machine cannot run, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if line := not_run(report.longrepr for report in terminalreporter.getreports("skipped")):
        terminalreporter.write_line(line)


def not_run(skipped: Iterable[object]) -> str:
    """Return the line, from what pytest keeps of each skipped test; empty if every test ran."""
    reasons = Counter(str(kept[2]).removeprefix("Skipped: ") for kept in skipped if isinstance(kept, tuple))
    if not reasons:
        return ""
    told = "; ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))
    return f"not run on this machine: {reasons.total()} tests: {told}"
