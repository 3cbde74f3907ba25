"""A peer that dies between the broker's acknowledgement and its own record of it, always.

It never writes down which messages are at the broker: `python lab/mesh/forgetful_peer.py <home> <slug>`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from covey.mesh.__main__ import main
from covey.mesh.outbox.outbox import Outbox

if TYPE_CHECKING:
    from collections.abc import Sequence


async def forget(self: Outbox, ids: Sequence[str], at: float) -> None:  # noqa: ARG001 - as the method that it replaces
    """Take as long as the process lives."""
    await asyncio.Event().wait()


Outbox.record_acks = forget  # type: ignore[method-assign]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
