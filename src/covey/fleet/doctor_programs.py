"""What `covey doctor` examines of other programs: tmux, ssh, and the agents that are installed."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from covey.agents.registry import agents_by_program
from covey.agents.screens.registry import load
from covey.kernel.doctor.finding import FAIL, OK, WARN, Finding
from covey.kernel.processes.program_version import ProgramVersions, complaint, first_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.processes.probe import Run

_OLDEST_TMUX = (3, 2)
_MANAGERS = {
    "apt-get": "sudo apt-get install {}",
    "dnf": "sudo dnf install {}",
    "pacman": "sudo pacman -S {}",
    "zypper": "sudo zypper install {}",
    "apk": "sudo apk add {}",
    "brew": "brew install {}",
}
_SSH_PACKAGES = {"dnf": "openssh-clients", "zypper": "openssh-clients", "pacman": "openssh", "brew": "openssh"}


class Programs:
    """The programs on one PATH."""

    def __init__(self, environ: Mapping[str, str], run: Run, deadline: float) -> None:
        self._environ = environ
        self._run = run
        self._deadline = deadline

    def tmux(self) -> Finding:
        """Whether tmux is here and new enough for what we ask of it."""
        path = self._which("tmux")
        if path is None:
            return Finding("tools", "tmux", FAIL, "not found; Covey sees agents through it", self._install("tmux"))
        ran = self._run([path, "-V"], self._environ, self._deadline)
        version = first_line(ran.out).removeprefix("tmux ")
        number = re.search(r"(\d+)\.(\d+)", version)
        if ran.code != 0 or not version:
            return Finding("tools", "tmux", FAIL, complaint(ran), self._install("tmux"))
        if number is None:  # "master": built from the newest source
            return Finding("tools", "tmux", OK, version)
        if (int(number[1]), int(number[2])) < _OLDEST_TMUX:
            oldest = ".".join(map(str, _OLDEST_TMUX))
            lacks = f"{version} is older than {oldest}, the oldest that Covey can watch"
            return Finding("tools", "tmux", WARN, lacks, self._install("tmux").replace("brew install", "brew upgrade"))
        return Finding("tools", "tmux", OK, version)

    def ssh(self) -> Finding:
        """Whether other hosts can be reached."""
        path = self._which("ssh")
        manager = self._manager()
        if path is None:
            return Finding(
                "tools",
                "ssh",
                WARN,
                "not found; other hosts cannot be reached",
                self._install(_SSH_PACKAGES.get(manager, "openssh-client")),
            )
        ran = self._run([path, "-V"], self._environ, self._deadline)
        version = first_line(ran.err) or first_line(ran.out)
        if ran.code != 0 or not version:
            return Finding(
                "tools", "ssh", WARN, complaint(ran), self._install(_SSH_PACKAGES.get(manager, "openssh-client"))
            )
        return Finding("tools", "ssh", OK, version.partition(",")[0])

    def installed(self, name: str) -> bool:
        """Whether a program is on the PATH."""
        return self._which(name) is not None

    def agent(self, name: str) -> Finding:
        """Whether an agent is installed, and which version."""
        agent = agents_by_program()[name]
        path = self._which(name)
        if path is None:
            return Finding("agents", name, OK, "not installed")
        found = ProgramVersions(self._environ, self._run, self._deadline).of(
            path, [agent.package] if agent.package else []
        )
        if found.version:
            return Finding("agents", name, OK, found.version + self._caveat(name, found.version))
        if "version manager" in found.problem:
            return Finding("agents", name, OK, f"{path} (a version manager's; not asked)")
        return Finding("agents", name, WARN, f"{path} {found.problem}", agent.install)

    def _caveat(self, name: str, version: str) -> str:
        """Return a note if a version of an agent was never measured."""
        adapter = next((one for one in load(packages=False) if name in one.process.names), None)
        if adapter is None or not adapter.tested or not version[:1].isdigit():
            return ""
        caveat = adapter.at(version).caveat
        return f" ({caveat})" if caveat else ""

    def _which(self, name: str) -> str | None:
        return shutil.which(name, path=self._environ.get("PATH", os.defpath))

    def _manager(self) -> str:
        return next((name for name in _MANAGERS if self._which(name)), "")

    def _install(self, package: str) -> str:
        """The command that installs a package here."""
        return _MANAGERS.get(self._manager(), "install {} with your package manager").format(package)
