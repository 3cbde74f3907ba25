"""`covey doctor`: what is missing or wrong, and the command that mends it."""

from __future__ import annotations

from murli import EXIT_PARTIAL, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home


def doctor(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Exit code 3 if something has to be mended. Looked at from here, with your PATH, and not through a daemon that may be the problem."""
    from covey.kernel.doctor import readable
    from covey.kernel.finding import FAIL, Finding
    from covey.kernel.offline import OFFLINE

    result = OFFLINE[operation.name](home, params)
    result["findings"] += [*_adapters(home), *_integrations(home), *_development()]
    result["ok"] = all(finding["status"] != FAIL for finding in result["findings"])
    out = writer()
    text = readable([Finding(**finding) for finding in result["findings"]], colour=out.colour) if out.is_tty else ""
    out.success(text, result)
    return 0 if result["ok"] else EXIT_PARTIAL


def _adapters(home: Home) -> list[dict[str, str]]:
    """Descriptions of agents that cannot be used. Only those who have written any pay for the look."""
    import os
    from pathlib import Path

    folder = os.path.join(home.path, "adapters")
    if not os.path.isdir(folder):
        return []
    from covey.fleet.adapters.registry import load
    from covey.kernel.finding import FAIL, OK, Finding
    from covey.kernel.home import quoted

    registry = load(Path(folder))
    found = [
        Finding("home", "adapters", FAIL, f"{problem}\nIt is left out. {problem.suggestion}", f"${{EDITOR:-vi}} {quoted(problem.name)}")
        for problem in registry.problems
    ]
    own = sum(folder in adapter.origin for adapter in registry)
    return [finding._asdict() for finding in found or [Finding("home", "adapters", OK, f"{own} of your own")]]


def _integrations(home: Home) -> list[dict[str, str]]:
    """Hooks in the settings of agents that an installed version does not accept."""
    import os
    from pathlib import Path

    from covey.fleet import integrate
    from covey.kernel.finding import FAIL, OK, Finding
    from murli import AgentError

    environment = {**os.environ, "COVEY_HOME": home.path}
    found = []
    for agent in integrate.NAMES:
        status = integrate.status(agent, Path.home(), environment)
        if status.state not in {"installed", "outdated"}:
            continue
        try:
            refused = integrate.unknown_events(agent, Path.home(), environment, integrate.programs(agent, environment))
        except AgentError:  # the settings cannot be read: `adapters list` says so
            continue
        for program, events in refused.items():
            detail = f"{program} does not know {', '.join(events)}, which {status.file} has hooks for, and may ignore all its settings"
            found.append(Finding("agents", f"{agent} hooks", FAIL, detail, f"covey integrate {agent}"))
        if not refused:
            found.append(Finding("agents", f"{agent} hooks", OK, status.detail or status.state))
    return [finding._asdict() for finding in found]


def _development() -> list[dict[str, str]]:
    """How well the command line uses murli; for those who work on it."""
    import os

    if os.environ.get("MURLI_DEV", "0") in ("", "0"):
        return []
    from covey.cli.build import build
    from covey.contract import OPERATIONS
    from murli import self_check
    from murli.argparse import describe

    checks = self_check(describe(build(OPERATIONS)))["checks"]
    statuses = {"pass": "ok", "warn": "warn", "fail": "fail"}
    return [
        {"section": "murli", "name": check["name"], "status": statuses[check["status"]], "detail": check.get("message", "fine"), "fix": ""}
        for check in checks
    ]
