"""What a check found, and the report that gathers it: text for people, plain data for agents."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from murli.conformance.runner import Run


class Outcome(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    SKIP = "skip"


_MARKS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.SKIP: "–"}  # noqa: RUF001 - a dash is the usual mark for "not examined"


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one subject, usually a command of the tool; no subject means the tool as a whole.

    A skip has a reason. A failure says what was run, what was expected, what was wrong with it, and what the run
    printed.
    """

    subject: str
    outcome: Outcome
    reason: str = ""
    ran: str = ""
    expected: str = ""
    wrong: str = ""
    output: str = ""

    @property
    def message(self) -> str:
        if self.outcome is not Outcome.FAIL:
            return self.reason
        parts = [("ran", self.ran), ("expected", self.expected), ("wrong", self.wrong), ("output", self.output)]
        return "\n".join(f"{name + ':':<10}{value}" for name, value in parts if value)

    def as_dict(self) -> dict[str, object]:
        fields = {"subject": self.subject, "outcome": str(self.outcome), "reason": self.reason}
        fields |= {"ran": self.ran, "expected": self.expected, "wrong": self.wrong, "output": self.output}
        return {name: value for name, value in fields.items() if value}


def passed(subject: str) -> Finding:
    return Finding(subject, Outcome.PASS)


def skipped(subject: str, reason: str) -> Finding:
    return Finding(subject, Outcome.SKIP, reason=reason)


def failed(subject: str, run: Run | None, expected: str, wrong: str, *, show: bool = True) -> Finding:
    """A failure. `show=False` leaves out what the run printed, where quoting a long document would help nobody."""
    output = run.outcome if run is not None and show else ""
    return Finding(subject, Outcome.FAIL, ran=run.line if run else "", expected=expected, wrong=wrong, output=output)


def judge(subject: str, run: Run, expected: str, problems: Sequence[str], *, show: bool = True) -> Finding:
    """Pass when there is no problem, otherwise fail with all of them."""
    return failed(subject, run, expected, "; ".join(problems), show=show) if problems else passed(subject)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All findings of one check. It fails if one finding fails, and is skipped only if there was nothing to examine."""

    check: str
    promise: str
    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        outcomes = {finding.outcome for finding in self.findings}
        return next((outcome for outcome in (Outcome.FAIL, Outcome.PASS) if outcome in outcomes), Outcome.SKIP)

    @property
    def failures(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.outcome is Outcome.FAIL)

    @property
    def skips(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.outcome is Outcome.SKIP)

    def as_dict(self) -> dict[str, object]:
        examined = sum(finding.outcome is not Outcome.SKIP for finding in self.findings)
        found: dict[str, object] = {
            "id": self.check,
            "outcome": str(self.outcome),
            "promise": self.promise,
            "examined": examined,
        }
        notable = [finding.as_dict() for finding in (*self.failures, *self.skips)]
        return found | ({"findings": notable} if notable else {})


@dataclass(frozen=True, slots=True)
class Report:
    """What the kit found out about one command."""

    command: tuple[str, ...]
    tool: str
    checks: tuple[CheckResult, ...]
    runs: int = 0

    @property
    def ok(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """The ids of the checks that failed, in the order of the report."""
        return tuple(result.check for result in self.checks if result.outcome is Outcome.FAIL)

    @property
    def counts(self) -> dict[str, int]:
        seen = Counter(result.outcome for result in self.checks)
        return {"passed": seen[Outcome.PASS], "failed": seen[Outcome.FAIL], "skipped": seen[Outcome.SKIP]}

    @property
    def summary(self) -> str:
        return ", ".join(f"{number} {word}" for word, number in self.counts.items())

    def as_dict(self) -> dict[str, object]:
        return {
            "checks": [result.as_dict() for result in self.checks],
            "command": list(self.command),
            "counts": self.counts,
            "ok": self.ok,
            "runs": self.runs,
            "tool": self.tool,
        }

    def text(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"murli conformance of {self.tool or 'a tool without a name'}: {shlex.join(self.command)}"
        yield ""
        width = max((len(result.check) for result in self.checks), default=0)
        said = ""
        for result in self.checks:
            yield f"{_MARKS[result.outcome]} {result.check:<{width}}  {result.promise}"
            for finding in result.failures:
                if finding.subject:
                    yield f"    {finding.subject}"
                yield textwrap.indent(finding.message, " " * 6)
            said = said if result.outcome is Outcome.SKIP else ""
            for reason, subjects in _grouped(result.skips):
                if reason != said:
                    yield (
                        f"    skipped: {reason}" if subjects == [""] else f"    skipped {', '.join(subjects)}: {reason}"
                    )
                # One reason often stops many checks in a row; said once it is read, said fifty times it hides the rest.
                said = reason if subjects == [""] else ""
        yield ""
        yield f"{self.summary} ({self.runs} runs of the tool)"


def _grouped(skips: tuple[Finding, ...]) -> Iterator[tuple[str, list[str]]]:
    reasons: dict[str, list[str]] = {}
    for skip in skips:
        reasons.setdefault(skip.reason, []).append(skip.subject)
    yield from reasons.items()
