"""Operations of a node that work without a daemon, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.contract import NODE_OPERATIONS
from covey.contract.events import EVENTS
from covey.kernel.operations.offline import OfflineOperations
from covey.node.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.kernel.home import Home
    from covey.kernel.subsystem import Subsystem


def perform(home: Home, name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of an operation, done in this process. Raises `KeyError` for one that needs the daemon."""
    if name.startswith("beats."):
        from covey.beats.offline import OFFLINE  # noqa: PLC0415 - only these verbs pay for it

        return OFFLINE[name](home, SETTINGS, params)
    if name.startswith("policy."):
        from covey.fleet.policy.answers import OFFLINE as POLICY  # noqa: PLC0415 - only these verbs pay for it

        return POLICY[name](home, SETTINGS, params)
    if name.startswith("mesh."):
        from covey.mesh.offline import OFFLINE as MESH  # noqa: PLC0415 - only these verbs pay for it

        return MESH[name](home, params)
    return OfflineOperations(home.node, SETTINGS, NODE_OPERATIONS, EVENTS, _subsystems).handlers()[name](params)


def _subsystems() -> Sequence[Subsystem]:
    from covey.node.subsystems import SUBSYSTEMS  # noqa: PLC0415 - only the doctor pays for it

    return SUBSYSTEMS
