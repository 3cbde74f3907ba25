"""Agents among the ancestors of a process: by their programs, and by the variables that they set for others."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.agents.launching import session_marks
from covey.agents.screens.registry import load
from covey.kernel.processes.process import environment_of

if TYPE_CHECKING:
    from covey.agents.screens.adapter import ProcessShape
    from covey.consent.lineage import Lineage
    from covey.hosts.processes import ProcessTable


def agent_above(lineage: Lineage, table: ProcessTable) -> str:
    """Return the agent that a process is or comes from, in words; empty if there is none.

    Variables that a tmux server has passed on count for nothing: an agent may have started the server for a person.
    """
    for pid in lineage.line:
        process = table.get(pid)
        if process is not None:
            described = table.describe(process)
            for name, shape in _programs():
                if shape.fits(described):
                    return f"{name} (process {pid})"
    marks = session_marks() - lineage.excused
    for pid in lineage.line:
        if names := marks & environment_of(pid).keys():
            return f"a program of an agent ({min(names)} is set)"
    return ""


def first_agent(table: ProcessTable) -> int | None:
    """Return when the first of the agents that run now was started, in ticks of the table; None without one."""
    shapes = [shape for _, shape in _programs()]
    for process in table.by_start():
        described = table.describe(process)
        if any(shape.fits(described) for shape in shapes):
            return process.started
    return None


@cache
def _programs() -> tuple[tuple[str, ProcessShape], ...]:
    """Return how the processes of the built-in agents look, also of those that work without a person."""
    return tuple((adapter.name, replace(adapter.process, batch=())) for adapter in load(packages=False))
