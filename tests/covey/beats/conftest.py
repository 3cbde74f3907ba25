"""What tests of the beats share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.covey.beats.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)
