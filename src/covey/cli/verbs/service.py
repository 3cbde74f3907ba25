"""`covey service install|uninstall|status`."""

from __future__ import annotations

import os
import shutil
import sys

from covey.kernel import service
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def install(home: Home, _: Operation, __: dict[str, Any]) -> int:
    """Write the unit, and have the system notice it if it will."""
    out, wanted = writer(), service.definition(home, _executable())
    if out.dry_run:
        out.plan(
            f"Would write {wanted.path}:\n\n{wanted.text}",
            {"path": wanted.path, "text": wanted.text, "commands": [" ".join(words) for words in wanted.enable]},
        )
        return 0
    changed = service.install(wanted)
    left = service.tell_system(wanted.enable)
    text = f"Wrote {wanted.path}" if changed else f"{wanted.path} is there already"
    out.success(
        "\n".join([text, *(["Now run:"] if left else ["Covey runs as a service now"]), *(f"  {line}" for line in left)]),
        _result(wanted, changed=changed, left=left),
    )
    return 0


def uninstall(home: Home, _: Operation, __: dict[str, Any]) -> int:
    """Take back what install did."""
    out, wanted = writer(), service.definition(home, _executable())
    there = service.installed(wanted)
    if out.dry_run:
        out.plan(f"Would remove {wanted.path}" if there else "There is no service to remove", {"path": wanted.path, "would_remove": there})
        return 0
    left = service.tell_system(wanted.disable) if there else []
    changed = service.uninstall(wanted)
    text = f"Removed {wanted.path}" if changed else "There was no service"
    out.success("\n".join([text, *(["Now run:"] if left else []), *(f"  {line}" for line in left)]), _result(wanted, changed=changed, left=left))
    return 0


def status(home: Home, _: Operation, __: dict[str, Any]) -> int:
    """Is it installed, and does it run?"""
    wanted = service.definition(home, _executable())
    there = service.installed(wanted)
    active = service.active() if there else "inactive"
    text = f"{wanted.path}: {active}" if there else "The service is not installed. Install it with: covey service install --yes"
    writer().success(text, {"installed": there, "path": wanted.path, "active": active})
    return 0


def _result(wanted: service.Definition, *, changed: bool, left: list[str]) -> dict[str, Any]:
    return {"path": wanted.path, "changed": changed, "commands": left}


def _executable() -> str:
    """The command that was called, as a path that works without this shell."""
    called = sys.argv[0]
    found = called if os.path.isabs(called) else shutil.which(called) or os.path.abspath(called)
    return os.path.abspath(found)
