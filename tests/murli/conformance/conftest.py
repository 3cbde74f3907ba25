"""What the tests of the conformance kit share: the tools it is tried on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.forking.tools import ToolServers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


TOOLS = Path(__file__).parent / "tools"
OPTIONS = ("-S", "-E")
"""Without site-packages, which the tools do not need and which takes time."""


@pytest.fixture(scope="session")
def fork_servers() -> Iterator[ToolServers]:
    servers = ToolServers(TOOLS / "good.py", *OPTIONS)
    yield servers
    servers.close()


@pytest.fixture
def tool(fork_servers: ToolServers) -> Iterator[Callable[[str], list[str]]]:
    """The command that starts one of the tools, which the kit then starts by a fork."""
    with fork_servers.serving():
        yield lambda name: [sys.executable, *OPTIONS, str(TOOLS / f"{name}.py")]


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], list[str]]:
    """The command that starts a shell script with this body."""

    def write(body: str) -> list[str]:
        path = tmp_path / "tool.sh"
        path.write_text(f"#!/bin/sh\n{body}\n")
        return ["/bin/sh", str(path)]

    return write
