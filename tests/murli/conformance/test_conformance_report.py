"""The report: one line a check for people, plain data for agents, and never more than needed."""

from __future__ import annotations

import json

from murli.conformance import CheckResult, Finding, Outcome, Report
from murli.conformance.report import failed, judge, passed, skipped
from murli.conformance.runner import Run

RUN = Run(("shelf", "list", "two words"), 2, b"", b"boom\n", env={"NO_COLOR": "1"})


def report(*findings: Finding) -> Report:
    checks = (
        CheckResult("describe.name", "describe names the tool.", (passed(""),)),
        CheckResult("guard.refuses", "A guarded command refuses.", findings),
    )
    return Report(("python", "my shelf.py"), "shelf", checks, runs=7)


def test_a_check_with_a_failure_fails_and_its_failures_are_expanded() -> None:
    found = report(passed("add"), failed("delete", RUN, "exit code 1", "exit code 2"), skipped("push", "no example"))
    assert found.text().splitlines() == [
        "murli conformance of shelf: python 'my shelf.py'",
        "",
        "✓ describe.name  describe names the tool.",
        "✗ guard.refuses  A guarded command refuses.",
        "    delete",
        "      ran:      NO_COLOR=1 shelf list 'two words'",
        "      expected: exit code 1",
        "      wrong:    exit code 2",
        "      output:   exit code 2; stdout: empty; stderr: 'boom\\n'",
        "    skipped push: no example",
        "",
        "1 passed, 1 failed, 0 skipped (7 runs of the tool)",
    ]
    assert found.failed == ("guard.refuses",)
    assert not found.ok


def test_a_check_is_skipped_only_if_nothing_was_examined_and_says_why() -> None:
    found = report(skipped("", "the tool has no guarded command"))
    assert found.ok
    assert found.counts == {"passed": 1, "failed": 0, "skipped": 1}
    assert "– guard.refuses  A guarded command refuses.\n    skipped: the tool has no guarded command" in found.text()  # noqa: RUF001
    assert report(passed("add"), skipped("push", "no example")).checks[1].outcome is Outcome.PASS


def test_one_reason_for_many_checks_in_a_row_is_said_once() -> None:
    results = tuple(CheckResult(name, "Promise.", (skipped("", "no describe"),)) for name in ("a", "b", "c"))
    passing = CheckResult("d", "Promise.", (passed(""),))
    found = Report(("shelf",), "shelf", (*results, passing, results[0]))
    assert found.text().count("skipped: no describe") == 2


def test_one_reason_for_many_subjects_is_said_once() -> None:
    assert "skipped add, push: no example" in report(skipped("add", "no example"), skipped("push", "no example")).text()


def test_an_agent_gets_the_findings_that_matter_and_only_counts_of_the_rest() -> None:
    found = report(passed("add"), passed("push"), failed("delete", RUN, "exit code 1", "exit code 2")).as_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["ok"] is False
    assert found["counts"] == {"passed": 1, "failed": 1, "skipped": 0}
    assert found["checks"] == [
        {"id": "describe.name", "outcome": "pass", "promise": "describe names the tool.", "examined": 1},
        {
            "id": "guard.refuses",
            "outcome": "fail",
            "promise": "A guarded command refuses.",
            "examined": 3,
            "findings": [
                {
                    "subject": "delete",
                    "outcome": "fail",
                    "ran": "NO_COLOR=1 shelf list 'two words'",
                    "expected": "exit code 1",
                    "wrong": "exit code 2",
                    "output": "exit code 2; stdout: empty; stderr: 'boom\\n'",
                }
            ],
        },
    ]


def test_a_judgement_without_problems_passes_and_with_several_names_them_all() -> None:
    assert judge("add", RUN, "peace", []) == passed("add")
    assert judge("add", RUN, "peace", ["war", "rain"]).wrong == "war; rain"


def test_a_long_output_is_quoted_from_both_ends() -> None:
    message = failed("x", Run(("t",), 0, b"a" * 5000 + b"\x1b[31mz", b""), "short", "long").message
    assert len(message) < 600
    assert "…" in message or "\\u2026" in message
    assert "\x1b" not in message
