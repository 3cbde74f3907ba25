"""The identity of an agent: what everything that deals with it has to know."""

from __future__ import annotations

from typing import NamedTuple


class SkillFolders(NamedTuple):
    """Where an agent looks for skills: folders with a SKILL.md. Each was seen in use by the agent's own program."""

    project: str
    """Below the folder of a project."""
    variable: str
    """The environment variable that moves the agent's own folder."""
    usual: str
    """That folder below the user's home, if the variable is not set."""
    below: str
    """Where the skills are below it."""


class Agent(NamedTuple):
    """One agent CLI, as the AGENT of its folder."""

    name: str
    """What Covey calls it; the name of its folder."""
    title: str
    """What its makers call it."""
    program: str
    """Its command on PATH."""
    install: str
    """The shell command that installs it."""
    package: str = ""
    """Its package on npm; empty if it has none."""
    session_variables: tuple[str, ...] = ()
    """Environment variables that it sets for the programs it starts.

    An agent that is started from there must not inherit them.
    """
    skills: SkillFolders | None = None
    """None if it is not known to have skills."""
