"""`covey integrate`: what would be done is a plan, and looks like one. Done here, where the agent's own environment is known."""

from __future__ import annotations

from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from covey.contract import Operation
    from covey.fleet.integrate import Edit
    from covey.kernel.home import Home
    from covey.kernel.program_version import Program


def integrate(home: Home, _: Operation, params: dict[str, Any]) -> int:
    """Add Covey's hooks to an agent's settings, or take them out."""
    import os
    from pathlib import Path

    from covey.cli.render import columns
    from covey.cli.render_adapters import integrated
    from covey.cli.render_fleet import Paint
    from covey.fleet import integrate as integration

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
        "files": [_told(edit, line_by_line=out.dry_run and params["verbose"]) for edit in plan.files],
        "notes": [*(notes if plan.files else ()), *plan.notes],
        "programs": [{"path": one.path, "version": one.version} for one in found],
    }
    (out.plan if out.dry_run else out.success)(
        lambda shown: integrated(shown, Paint(columns(), colour=out.colour), dry_run=out.dry_run), result
    )
    return 0


def _accepted(agent: str, found: Sequence[Program], *, any_version: bool, dry_run: bool) -> tuple[list[str], list[str]]:
    """The versions to write hooks for, and what to say about them. A dry run of what would be refused is a plan that says so."""
    from covey.fleet import integrate as integration

    try:
        versions, notes = integration.acceptance(agent, found, any_version=any_version)
    except integration.NotAccepted as refused:
        if not dry_run:
            raise
        versions, notes = integration.acceptance(agent, found, any_version=True)
        notes = [f"It would be refused without --any-version: {refused.message}", *notes]
    return versions, notes


def _told(edit: Edit, *, line_by_line: bool) -> dict[str, Any]:
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
