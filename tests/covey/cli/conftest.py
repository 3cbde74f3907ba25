from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.covey.cli.fleet_covey import FleetCovey, serving
from tests.covey.cli.terminal import Terminal


@pytest.fixture(scope="module")
def seen() -> Iterator[FleetCovey]:
    covey = FleetCovey(Path(tempfile.mkdtemp(prefix="cv-")))
    with serving(covey):
        yield covey
    shutil.rmtree(covey.folder, ignore_errors=True)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()
