"""Runs the checks over one tool and gathers the report."""

from __future__ import annotations

import itertools
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from murli.conformance.checks import CHECKS
from murli.conformance.registry import TOOL, Check
from murli.conformance.report import CheckResult, Finding, Outcome, Report, failed, skipped
from murli.conformance.runner import Tool, ToolNotFoundError
from murli.conformance.sandbox import remove_tree
from murli.conformance.session import GaveUpError, Session, UnusableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORKERS = 2
GROUNDS = ("describe.json", "describe.commands", "run.ends")
"""The checks without which no other one means anything."""


class UnknownCheckError(ValueError):
    """A filter that matches no check."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"no check is called {prefix!r}, nor begins with it")
        self.prefix = prefix


def select(only: Sequence[str]) -> tuple[Check, ...]:
    """The checks whose id begins with one of the prefixes; all of them without any."""
    for prefix in only:
        if not any(check.id.startswith(prefix) for check in CHECKS):
            raise UnknownCheckError(prefix)
    return tuple(check for check in CHECKS if not only or check.id.startswith(tuple(only)))


def examine(command: Sequence[str], *, timeout: float, only: Sequence[str]) -> Report:
    """Check the tool.

    Independent checks run side by side; those that judge all runs come last; the report keeps its order.
    """
    chosen = select(only)
    tool = Tool(command, timeout=timeout)
    root = Path(tempfile.mkdtemp(prefix="murli-conformance-")).resolve()
    session = Session(tool, root)
    try:
        # A command that cannot be started is not a finding about a tool: raise that error before any check runs.
        session.describe()
        results: dict[str, CheckResult] = {}
        with ThreadPoolExecutor(WORKERS) as pool:
            try:
                results |= pool.map(
                    lambda check: (check.id, _apply(check, session)),
                    _spread([check for check in chosen if not check.last]),
                )
            except BaseException:
                session.close()
                raise
        results |= {check.id: _apply(check, session) for check in chosen if check.last}
        results |= _reasons_for_silence(session, results)
        ordered = tuple(results[check.id] for check in CHECKS if check.id in results)
        return Report(tuple(command), _name(session), ordered, len(session.probes))
    finally:
        remove_tree(root)


def _spread(checks: list[Check]) -> list[Check]:
    """Return the checks in an order in which neighbours have little in common.

    Checks of one family judge the same runs and would wait for each other.
    """
    half = (len(checks) + 1) // 2
    pairs = itertools.zip_longest(checks[:half], checks[half:])
    return [check for pair in pairs for check in pair if check is not None]


def _reasons_for_silence(session: Session, results: Mapping[str, CheckResult]) -> dict[str, CheckResult]:
    """Return what failed outside a filter and kept chosen checks from examining anything.

    A check that could not look has not succeeded.
    """
    if not session.hindered or any(result.outcome is Outcome.FAIL for result in results.values()):
        return {}
    others = [_apply(check, session) for check in CHECKS if check.id in GROUNDS and check.id not in results]
    return {result.check: result for result in others if result.outcome is Outcome.FAIL}


def _apply(check: Check, session: Session) -> CheckResult:
    """What the check found, up to the point where it could not go on."""
    findings: list[Finding] = []
    try:
        if check.needs_describe:
            session.description()
        for finding in check.examine(session):
            findings.append(finding)  # noqa: PERF402 - a list built at once would lose what was found before an error
    except (UnusableError, GaveUpError) as reason:
        session.hindered = True
        findings.append(skipped(TOOL, str(reason)))
    except ToolNotFoundError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a strange tool provokes in one check, the others still have to run
        findings.append(
            failed(TOOL, None, "a check that can be finished", f"the kit stumbled: {type(error).__name__}: {error}")
        )
    return CheckResult(check.id, check.promise, tuple(findings or [skipped(TOOL, check.nothing)]))


def _name(session: Session) -> str:
    try:
        return session.description().name
    except (UnusableError, GaveUpError):
        return ""
