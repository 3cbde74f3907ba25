"""What `covey doctor` examines of the fleet: programs, integrations, descriptions of agents, targets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents import integration as integrate
from covey.agents.registry import INTEGRATIONS, agents_by_program, known_agents
from covey.agents.screens.registry import load
from covey.contract.fleet import OPERATIONS
from covey.fleet.doctor_programs import Programs
from covey.fleet.policy.live_policy import placed_in_file
from covey.kernel.config.config import Config
from covey.kernel.doctor.doctor import Check
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding
from covey.kernel.quoting import quoted
from covey.policy.policy import Policy
from covey.policy.settings import RULES
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from covey.kernel.doctor.doctor import Examination

ADAPTERS_LIST = next(operation for operation in OPERATIONS if operation.name == "adapters.list")


def checks(examination: Examination) -> Sequence[Check]:
    """Return what is examined with or without a daemon."""
    programs = Programs(examination.environ, examination.run, examination.deadline)
    home = examination.seat.home
    return [
        Check("tools", "tmux", programs.tmux),
        Check("tools", "ssh", programs.ssh),
        Check("home", "spool", lambda: _spool(Path(examination.seat.directory) / "spool")),
        Check("home", "adapters", lambda: _adapters(Path(home) / "adapters")),
        Check("home", "policy", lambda: _policy(examination)),
        *(Check("agents", name, partial(programs.agent, name)) for name in agents_by_program()),
        Check("agents", "agents", lambda: _none_installed(examination, programs)),
        Check("agents", "hooks", lambda: _integrations({**examination.environ, "COVEY_HOME": home})),
        Check("agents", "drift", lambda: _drift(examination)),
    ]


def findings(part: dict[str, Any]) -> Sequence[Finding]:
    """Return what the fleet's part of the status says about targets."""
    targets = part["targets"]
    if not targets:
        detail = "no machine is watched, not even this one"
        return [Finding("home", "targets", WARN, detail, "covey target add host --kind local")]
    degraded = [
        Finding(
            "fleet", one["target"], WARN, f"{one['health']}: {one['reason']}", f"covey target connect {one['target']}"
        )
        for one in targets
        if one["health"] != "ok"
    ]
    return degraded or [Finding("home", "targets", OK, f"{len(targets)} well")]


def _spool(path: Path) -> Iterator[Finding]:
    """Yield a finding if something that is not a directory has the name of the spool: hooks would be lost."""
    if path.exists() and not path.is_dir():
        move = f"mv {quoted(str(path))} {quoted(f'{path}.aside')}"
        yield Finding("home", "spool", FAIL, f"{path} is not a directory", f"{move} && covey down && covey up")


def _adapters(folder: Path) -> Iterator[Finding]:
    """Yield the descriptions of agents that cannot be used."""
    if not folder.is_dir():
        return
    registry = load(folder)
    for problem in registry.problems:
        detail = f"{problem}\nIt is left out. {problem.suggestion}"
        yield Finding("home", "adapters", FAIL, detail, f"${{EDITOR:-vi}} {quoted(problem.name)}")
    if not registry.problems:
        own = sum(str(folder) in adapter.origin for adapter in registry)
        yield Finding("home", "adapters", OK, f"{own} of your own")


def _policy(examination: Examination) -> Iterator[Finding]:
    """Yield the rules that are wrong. A configuration that cannot be read at all is a finding of the home."""
    try:
        tables = Config.load(examination.seat, examination.settings).get(RULES.key)
    except AgentError:
        return
    file = examination.seat.config_file
    for problem in placed_in_file(Policy(tables).problems, file):
        detail = f"{problem}\nUntil it is mended, nothing is allowed."
        yield Finding("home", "policy", FAIL, detail, f"${{EDITOR:-vi}} {quoted(file)}")


def _none_installed(examination: Examination, programs: Programs) -> Iterator[Finding]:
    """Yield a finding if no agent is on the PATH. That is not a problem if the daemon sees some."""
    if any(programs.installed(name) for name in agents_by_program()):
        return
    status = examination.status()
    seen = sum(status["fleet"]["summary"]["by_state"].values()) if status else 0
    if seen:
        yield Finding("agents", "agents", OK, f"{seen} watched, none on this PATH")
    else:
        detail = "none found on PATH, so that there is nothing to look after"
        yield Finding("agents", "agents", WARN, detail, known_agents()["claude"].install)


def _integrations(environment: dict[str, str]) -> Iterator[Finding]:
    """Yield hooks in the settings of agents that an installed version does not accept."""
    user = Path(environment.get("HOME") or Path.home())
    for agent in INTEGRATIONS:
        status = integrate.status(agent, user, environment)
        if status.state not in {"installed", "outdated"}:
            continue
        try:
            refused = integrate.unknown_events(agent, user, environment, integrate.programs(agent, environment))
        except AgentError:  # the settings cannot be read: `adapters list` says so
            continue
        for program, events in refused.items():
            detail = (
                f"{program} does not know {', '.join(events)}, which {status.file} has hooks for, "
                "and may ignore all its settings"
            )
            yield Finding("agents", f"{agent} hooks", FAIL, detail, f"covey integrate {agent}")
        if not refused:
            yield Finding("agents", f"{agent} hooks", OK, status.detail or status.state)


def _drift(examination: Examination) -> Iterator[Finding]:
    """Yield the running versions of agents that the daemon no longer understands well."""
    try:
        items = examination.client().call(ADAPTERS_LIST, {})["items"]
    except (AgentError, OSError):  # without a daemon nothing is watched
        return
    for item in items:
        for one in item.get("drift", ()):
            if one["alarming"]:
                counts = ", ".join(f"{kind} {count}" for kind, count in sorted(one["counts"].items()))
                name = f"{item['agent']} {one['version']}".strip()
                yield Finding(
                    "agents", name, WARN, f"was often not understood: {counts}", "covey adapters explain --pane <pane>"
                )
