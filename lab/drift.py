"""Drift since the pinned releases were measured: the newest release of an agent is compared with the pinned figures."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab import agents
from lab.figures import FOLDER, CellFigures, read
from lab.install import NPM_LIMIT, InstallError
from lab.score import LONG

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.agents.agent import Agent
    from lab.score import Score

OBSERVER = "covey"
TOLERANCE = 0.05
"""A share of the time by which a scenario may be read worse than it was: runs differ, and machines are noisy."""
EXPECTED = 0.95
"""What a scenario must reach for which there are no pinned figures."""


@dataclass
class Drift:
    """One agent: the release that was played, the pinned one, and what is worse than with that."""

    agent: str
    version: str
    pinned: str
    accuracy: float
    pinned_accuracy: float | None
    broken: list[str] = field(default_factory=list)


def newest(agent: type[Agent]) -> str:
    """Return the version of an agent's newest release on npm; raise InstallError when npm cannot tell it."""
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError(
            f"the newest {agent.title} is looked up with npm, which is not installed: "
            "install nodejs and npm (20 or newer)"
        )
    command = [npm, "view", agent.package, "version", "--json", "--loglevel=error"]
    try:
        ended = subprocess.run(
            command,
            env=os.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=NPM_LIMIT,
            check=False,
        )
        found = json.loads(ended.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        found = None
    if not isinstance(found, str):
        raise InstallError(
            f"npm does not say what the newest {agent.title} is: check the network, or name a version: "
            f"{agent.name}@{agent.version}"
        )
    return found


def release(wanted: str) -> type[Agent]:
    """Return the agent to play for NAME@VERSION, or for NAME the newest release on npm.

    A release that is not pinned lies in a folder of its own.
    """
    name, _, version = wanted.partition("@")
    pinned = agents.find(name)
    if pinned.stand_in:
        raise LookupError(f"{name} is a stand-in, which has no releases")
    kind = agents.find(f"{name}@{version or newest(pinned)}")
    known = {one.version for one in agents.pinned(name)}
    return kind if kind.version in known else type(kind.__name__, (kind,), {"shelf": "drift"})


def compared(now: CellFigures, folder: Path = FOLDER) -> Drift:
    """Compare a release's figures with those of the newest pinned release at the same size and in the same mode."""
    pinned = agents.find(now.agent).version
    file = folder / now.agent / pinned / f"{now.size}-{now.mode}.json"
    before = read(file) if file.exists() else CellFigures(now.agent, pinned, now.size, now.mode)
    known = before.total(OBSERVER)
    drift = Drift(
        now.agent, now.version, pinned, now.total(OBSERVER).accuracy, known.accuracy if known.decided else None
    )
    drift.broken += [
        f"{name} did not play: {text}" for name, text in now.failures.items() if name not in before.failures
    ]
    for name, one in now.scenarios.items():
        old = before.scenarios.get(name)
        drift.broken += [
            f"{name}: {text}" for text in _worse(one.observers[OBSERVER], old.observers.get(OBSERVER) if old else None)
        ]
    return drift


def remove_older(chosen: Sequence[type[Agent]], folder: Path) -> None:
    """Remove releases that an earlier run fetched and this one does not use."""
    for agent in chosen:
        for release_folder in (folder / agent.name).glob("*"):
            if release_folder.name != agent.version:
                shutil.rmtree(release_folder, ignore_errors=True)


def _worse(now: Score, before: Score | None) -> list[str]:
    found = []
    least = before.accuracy - TOLERANCE if before else EXPECTED
    if now.accuracy < least:
        found.append(
            f"accuracy {now.accuracy:.1%}, "
            + (f"{before.accuracy:.1%} with the pinned release" if before else f"expected {EXPECTED:.0%}")
        )
    if now.recall("waiting_approval") < (before.recall("waiting_approval") if before else 1.0):
        found.append("an approval was not seen")
    longest = max(now.wrong, default=0.0)
    if longest > max(LONG, max(before.wrong, default=0.0) if before else 0.0):
        found.append(f"a wrong state was claimed with high confidence for {longest:.1f} s")
    return found
