# mypy: ignore-errors
"""The error of a missing book goes to stdout."""

import sys

import shelf

honest = shelf.report


def report(failure, values):
    if failure.fields["error"] == "not_found":
        sys.stderr = sys.stdout
    return honest(failure, values)


shelf.report = report

shelf.main()
