"""The agents of the lab: one file each, found by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lab.agents.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem not in {"__init__", "agent"})


def find(name: str) -> type[Agent]:
    """The class for a name; a LookupError says which names there are."""
    if name not in NAMES:
        raise LookupError(f"there is no agent {name!r} in the lab; there are: {', '.join(NAMES)}")
    module = import_module(f"lab.agents.{name}")
    return next(kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Agent) and vars(kind).get("name") == name)


def chosen(names: Iterable[str]) -> list[type[Agent]]:
    """The named agents, each once and in the given order; all when none is named."""
    return [find(name) for name in dict.fromkeys(names) or NAMES]
