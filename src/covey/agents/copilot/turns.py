"""The turns in the events of a session of Copilot CLI. Those of its helpers bear the id of an agent."""

from __future__ import annotations

from typing import Any

from covey.agents.json_values import json_object, string, timestamp
from covey.agents.turns import TurnReader


class CopilotTurns(TurnReader):
    def take(self, entry: dict[str, Any]) -> None:
        if entry.get("agentId"):
            return
        said = string(json_object(entry.get("data")).get("content"))
        match entry.get("type"):
            case "user.message":
                self.prompted(said, timestamp(entry.get("timestamp")))
            case "assistant.message":
                self.replied(said)


TURNS = CopilotTurns
