"""`covey mesh skill install`: a person sees who has signed a skill and what is written where, then decides."""

from __future__ import annotations

import os
from pathlib import Path

from covey.cli.perform import agreed, ask, show
from murli import cancelled, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def install(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Install a skill; on a terminal, what was shown and nothing else."""
    out = writer()
    params = {**params, **_place(params)}
    if params["check_only"]:
        plan = ask(home, operation, params)
        out.plan(_shown, plan)
        return 0
    if out.is_tty and not out.forced:
        plan = ask(home, operation, {**params, "check_only": True})
        if not agreed(f"{_shown(plan)}\n\nInstall it? [y/N] "):
            raise cancelled("Nothing was installed.")
        params["expect"] = plan["plan"]
    show(operation, ask(home, operation, params))
    return 0


def _place(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that say where it goes: the person's own environment decides, not the peer's."""
    if params["folder"] or params["project"]:
        return {}
    if not params["user"]:
        return {"project": os.getcwd()}
    from covey.agents.integration.user_environment import UserEnvironment
    from covey.agents.registry import known_agents

    folders = known_agents()[params["agent"]].skills
    assert folders is not None, "the contract names agents with skills only"
    own = UserEnvironment(Path.home(), os.environ).folder(folders.variable, folders.usual)
    return {"user": False, "folder": str(own / folders.below)}


def _shown(plan: dict[str, Any]) -> str:
    from covey.cli.render_mesh_skills import plan_text

    return plan_text(plan)
