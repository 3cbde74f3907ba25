"""What the tests of the conformance kit share: the tools it is tried on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = Path(__file__).parent / "tools"


@pytest.fixture(scope="session")
def tool() -> Callable[[str], list[str]]:
    """The command that starts one of the tools; without site-packages, which they do not need and which takes time."""
    return lambda name: [sys.executable, "-S", "-E", str(TOOLS / f"{name}.py")]


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], list[str]]:
    """The command that starts a shell script with this body."""

    def write(body: str) -> list[str]:
        path = tmp_path / "tool.sh"
        path.write_text(f"#!/bin/sh\n{body}\n")
        return ["/bin/sh", str(path)]

    return write
