"""The user for whom an agent is integrated, and what starts an agent with hooks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from covey.agents.integration import script
from covey.kernel.home import Home

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class UserEnvironment:
    """A user's home directory, the environment of their agents, and the home of the Covey that gets the hooks."""

    home: Path
    environ: Mapping[str, str]

    @property
    def covey(self) -> Path:
        return Path(Home.locate({**self.environ, "HOME": str(self.home)}).path)

    def folder(self, variable: str, usual: str) -> Path:
        """Return the folder that a variable names, or else the usual one in the home directory.

        A relative path is taken from the home: the agent's working directory is not known.
        """
        named = self.environ.get(variable, "")
        return self.home / named if named else self.home / usual

    def command(self, agent: str) -> str:
        return script.command(self.covey, agent)


@dataclass(frozen=True)
class Launch:
    """What to add to an agent's command line and environment."""

    argv: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    files: dict[Path, bytes] = field(default_factory=dict)
    """Files of ours that the additions name; they are written by `launch`."""
