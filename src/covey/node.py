"""The node: the kernel's daemon with the subsystems that stand on it. The only place that knows all of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from covey.attention.operations import ATTENTION
from covey.beats.operations import BEATS
from covey.fleet.operations import FLEET
from covey.kernel import daemon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.kernel.daemon import Subsystem
    from covey.kernel.home import Home


def subsystems() -> Sequence[Subsystem]:
    return FLEET, ATTENTION, BEATS


def main(home: Home) -> int:
    """Be the node in the foreground until told to stop."""
    return daemon.main(home, subsystems=subsystems())


if __name__ == "__main__":
    sys.exit(daemon.detached(sys.argv[1:], subsystems()))
