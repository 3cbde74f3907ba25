"""The version of an agent that runs, from the files of its program.

It blocks while a program is asked: call it from a thread.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from covey.agents.registry import known_agents
from covey.kernel.processes.program_version import version_in_path

if TYPE_CHECKING:
    from covey.agents.screens.adapter import Adapter, Process
    from covey.kernel.processes.program_version import ProgramVersions

LATER_S = 2.0
"""Files of a program that are younger than its process by more than this belong to an update that the process does not
run.
"""


def running_version(process: Process, started_at: float, adapter: Adapter, programs: ProgramVersions) -> str:
    """The version of the program that a process runs; empty if its files do not tell.

    `started_at` is when the process was started, in seconds since 1970. A program is asked for its version only if the
    kernel names its file as the agent's own: a script of the same name may be anything.
    """
    agents = {agent.program: agent for agent in known_agents().values() if agent.program in adapter.process.names}
    packages = [agent.package for agent in agents.values() if agent.package]
    for path in _files(process, adapter):
        if version := version_in_path(path):
            return version
        if not Path(path).is_file() or _is_newer(path, started_at):
            continue
        name = Path(path).name
        own = path == process.exe and name in agents
        if version := programs.of(path, packages, ask=own).version:
            return version
    return ""


def _files(process: Process, adapter: Adapter) -> list[str]:
    """The program, and the script that it runs, by their whole paths."""
    argv = list(process.argv)
    script = next((word for word in argv[1:] if not word.startswith("-")), "")
    own = [
        path
        for path in (process.exe, *argv[:1])
        if not any(fnmatchcase(Path(path).name, launcher) for launcher in adapter.process.launchers)
    ]
    return list(dict.fromkeys(path for path in (*own, script) if path.startswith("/")))


def _is_newer(path: str, started_at: float) -> bool:
    """Whether a program was replaced after the process had been started."""
    try:
        return Path(path).stat().st_ctime > started_at + LATER_S
    except OSError:
        return True
