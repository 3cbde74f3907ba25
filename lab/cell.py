"""The unit for which figures are kept: one version of one agent in a terminal of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lab.agents.agent import Agent
    from lab.size import Size


class Cell(NamedTuple):
    agent: str
    version: str
    size: Size

    @classmethod
    def of(cls, agent: Agent | type[Agent], size: Size) -> Cell:
        return cls(agent.name, agent.version, size)

    def table(self) -> dict[str, str]:
        return {"agent": self.agent, "version": self.version, "size": str(self.size)}
