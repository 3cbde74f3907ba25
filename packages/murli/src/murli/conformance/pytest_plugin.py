"""The pytest entry point: `def test_my_tool(murli_conformance): murli_conformance(["my-tool"])`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from murli.conformance import Report


@pytest.fixture(scope="session")
def murli_conformance() -> Callable[..., Report]:
    """Return `assert_conforms`.

    It takes a command as a list of words and raises AssertionError with the report if it breaks a promise.
    """
    from murli.conformance import assert_conforms

    return assert_conforms
