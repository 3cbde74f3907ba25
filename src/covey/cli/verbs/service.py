"""`covey service install|uninstall|status`."""

from __future__ import annotations

from covey.kernel.processes.service import Outcome, Service, executable
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def install(home: Home, _: Operation, __: dict[str, Any]) -> int:
    """Write the definition of the service, and make the system load it if it can."""
    return install_of(Service(home))


def install_of(service: Service) -> int:
    """Install the service of any daemon, or with --dry-run show the definition."""
    out = writer()
    if out.dry_run:
        plan = service.plan(executable())
        result = {
            "path": plan.path,
            "change": plan.change,
            "text": plan.text,
            "commands": [" ".join(words) for words in plan.commands],
        }
        out.plan(f"Would write {plan.path} ({plan.change}):\n\n{plan.text}", result)
        return 0
    return _report(service.install(executable()))


def uninstall(home: Home, _: Operation, __: dict[str, Any]) -> int:
    """Remove what install has written."""
    return uninstall_of(Service(home))


def uninstall_of(service: Service) -> int:
    """Remove the service of any daemon."""
    out = writer()
    if out.dry_run:
        there = service.status().installed
        out.plan(
            f"Would remove {service.path}" if there else "There is no service to remove",
            {"path": service.path, "would_remove": there},
        )
        return 0
    return _report(service.uninstall())


def status(home: Home, _: Operation, __: dict[str, Any]) -> int:
    """Show whether the service is installed and running."""
    return status_of(Service(home), "covey service install")


def status_of(service: Service, install: str) -> int:
    """Show the status of the service of any daemon; `install` is the command that installs it."""
    found = service.status()
    text = (
        f"{found.path}: {found.active}"
        if found.installed
        else f"The service is not installed. Install it with: {install}"
    )
    writer().success("\n".join([text, *(found.notes if found.installed else [])]), found._asdict())
    return 0


def _report(outcome: Outcome) -> int:
    """Show what was done, and what is left to do by hand."""
    lines = [
        f"{outcome.path}: {outcome.change}",
        *(["Now run:"] if outcome.todo else []),
        *(f"  {line}" for line in outcome.todo),
        *outcome.notes,
    ]
    writer().success("\n".join(lines), {**outcome._asdict(), "changed": outcome.changed})
    return 0
