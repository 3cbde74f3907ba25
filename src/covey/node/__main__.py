"""The process of a node: `python -m covey.node <home> <pipe>`, started by `covey up`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from covey.kernel.daemon_process import run, run_detached
from covey.kernel.home import Home
from covey.node.subsystems import SUBSYSTEMS

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(home: Home) -> int:
    """Be the node in the foreground until told to stop. Returns the exit code."""
    return run(home.node, SUBSYSTEMS)


def detached(arguments: Sequence[str]) -> int:
    """Be the node in the background, and report to `covey up` through a pipe. Returns the exit code."""
    home, pipe = arguments
    return run_detached(Home(home).node, SUBSYSTEMS, int(pipe))


if __name__ == "__main__":
    sys.exit(detached(sys.argv[1:]))
