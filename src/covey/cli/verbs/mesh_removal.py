"""`covey mesh leave`, `reset` and `revoke`: what cannot be had back is asked about on a terminal."""

from __future__ import annotations

import os

from covey.cli.perform import ask, confirm, show
from covey.contract.mesh_shapes import AUTHORITY_FILE, KIND
from covey.kernel.seat_choice import chosen_seat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

LOSES_AUTHORITY = "Its authority is here: without these keys nobody can be invited to it or removed from it any more."


def leave(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Leave a mesh; on a terminal, ask first."""
    slug, is_authority = _named(home, params)
    more = LOSES_AUTHORITY if is_authority else "Coming back takes a new invite."
    confirm(f"Leave the mesh {slug}? {more}", "The mesh was not left.")
    show(operation, ask(home, operation, params))
    return 0


def reset(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Remove a mesh from this machine; on a terminal, ask first."""
    slug, is_authority = _named(home, params)
    more = f" {LOSES_AUTHORITY}" if is_authority else ""
    question = f"Delete the keys, the inbox and the outbox of the mesh {slug}? They cannot be had back.{more}"
    confirm(question, "Nothing was deleted.")
    show(operation, ask(home, operation, params))
    return 0


def revoke(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Remove a member, or take back an invite; on a terminal, ask first."""
    slug = chosen_seat(home, KIND, params[operation.seat_parameter]).name
    question = f"Remove {params['member']} from the mesh {slug}? A member is cut off at once, an invite is void."
    confirm(question, "Nobody was removed.")
    show(operation, ask(home, operation, params))
    return 0


def _named(home: Home, params: dict[str, Any]) -> tuple[str, bool]:
    """Return the slug of the mesh that is meant, and whether this home has the keys of its authority."""
    seat = chosen_seat(home, KIND, params["slug"], {})
    return seat.name, os.path.lexists(os.path.join(seat.directory, AUTHORITY_FILE))
