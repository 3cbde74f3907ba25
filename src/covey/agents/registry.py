"""The list of agents, made from the folders of this package, and the parts that each folder has.

A package in `covey.agents` that is not one of SHARED is the folder of an agent, and defines AGENT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import covey.agents

if TYPE_CHECKING:
    from covey.agents.acting import Acting
    from covey.agents.agent import Agent
    from covey.agents.approvals import Approvals
    from covey.agents.blocks import BlockReader
    from covey.agents.dialogs import DialogShape
    from covey.agents.headless.agent import HeadlessAgent
    from covey.agents.integration.integration import Integration
    from covey.agents.launching import Launching
    from covey.agents.signals.signals import Signals
    from covey.agents.transcript_turns import TurnSource
    from covey.agents.turns import TurnReader
    from covey.policy.tools import Tools

SHARED = frozenset({"headless", "integration", "screens", "signals"})
"""Packages of `covey.agents` that are not the folder of an agent."""
SCREEN = "screen.toml"

_Part = TypeVar("_Part")


def known_agents() -> Mapping[str, Agent]:
    """Return all agents by name."""
    return _agents_in(tuple(covey.agents.__path__))


def agents_by_program() -> Mapping[str, Agent]:
    """Return all agents by the name of their command."""
    return {agent.program: agent for agent in known_agents().values()}


def screen_descriptions() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of the `screen.toml` of every agent that has one."""
    for name in known_agents():
        file = Path(import_module(f"covey.agents.{name}").__path__[0], SCREEN)
        if file.is_file():
            yield name, file.read_text(encoding="utf-8")


class Parts(Mapping[str, _Part]):
    """One part of every agent that has it, by the name of the agent.

    A module is imported when its part is first asked for.
    """

    def __init__(self, module: str, constant: str) -> None:
        """`module`: the module in the folder of the agent; `constant`: what it defines."""
        self._module = module
        self._constant = constant

    def __getitem__(self, name: str) -> _Part:
        if not self._has(name):
            raise KeyError(name)
        part: _Part = getattr(import_module(f"covey.agents.{name}.{self._module}"), self._constant)
        return part

    def __iter__(self) -> Iterator[str]:
        return filter(self._has, known_agents())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._has(name)

    def _has(self, name: str) -> bool:
        return name in known_agents() and find_spec(f"covey.agents.{name}.{self._module}") is not None


SIGNALS: Mapping[str, Signals] = Parts("signals", "SIGNALS")
"""What agents report by hooks and write to files."""
INTEGRATIONS: Mapping[str, Integration] = Parts("integration", "INTEGRATION")
"""How hooks are installed."""
ACTING: Mapping[str, Acting] = Parts("acting", "ACTING")
"""What is typed for what."""
TURNS: Mapping[str, type[TurnReader]] = Parts("turns", "TURNS")
"""How turns are read from transcripts."""
BLOCKS: Mapping[str, type[BlockReader]] = Parts("blocks", "BLOCKS")
"""How complete turns, with all their blocks, are read from transcripts."""
TURN_STORES: Mapping[str, type[TurnSource]] = Parts("turn_store", "TURN_STORE")
"""How complete turns are read from agents whose conversations are not in a file of lines."""
DIALOGS: Mapping[str, tuple[DialogShape, ...]] = Parts("dialogs", "DIALOGS")
"""Which keys answer which dialog."""
APPROVALS: Mapping[str, Approvals] = Parts("approvals", "APPROVALS")
"""How agents ask a person by a hook, and are answered."""
TOOLS: Mapping[str, Tools] = Parts("tools", "TOOLS")
"""Which tools agents have, and the form of their inputs."""
HEADLESS: Mapping[str, HeadlessAgent] = Parts("headless", "HEADLESS")
"""How agents are run without a terminal."""
LAUNCHING: Mapping[str, Launching] = Parts("launching", "LAUNCHING")
"""How agents are started in a terminal, and resumed."""


@cache
def _agents_in(folders: tuple[str, ...]) -> Mapping[str, Agent]:
    names = [module.name for module in iter_modules(folders) if module.ispkg and module.name not in SHARED]
    return MappingProxyType({name: import_module(f"covey.agents.{name}").AGENT for name in names})
