"""`covey mesh service install|uninstall|status`: a peer that the system's service manager keeps running."""

from __future__ import annotations

import os

from covey.cli.peer import SLUG_VARIABLE
from covey.contract.mesh_shapes import KIND
from covey.kernel.processes.service import Service
from covey.kernel.processes.service_units import DaemonWords
from covey.kernel.seat_choice import chosen_seat
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home
    from covey.kernel.seat import Seat
    from covey.mesh.joined import Wanted


def install(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Hand a peer over to the service manager: the node ends its own process first."""
    from covey.cli.verbs.service import install_of

    seat = _seat(home, params)
    if not writer().dry_run:
        _hand_over(home, seat, "service")
    return install_of(_service(home, seat))


def uninstall(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Remove the service; the node keeps the peer from its next start or `covey mesh up` on."""
    from covey.cli.verbs.service import uninstall_of

    seat = _seat(home, params)
    code = uninstall_of(_service(home, seat))
    if not writer().dry_run:
        _hand_over(home, seat, "up")
    return code


def status(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Show whether the service of a peer is installed and running."""
    from covey.cli.verbs.service import status_of

    seat = chosen_seat(home, KIND, params["slug"])
    return status_of(_service(home, seat), f"covey mesh service install {seat.name}")


def _seat(home: Home, params: dict[str, Any]) -> Seat:
    """Return the seat that is meant; a dry run may name one that was not joined."""
    slug = params["slug"] or os.environ.get(SLUG_VARIABLE)
    return home.seat(KIND, slug) if slug and writer().dry_run else chosen_seat(home, KIND, slug)


def _service(home: Home, seat: Seat) -> Service:
    words = DaemonWords(
        run=("mesh", "run", seat.name),
        reload=("mesh", "reload", seat.name),
        description=f"Covey: the peer of the mesh {seat.name}",
        limits="MemoryMax=512M\n",
    )
    return Service(home, seat=seat, words=words)


def _hand_over(home: Home, seat: Seat, wanted: Wanted) -> None:
    """Have the node end its own process of the peer, if it runs, and remember who keeps it from now on."""
    import contextlib

    from covey.cli.perform import ask
    from covey.contract import OPERATIONS
    from covey.kernel.client import NotRunning
    from covey.mesh.joined import set_wanted

    if wanted == "service":
        with contextlib.suppress(NotRunning):
            ask(home, next(one for one in OPERATIONS if one.name == "mesh.down"), {"slug": seat.name, "all": False})
    set_wanted(seat, wanted)
