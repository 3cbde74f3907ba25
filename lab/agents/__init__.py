"""The agents of the lab: one file each, found by name and version, e.g. `claude` or `claude@2.1.48`."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lab.agents.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem not in {"__init__", "agent"})
EVERY = "all"
"""The version that stands for every pinned version of an agent."""
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.-]*\Z")


def find(wanted: str) -> type[Agent]:
    """Return the class for NAME or NAME@VERSION; raise LookupError, which lists the agents, when there is none.

    A version that has no class of its own is driven like the next newer one that has.
    """
    name, _, version = wanted.partition("@")
    if name not in NAMES:
        raise LookupError(f"there is no agent {name!r} in the lab; there are: {', '.join(NAMES)}")
    kinds = _kinds(name)
    newest = kinds[-1]
    if version in {"", newest.version}:
        return newest
    if newest.stand_in:
        raise LookupError(f"{name} is a stand-in and has only the version {newest.version}")
    if not _VERSION.match(version):
        raise LookupError(f"{version!r} is not a version of {name}; write for example {name}@{newest.version}")
    kind = next((one for one in kinds if _order(one.version) >= _order(version)), newest)
    return kind if kind.version == version else type(kind.__name__, (kind,), {"version": version})


def pinned(name: str) -> list[type[Agent]]:
    """Return the classes of every version of an agent that is measured, newest first."""
    newest = find(name)
    return [newest, *(find(f"{name}@{version}") for version in newest.older)]


def chosen(names: Iterable[str]) -> list[type[Agent]]:
    """Return the named agents, each once and in the given order; the newest of each when none is named.

    NAME@all is every pinned version.
    """
    found = []
    for wanted in dict.fromkeys(names) or NAMES:
        name, _, version = wanted.partition("@")
        found += pinned(name) if version == EVERY else [find(wanted)]
    return found


def _kinds(name: str) -> list[type[Agent]]:
    """Return every class of an agent's file, by version, oldest first."""
    module = import_module(f"lab.agents.{name}")
    own = (
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Agent) and one.__module__ == module.__name__
    )
    return sorted(own, key=lambda kind: _order(kind.version))


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]
