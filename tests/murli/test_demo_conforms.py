"""The demo tools pass the kit, with nothing left unexamined."""

from __future__ import annotations

import pytest

from tests.forking.tools import assert_program_conforms
from tests.murli.conftest import program_of


def test_the_demo_tool_conforms_in_every_respect() -> None:
    report = assert_program_conforms(program_of("argparse"))
    assert report.counts["skipped"] == 0
    assert report.counts["passed"] >= 59


@pytest.mark.parametrize("framework", ["click", "typer"])
def test_the_others_conform_where_a_framework_makes_a_difference(framework: str) -> None:
    """test_adapters_agree.py has the rest: all three print the same bytes."""
    only = ["describe", "error", "schema", "tty", "pipe", "input", "argument"]
    report = assert_program_conforms(program_of(framework), only)
    assert report.counts["skipped"] == 0
    assert report.counts["passed"] >= 20
