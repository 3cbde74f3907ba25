"""The process of a peer: `python -m covey.mesh <home> <slug>`, kept running by the node or a service manager."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from covey.contract.mesh_shapes import KIND
from covey.kernel.daemon_process import run
from covey.kernel.home import Home
from covey.mesh.peer.subsystem import PEER
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Be the peer until told to stop. Returns the exit code."""
    home, slug = arguments
    seat = Home(home).seat(KIND, slug)
    try:
        seat.prepare()
        return run(seat, [PEER])
    except AgentError as error:
        sys.stderr.write(f"{error.message}\n{error.suggestion}\n")
        return error.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
