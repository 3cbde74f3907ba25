"""The summary of a run says in one line what the machine could not run."""

from __future__ import annotations

from tests.not_run import not_run


def test_the_reasons_are_told_once_each_with_the_number_of_their_tests() -> None:
    skipped = [
        ("a.py", 1, "Skipped: no npm here"),
        ("b.py", 2, "Skipped: no bwrap"),
        ("b.py", 9, "Skipped: no npm here"),
    ]
    assert not_run(skipped) == "not run on this machine: 3 tests: no bwrap (1); no npm here (2)"


def test_nothing_is_said_where_every_test_ran() -> None:
    assert not_run([]) == ""
