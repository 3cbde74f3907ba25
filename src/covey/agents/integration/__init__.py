"""Integration: Covey's hooks in the agents' own settings, put in and taken out without touching anything else.

`plan` says what would change and changes nothing, `apply` does it, `status` says how things are, `launch` is for agents
that Covey starts itself, `refresh` for a daemon that was upgraded, `acceptance` says whether the installed versions
take the hooks.
"""

from __future__ import annotations

from covey.agents.integration.acceptance import NotAccepted, acceptance, programs, unknown_events
from covey.agents.integration.edit import Edit, NotEditable, Plan, apply
from covey.agents.integration.integrations import Status, launch, plan, refresh, status
from covey.agents.integration.user_environment import Launch

__all__ = [
    "Edit",
    "Launch",
    "NotAccepted",
    "NotEditable",
    "Plan",
    "Status",
    "acceptance",
    "apply",
    "launch",
    "plan",
    "programs",
    "refresh",
    "status",
    "unknown_events",
]
