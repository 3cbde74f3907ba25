"""`covey doctor`: what is missing or wrong, and the command that mends it."""

from __future__ import annotations

from murli import EXIT_PARTIAL, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def doctor(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Exit code 3 if something has to be mended.

    Examined from here, with the caller's PATH, and not through a daemon that may be the problem.
    """
    from covey.kernel.doctor.doctor import readable
    from covey.kernel.doctor.finding import FAIL, Finding
    from covey.node.offline import perform

    result = perform(home, operation.name, params)
    result["findings"] += _development()
    result["ok"] = all(finding["status"] != FAIL for finding in result["findings"])
    out = writer()
    text = readable([Finding(**finding) for finding in result["findings"]], colour=out.colour) if out.is_tty else ""
    out.success(text, result)
    return 0 if result["ok"] else EXIT_PARTIAL


def _development() -> list[dict[str, str]]:
    """How well the command line uses murli; for those who work on it."""
    import os

    if os.environ.get("MURLI_DEV", "0") in ("", "0"):
        return []
    from covey.cli.commands import ContractAdapter
    from murli import self_check
    from murli.adapter import describe

    checks = self_check(describe(ContractAdapter().root))["checks"]
    statuses = {"pass": "ok", "warn": "warn", "fail": "fail"}
    return [
        {
            "section": "murli",
            "name": check["name"],
            "status": statuses[check["status"]],
            "detail": check.get("message", "fine"),
            "fix": "",
        }
        for check in checks
    ]
