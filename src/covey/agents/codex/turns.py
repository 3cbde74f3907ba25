"""The turns in a transcript ("rollout") of Codex."""

from __future__ import annotations

from typing import Any

from covey.agents.json_values import content_text, json_object, json_objects, string, timestamp
from covey.agents.turns import TurnReader


class CodexTurns(TurnReader):
    def take(self, entry: dict[str, Any]) -> None:
        payload = json_object(entry.get("payload"))
        item = json_object(payload.get("item"))
        match payload.get("type"), item.get("type"):
            case "user_message", _:
                self.prompted(string(payload.get("message")), timestamp(entry.get("timestamp")))
            case "item_completed", "UserMessage":
                self.prompted(content_text(item.get("content")), timestamp(entry.get("timestamp")))
            case "agent_message", _:
                self.replied(string(payload.get("message")))
            case "item_completed", "AgentMessage":
                self.replied("\n\n".join(string(part.get("text")) for part in json_objects(item.get("content"))))
            case "task_complete", _:
                self.replied(string(payload.get("last_agent_message")))


TURNS = CodexTurns
