"""Whether the installed versions of an agent accept Covey's hooks.

Some agents refuse to start, or ignore all settings, over one unknown event.

AgentError
└── NotAccepted           it is not known that every installed version accepts the hooks; nothing was written
"""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, NamedTuple

from covey.agents.integration.edit import read
from covey.agents.integration.integrations import find
from covey.agents.integration.table import HooksTable
from covey.agents.integration.user_environment import UserEnvironment
from covey.agents.versions import compare, version
from covey.kernel.processes.program_version import ProgramVersions
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from covey.agents.integration.integration import Integration
    from covey.kernel.processes.program_version import Program


class NotAccepted(AgentError):  # noqa: N818 - a state of the program
    """The settings were not touched."""

    def __init__(self, integration: Integration, why: str) -> None:
        tried = f"Tried with: {', '.join(integration.tried)}." if integration.tried else "No version was ever tried."
        danger = f" About an event that it does not know, {integration.strict}." if integration.strict else ""
        super().__init__(
            f"{why}; nothing was changed. {tried}{danger}",
            code=1,
            error="not_accepted",
            suggestion="Without hooks Covey reads the screen. "
            f"To insist: covey integrate {integration.name} --any-version",
            recoverable=True,
        )


class Accepted(NamedTuple):
    """The versions for which hooks are to be written, and what a person should know about them."""

    versions: list[str]
    notes: list[str]


def programs(agent: str, environ: Mapping[str, str], versions: ProgramVersions | None = None) -> list[Program]:
    """Return the programs of an agent on PATH with their versions.

    It blocks while a program is asked, unless `versions` knows its version already.
    """
    about = find(agent).agent
    return (versions or ProgramVersions(environ)).on_path(about.program, [about.package] if about.package else [])


def acceptance(agent: str, found: Sequence[Program], *, any_version: bool = False) -> Accepted:
    """Return the versions of the programs that were found.

    Raises NotAccepted if one of them may refuse the hooks, unless `any_version` is set.
    """
    integration = find(agent)
    versions = [one.version for one in found if one.version]
    seen = ", ".join(f"{one.version or 'unknown version'} ({one.path})" for one in found)
    notes = [f"Written for {integration.title} {seen}." if seen else f"No {integration.program} was found on PATH."]
    if any_version:
        return Accepted(versions, notes)
    if not found:
        raise NotAccepted(
            integration, f"no {integration.program} was found on PATH, so that it is not known which hooks it accepts"
        )
    for one in found:
        if why := refusal(integration, one):
            raise NotAccepted(integration, why)
        if compare(version(one.version), version(integration.tried[-1])) > 0:
            notes.append(
                f"{integration.title} {one.version} is newer than {integration.tried[-1]}, "
                "the newest version with which the hooks were tried."
            )
    return Accepted(versions, notes)


def refusal(integration: Integration, program: Program) -> str:
    """Return why it is not known that a program accepts the hooks; empty if it is known."""
    if not program.version:
        return f"the version of {program.path} is not known: it {program.problem}"
    if not integration.tried:
        return f"the hooks were never tried with {integration.title}"
    number, named = version(program.version), f"{integration.title} {program.version} ({program.path})"
    if compare(number, version(integration.tried[0])) < 0:
        return f"{named} is older than {integration.tried[0]}, the oldest version with which the hooks were tried"
    if integration.strict and compare(number, version(integration.tried[-1])) > 0:
        # Nobody has tried this one, so its own files must name every event.
        missing = _missing(program.path, integration.events)
        if missing:
            return f"{named} is newer than {integration.tried[-1]} and does not know {', '.join(missing)}"
    return ""


def unknown_events(
    agent: str, home: Path, environ: Mapping[str, str], found: Sequence[Program]
) -> dict[str, list[str]]:
    """Return the events of our hooks in an agent's settings that a program on PATH does not know, by program.

    Empty where the agent ignores what it does not know.
    """
    integration, user = find(agent), UserEnvironment(home, environ)
    if not integration.strict or not isinstance(integration, HooksTable):
        return {}
    path = integration.file(user)
    content = read(path)
    ours = integration.own_events(path, content) if content else []
    result = {}
    for one in found:
        known = integration.for_versions([one.version] if one.version else []).events
        missing = [event for event in ours if event not in known]
        if one.version and integration.tried and compare(version(one.version), version(integration.tried[-1])) > 0:
            missing = _missing(one.path, ours)
        if missing:
            result[f"{one.path} {one.version}".strip()] = missing
    return result


def _missing(path: str, names: Sequence[str]) -> list[str]:
    """Return the names that are not a string in a program's file. A file that cannot be read has none of them."""
    try:
        descriptor = os.open(os.path.realpath(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return list(names)
    try:
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as text:
            return [name for name in names if text.find(f'"{name}"'.encode()) < 0]
    except (OSError, ValueError):  # empty, or not a file
        return list(names)
    finally:
        os.close(descriptor)
