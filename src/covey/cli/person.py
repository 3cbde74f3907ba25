"""A decision of a person that this process carries out itself, without a daemon that would judge who is behind it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

SETTING_CHANGES = frozenset(("config.set", "config.unset"))


def check_person(home: Home, operation: Operation, params: dict[str, Any]) -> None:
    """Raise AgentError if a call is a person's decision, and no person is behind this process."""
    decides = operation.consent or any(one.consent for one in operation.parameters)
    if not decides and operation.name not in SETTING_CHANGES:
        return
    from covey.consent.guard import check_here
    from covey.kernel.config.config import Config
    from covey.node.settings import SETTINGS
    from murli import AgentError, writer

    if writer().dry_run:
        return
    try:
        config = Config.load(home.node, SETTINGS)
    except AgentError:  # a file that cannot be read names no terminals, and may be mended all the same
        config = Config(SETTINGS)
    check_here(operation, params, config)
