"""What the lab's commands share: the agents that were named, their installation, and a run that cleans up."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any, TypeVar

from lab import agents
from lab.install import InstallError, install
from murli import tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from lab.agents.agent import Agent
    from lab.install import Package

T = TypeVar("T")


def find(wanted: Sequence[str]) -> list[type[Agent]]:
    """Return the agents with these names, or all; an unknown name is the user's error."""
    try:
        return agents.chosen(wanted)
    except LookupError as error:
        raise user_error(str(error), "Run `./run lab list` to see the agents.", valid_values=agents.NAMES) from error


def installed(agent: Package) -> Any:
    """Return an agent's installation, made now if it is missing; a failure is the tool's error."""
    try:
        return install(agent)
    except InstallError as error:
        raise tool_error(str(error)) from error


def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result.

    SIGTERM ends it as SIGINT does, also where SIGINT is ignored: agents, servers and folders are cleared away.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    return asyncio.run(work)
