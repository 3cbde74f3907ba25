"""Fixtures of the kernel's tests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.covey.kernel.patient import Patient
from tests.covey.kernel.scripted_server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    folder = tempfile.mkdtemp(prefix="cv-")
    serving = Server(f"{folder}/sock")
    yield serving
    serving.close()
    shutil.rmtree(folder)


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)
