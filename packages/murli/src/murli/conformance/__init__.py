"""Conformance kit: drives a real executable as a black box and checks it against the murli wire contract.

    from murli.conformance import assert_conforms

    def test_my_tool_speaks_to_agents() -> None:
        assert_conforms(["my-tool"])

The tool may be written in any language: the kit only ever runs it, in a scratch directory with a scratch home.
Nothing is imported before it is used, because the pytest plugin below this package is loaded by every pytest run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from murli.conformance.report import CheckResult, Finding, Outcome, Report
    from murli.conformance.runner import ToolNotFoundError

__all__ = ["CheckResult", "Finding", "Outcome", "Report", "ToolNotFoundError", "assert_conforms", "check"]


def check(command: Sequence[str], *, timeout: float = 20.0, only: Sequence[str] = ()) -> Report:
    """Examine the tool that `command` starts and report on every promise of the contract.

    `timeout` bounds each single run of the tool, in seconds. `only` keeps the checks whose id begins with one of its
    entries. Raises ToolNotFoundError when the command cannot be started and ValueError when `only` matches no check.
    """
    from murli.conformance.examination import examine

    return examine(command, timeout=timeout, only=only)


def assert_conforms(command: Sequence[str], *, timeout: float = 20.0, only: Sequence[str] = ()) -> Report:
    """The same for tests: raises AssertionError with the readable report when a promise is broken."""
    report = check(command, timeout=timeout, only=only)
    if not report.ok:
        raise AssertionError(report.text())
    return report


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from murli.conformance import report, runner

        return getattr(runner if name == "ToolNotFoundError" else report, name)
