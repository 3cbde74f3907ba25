"""`covey doctor`: what is missing or wrong, and the command that mends it."""

from __future__ import annotations

from covey.contract import OPERATIONS
from murli import EXIT_PARTIAL, AgentError, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.contract import Operation
    from covey.kernel.home import Home

PATIENCE_S = 3.0
STATUS = next(operation for operation in OPERATIONS if operation.name == "status")


def doctor(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Exit code 3 if something has to be mended. Looked at from here, with your PATH, and not through a daemon that may be the problem."""
    from covey.kernel.doctor import readable
    from covey.kernel.finding import FAIL, Finding
    from covey.kernel.offline import OFFLINE

    result = OFFLINE[operation.name](home, params)
    _add_daemon(home, result["findings"])
    result["findings"] += [*_adapters(home), *_integrations(home), *_drift(home), *_development()]
    _say_unmeasured(result["findings"])
    result["ok"] = all(finding["status"] != FAIL for finding in result["findings"])
    out = writer()
    text = readable([Finding(**finding) for finding in result["findings"]], colour=out.colour) if out.is_tty else ""
    out.success(text, result)
    return 0 if result["ok"] else EXIT_PARTIAL


def _add_daemon(home: Home, findings: list[dict[str, str]]) -> None:
    """What a running daemon says is broken. That no agent is on the PATH is no trouble if it sees some."""
    from covey.kernel.client import Client
    from covey.kernel.doctor_daemon import findings_of, watched

    try:
        home.check()
        status = Client(home.socket, timeout=PATIENCE_S).call(STATUS, {})
    except AgentError:  # that it does not run, or does not answer, is found by looking at its socket
        return
    findings += [finding._asdict() for finding in findings_of(status)]
    none = next((finding for finding in findings if finding["section"] == finding["name"] == "agents"), None)
    if none is not None and (count := watched(status)):
        none.update(status="ok", detail=f"{count} watched, none on this PATH", fix="")


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
        Finding(
            "home",
            "adapters",
            FAIL,
            f"{problem}\nIt is left out. {problem.suggestion}",
            f"${{EDITOR:-vi}} {quoted(problem.name)}",
        )
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


def _say_unmeasured(findings: list[dict[str, str]]) -> None:
    """Say of each installed agent if its version was never measured."""
    from covey.fleet.adapters.registry import load

    registry = load(packages=False)
    by_program = {name: adapter for adapter in registry for name in adapter.process.names}
    for finding in findings:
        adapter = by_program.get(finding["name"]) if finding["section"] == "agents" else None
        if (
            adapter is not None
            and adapter.tested
            and finding["detail"][:1].isdigit()
            and (caveat := adapter.at(finding["detail"]).caveat)
        ):
            finding["detail"] += f" ({caveat})"


def _drift(home: Home) -> list[dict[str, str]]:
    """Running versions that the daemon no longer understands well."""
    from covey.contract import OPERATIONS
    from covey.kernel.client import Client
    from covey.kernel.finding import WARN, Finding
    from murli import AgentError

    operation = next(one for one in OPERATIONS if one.name == "adapters.list")
    try:
        items = Client(home.socket, timeout=PATIENCE_S).call(operation, {})["items"]
    except (AgentError, OSError):  # without a daemon nothing is watched, and one that hangs is told of elsewhere
        return []
    return [
        Finding(
            "agents",
            f"{item['agent']} {one['version']}".strip(),
            WARN,
            "was often not understood: "
            + ", ".join(f"{kind} {count}" for kind, count in sorted(one["counts"].items())),
            "covey adapters explain --pane <pane>",
        )._asdict()
        for item in items
        for one in item.get("drift", ())
        if one["alarming"]
    ]


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
