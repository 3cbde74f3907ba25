"""The three demo tools pass the whole kit, with nothing left unexamined."""

from __future__ import annotations

import sys

import pytest

from murli.conformance import assert_conforms
from tests.murli.conftest import EXAMPLES, FRAMEWORKS


@pytest.mark.first
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_demo_tool_conforms_in_every_respect(framework: str) -> None:
    report = assert_conforms([sys.executable, str(EXAMPLES / f"roost_{framework}.py")])
    assert report.counts["skipped"] == 0
    assert report.counts["passed"] >= 59
