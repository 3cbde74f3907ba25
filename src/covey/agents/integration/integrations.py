"""The integrations, found by name, and what can be done with each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from covey.agents.integration import script
from covey.agents.integration.edit import Edit, NotEditable, Plan, apply, backups, mode_of, next_backup, read
from covey.agents.integration.user_environment import Launch, UserEnvironment
from covey.agents.registry import INTEGRATIONS
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.agents.integration.integration import Integration

ABSENT, INSTALLED, OUTDATED, BLOCKED = "absent", "installed", "outdated", "blocked"


class Status(NamedTuple):
    """The state of one agent's integration.

    `outdated` is mended by integrating again; of `blocked`, `detail` says what is in the way.
    """

    agent: str
    state: str
    file: Path
    detail: str = ""


def plan(
    agent: str, home: Path, environ: Mapping[str, str], *, remove: bool = False, versions: Sequence[str] = ()
) -> Plan:
    """Return what integrating an agent, or removing the integration, would change. Changes nothing.

    `home` is the user's home directory. `versions` are those of the agent that will read the settings: only events that
    all of them know are written. Whether a version was ever tried, `acceptance` says.
    """
    integration, user = find(agent).for_versions(versions), UserEnvironment(home, environ)
    path = _real(integration.file(user))
    before = read(path)
    edits = (
        _removal(integration, path, before, user)
        if remove
        else [*_script(user), *_installation(integration, path, before, user)]
    )
    notes: list[str] = []
    if not remove and before is not None:
        notes += integration.warnings(path, before) if before.strip() else []
    if edits and not remove:
        notes += integration.remarks
    return Plan(agent, edits, notes)


def status(agent: str, home: Path, environ: Mapping[str, str]) -> Status:
    """Return the state of an agent's settings and of the hook program."""
    integration, user = find(agent), UserEnvironment(home, environ)
    path = _real(integration.file(user))
    try:
        content = read(path)
        if content is None or not integration.has_ours(path, content):
            return Status(agent, ABSENT, path)
        if all(variant.installed(path, content, user) != content for variant in integration.variants()):
            return Status(agent, OUTDATED, path, "its hooks are those of another version of Covey, or some are missing")
        if _script(user):
            return Status(agent, OUTDATED, path, "the hook program itself is missing, or that of another version")
        return Status(agent, INSTALLED, path, " ".join(integration.warnings(path, content)))
    except AgentError as error:
        return Status(agent, BLOCKED, path, error.message)


def launch(agent: str, home: Path, environ: Mapping[str, str], *, versions: Sequence[str] = ()) -> Launch | None:
    """Return how to start an agent with our hooks and its settings untouched: nothing to add if it is integrated.

    Returns None if the agent knows no way. Writes into Covey's home only. `versions` as for `plan`.
    """
    integration, user = find(agent).for_versions(versions), UserEnvironment(home, environ)
    if status(agent, home, environ).state == INSTALLED:
        return Launch()
    found = integration.launch(user)
    if found is not None:
        written = [Edit(file, before, after) for file, after in found.files.items() if (before := read(file)) != after]
        apply(Plan(agent, [*_script(user), *written]))
    return found


def refresh(home: Path, environ: Mapping[str, str]) -> bool:
    """Update the hook program in Covey's home, if there is one. Returns whether that was needed."""
    user = UserEnvironment(home, environ)
    edits = _script(user)
    needed = any(edit.before is not None for edit in edits)
    if needed:
        apply(Plan("", edits))
    return needed


def find(agent: str) -> Integration:
    """Return the integration of an agent. Raises AgentError if there is none."""
    if agent not in INTEGRATIONS:
        raise user_error(
            f"there is no integration for {agent!r}",
            f"Choose one of: {', '.join(INTEGRATIONS)}.",
            field="agent",
            valid_values=tuple(INTEGRATIONS),
        )
    return INTEGRATIONS[agent]


def _installation(integration: Integration, path: Path, before: bytes | None, user: UserEnvironment) -> list[Edit]:
    after = integration.installed(path, before, user)
    if after == before:
        return []
    base = integration.removed(path, before) if before is not None else None
    kept = base is None or base in backups(path).values()
    return [Edit(path, before, after, mode_of(path), None if kept else next_backup(path), integration.adds)]


def _removal(integration: Integration, path: Path, before: bytes | None, user: UserEnvironment) -> list[Edit]:
    """Return the edits that restore the kept copy of which we made the file, or else remove our entries from it."""
    if before is None or not integration.has_ours(path, before):
        return []
    kept = backups(path)
    for file, content in kept.items():
        if _comes_from(integration, path, before, content, user):
            return [
                Edit(path, before, content, mode_of(path), about="as it was before"),
                Edit(file, content, None, about="the copy of that"),
            ]
    if not kept and any(before == variant.installed(path, None, user) for variant in integration.variants()):
        return [Edit(path, before, None, mode_of(path), about="it held Covey's hooks and nothing else")]
    after = integration.removed(path, before)
    return [
        Edit(
            path,
            before,
            after,
            mode_of(path),
            None if after is None else next_backup(path),
            "Covey's hooks taken out, all else as it is",
        )
    ]


def _comes_from(integration: Integration, path: Path, now: bytes, original: bytes, user: UserEnvironment) -> bool:
    try:
        return not integration.has_ours(path, original) and any(
            variant.installed(path, original, user) == now for variant in integration.variants()
        )
    except NotEditable:
        return False


def _script(user: UserEnvironment) -> list[Edit]:
    edits = []
    for file, (content, mode) in script.files(user.covey).items():
        before = read(file)
        if before != content or mode_of(file) != mode:
            edits.append(Edit(file, before, content, mode, about="the hook itself, in Covey's own folder"))
    return edits


def _real(path: Path) -> Path:
    """Return the path with links followed: the file that they lead to is edited and copied."""
    return Path(os.path.realpath(path))
