"""A kept agent for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.covey.conftest import Covey
from tests.covey.keeper.kept import Kept, keeping


@pytest.fixture
def kept(covey: Covey) -> Iterator[Kept]:
    """A home without a daemon, and a stand-in for Claude Code on the daemon's PATH."""
    with keeping(covey) as found:
        yield found
