"""How an agent that asks nobody is started with `guard`, the program that refuses what is denied."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from covey.policy.destructive.patterns import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Iterable

RULES = "deny.json"
REFUSED = "Refused by Covey: "
LIMIT_S = 20
"""After which the guard refuses what it has not judged yet. The limits of agents, which let a call pass, are longer."""
HOOK_S = 60
PROGRAM = str(Path(__file__).with_name("guard.py"))
_CLOSED = f'"$@" || {{ [ $? = 2 ] || echo "{REFUSED}a tool, for the guard does not run" >&2; exit 2; }}'
"""Runs the guard. Claude and Codex take a hook that cannot be run for one that has nothing against the call."""
COPILOT, COPILOT_GRANTS, BASH = "--for-copilot", "--for-copilot-grants", "--as-bash"
"""Options of the guard: how it answers."""


def own_patterns(deny: Iterable[str]) -> list[str]:
    """Return the patterns that are not built in: the guard knows those by their meaning."""
    return [pattern for pattern in deny if pattern not in BUILT_IN]


def rules_text(
    agent: str, workspace: str, rules: Iterable[tuple[str, str | None]] = (), *, folder_lasts: bool = False
) -> str:
    """Return what the guard reads: `rules` are tools of the agent, each with a pattern for its command or None.

    `folder_lasts` says that a `cd` counts for the agent's later commands.
    """
    return json.dumps({"agent": agent, "workspace": workspace, "rules": list(rules), "folder_lasts": folder_lasts})


def command(rules: str) -> list[str]:
    """Return the words that start the guard with a file of rules."""
    return [sys.executable, "-I", PROGRAM, rules]


def closed_hook(rules: str) -> str:
    """Return a hook's command that refuses whatever the guard does not let pass, also when it cannot be run."""
    return shlex.join(["/bin/sh", "-c", _CLOSED, "guard", *command(rules)])


def hook_entry(rules: str) -> dict[str, object]:
    """Return the entry of a table of hooks, in the form that Claude Code and Codex share."""
    return {"hooks": [{"type": "command", "command": closed_hook(rules), "timeout": HOOK_S}]}


def copilot_hook(rules: str, *, grants: bool = False) -> dict[str, object]:
    """Return a hook of Copilot, which shows the model only a reason that is in the hook's JSON.

    A hook that fails refuses. `grants`: what may pass is granted, for a Copilot that runs nothing without a grant.
    """
    words = [*command(rules), COPILOT_GRANTS if grants else COPILOT]
    return {"type": "command", "bash": shlex.join(words), "timeoutSec": HOOK_S}


def shell_program(rules: str) -> str:
    """Return a program to be found before bash, for an agent without hooks: it runs what the guard lets pass."""
    return f'#!/bin/sh\nexec {shlex.join([*command(rules), BASH])} "$@"\n'
