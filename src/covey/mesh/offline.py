"""Operations of the mesh that work without a node, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.mesh.broker_process import described as broker_described
from covey.mesh.broker_process import has_broker
from covey.mesh.joined import joined
from covey.mesh.peer_processes import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from covey.kernel.home import Home


def list_meshes(home: Home, _: dict[str, Any]) -> dict[str, Any]:
    """Return the meshes of a home as its files and running peers tell it."""
    return {
        "items": [described(home, one) for one in joined(home)],
        "broker": broker_described(home) if has_broker(home) else None,
    }


OFFLINE: Mapping[str, Callable[[Home, dict[str, Any]], dict[str, Any]]] = {"mesh.list": list_meshes}
