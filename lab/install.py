"""Installation of the pinned agent CLIs, and of a tool that tests us, into a folder that all clones of a user share."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

NPM_LIMIT = 600
VERSION_LIMIT = 60


class Package(Protocol):
    """A program that comes from npm: an agent, or a tool."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def package(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def program_name(self) -> str: ...
    @property
    def shelf(self) -> str: ...
    @property
    def stand_in(self) -> bool: ...


class InstallError(RuntimeError):
    """An agent could not be installed; the message says why and what to do."""


@dataclass(frozen=True)
class Installed:
    agent: str
    version: str
    program: Path
    seconds: float
    """Zero when it was there already."""


def lab_folder() -> Path:
    """Return the folder of installed agents: $COVEY_LAB_DIR, else a folder in the user's cache."""
    if chosen := os.environ.get("COVEY_LAB_DIR"):
        return Path(chosen).expanduser().resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "covey-lab"


def program_of(agent: Package) -> Path:
    """Return the path at which the agent's program is, or would be."""
    if agent.stand_in:
        return Path(__file__).parent / "standins" / agent.program_name
    return lab_folder() / agent.shelf / agent.name / agent.version / "node_modules" / ".bin" / agent.program_name


def install(agent: Package) -> Installed:
    """Install the pinned version if it is missing, and check that it runs. Safe to call at once from several clones."""
    program = program_of(agent)
    if program.exists():
        return Installed(agent.name, agent.version, program, 0.0)
    began = time.monotonic()
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError(
            f"{agent.title} comes from npm, which is not installed: install nodejs and npm (20 or newer) and try again"
        )
    target = lab_folder() / agent.shelf / agent.name / agent.version
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".partial-") as partial:
        folder = Path(partial) / "it"
        folder.mkdir()
        # Not --prefix: with it, npm looks for the machine's settings (proxies, certificates) below that folder.
        (folder / "package.json").write_text('{"private": true}')
        arguments = [
            "install",
            "--cache",
            f"{partial}/cache",
            "--no-audit",
            "--no-fund",
            "--no-progress",
            "--loglevel=error",
        ]
        _run(
            [npm, *arguments, f"{agent.package}@{agent.version}"],
            NPM_LIMIT,
            agent,
            env=_elsewhere(Path(partial) / "npm"),
            folder=folder,
        )
        _verify(agent, folder / "node_modules" / ".bin" / agent.program_name, Path(partial))
        with contextlib.suppress(OSError):  # another clone was faster; its copy is as good
            folder.rename(target)
    return Installed(agent.name, agent.version, program, time.monotonic() - began)


def _elsewhere(home: Path) -> dict[str, str]:
    """Return an environment in which the install scripts of a package write to a temporary folder.

    npm's own settings stay the user's.
    """
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return {
        **kept,
        "HOME": str(home),
        "NPM_CONFIG_USERCONFIG": os.environ.get("NPM_CONFIG_USERCONFIG", str(Path.home() / ".npmrc")),
    }


def _verify(agent: Package, program: Path, scratch: Path) -> None:
    home = scratch / "home"
    home.mkdir()
    said = _run(
        [str(program), "--version"],
        VERSION_LIMIT,
        agent,
        env={"HOME": str(home), "TMPDIR": str(scratch), "PATH": os.environ["PATH"], "COPILOT_OFFLINE": "true"},
    )
    if agent.version not in said:
        raise InstallError(
            f"{agent.title} {agent.version} was installed, but it says it is {said.strip()[:80]!r}: "
            f"remove {program.parents[2]} and try again"
        )


def _run(
    command: list[str],
    limit: float,
    agent: Package,
    *,
    env: dict[str, str] | None = None,
    folder: Path | None = None,
) -> str:
    try:
        ended = subprocess.run(
            command,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InstallError(
            f"installing {agent.title} took longer than {limit:.0f} s: check the network and try again"
        ) from None
    if ended.returncode:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        raise InstallError(
            f"{agent.title} could not be installed ({Path(command[0]).name} failed): {' / '.join(lines[:3])[:300]}"
        )
    return ended.stdout
