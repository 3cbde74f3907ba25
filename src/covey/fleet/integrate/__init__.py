"""Integration: Covey's hooks in the agents' own settings, put in and taken out without touching anything else.

`plan` says what would change and changes nothing, `apply` does it, `status` says how things are, `launch` is for agents that
Covey starts itself, `refresh` for a daemon that was upgraded, `acceptance` says whether the installed versions take the hooks.
"""

from __future__ import annotations

from covey.fleet.integrate.acceptance import NotAccepted, acceptance, programs, unknown_events
from covey.fleet.integrate.edit import Edit, NotEditable, Plan, apply
from covey.fleet.integrate.integrations import NAMES, Status, launch, plan, refresh, status
from covey.fleet.integrate.place import Launch

__all__ = [
    "NAMES",
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
