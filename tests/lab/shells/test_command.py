"""The command `./run lab shells`: a run that was stopped goes on behind the parts that it has finished."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lab.shells.command import PART, finished_parts

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.once


def test_parts_in_a_log_are_not_made_again(tmp_path: Path) -> None:
    log = tmp_path / "shells.jsonl"
    assert finished_parts(log) == {}
    log.write_text(
        json.dumps({"seed": 7, "count": PART, "lines": ["seed 7: 0 made"]}) + '\n{"seed": 8, "cou', encoding="utf-8"
    )
    assert finished_parts(log) == {(7, PART): ["seed 7: 0 made"]}
