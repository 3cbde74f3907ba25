"""`covey integrate`: adds Covey's hooks to an agent's settings, or removes them.

It runs in this process, which has the environment of the agent's user.
"""

from __future__ import annotations

from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from covey.agents.integration import Edit
    from covey.contract import Operation
    from covey.kernel.home import Home
    from covey.kernel.processes.program_version import Program


def integrate(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Add Covey's hooks to an agent's settings, or remove them; with --dry-run, show the plan."""
    import os
    from pathlib import Path

    from covey.agents import integration
    from covey.cli.render_adapters import integrated
    from covey.cli.text import Paint, columns

    home.node.prepare()
    environment, whose = {**os.environ, "COVEY_HOME": home.path}, Path.home()
    out, agent = writer(), params["agent"]
    found = [] if params["remove"] else integration.programs(agent, environment)
    versions, notes = (
        ([], [])
        if params["remove"]
        else _accepted(agent, found, any_version=params["any_version"], dry_run=out.dry_run)
    )
    plan = integration.plan(agent, whose, environment, remove=params["remove"], versions=versions)
    if not out.dry_run:
        integration.apply(plan)
    result = {
        "agent": agent,
        "state": integration.status(agent, whose, environment).state,
        "changed": bool(plan.files),
        "files": [_change(edit, line_by_line=out.dry_run and params["verbose"]) for edit in plan.files],
        "notes": [*(notes if plan.files else ()), *plan.notes],
        "programs": [{"path": one.path, "version": one.version} for one in found],
    }
    (out.plan if out.dry_run else out.success)(
        lambda shown: integrated(shown, Paint(columns(), colour=out.colour), dry_run=out.dry_run), result
    )
    return 0


def _accepted(agent: str, found: Sequence[Program], *, any_version: bool, dry_run: bool) -> tuple[list[str], list[str]]:
    """Return the versions to write hooks for, and notes about them.

    Raises `NotAccepted` for a version that was never measured; a dry run has a note about it instead.
    """
    from covey.agents import integration

    try:
        versions, notes = integration.acceptance(agent, found, any_version=any_version)
    except integration.NotAccepted as refused:
        if not dry_run:
            raise
        versions, notes = integration.acceptance(agent, found, any_version=True)
        notes = [f"It would be refused without --any-version: {refused.message}", *notes]
    return versions, notes


def _change(edit: Edit, *, line_by_line: bool) -> dict[str, Any]:
    import difflib

    change = "create" if edit.before is None else "remove" if edit.after is None else "change"
    before, after = ((text or b"").decode("utf-8", "replace").splitlines() for text in (edit.before, edit.after))
    diff = "\n".join(list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]) if line_by_line else ""
    return {
        "path": str(edit.path),
        "change": change,
        "about": edit.about,
        "backup": str(edit.backup) if edit.backup else None,
        "diff": diff,
    }
