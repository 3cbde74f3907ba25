"""The turns in a transcript of Claude Code. One message of the model has an entry for each of its blocks."""

from __future__ import annotations

from typing import Any

from covey.agents.claude.signals import INTERRUPTED, LOCAL_COMMANDS
from covey.agents.json_values import content_text, json_object, json_objects, string, timestamp
from covey.agents.turns import TurnReader

HIDDEN = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
"""Marks of entries that are not part of the conversation with the person."""


class ClaudeTurns(TurnReader):
    def __init__(self) -> None:
        super().__init__()
        self._message = ""
        """The id of the last message of the model that has a text."""

    def take(self, entry: dict[str, Any]) -> None:
        if any(entry.get(mark) is True for mark in HIDDEN):
            return
        message = json_object(entry.get("message"))
        match entry.get("type"):
            case "user":
                written = content_text(message.get("content"))
                if not written.startswith((INTERRUPTED, *LOCAL_COMMANDS)):
                    self.prompted(written, timestamp(entry.get("timestamp")))
            case "attachment":  # a prompt that was queued, and taken between two tools
                queued = json_object(entry.get("attachment"))
                if queued.get("type") == "queued_command":
                    self.prompted(content_text(queued.get("prompt")), timestamp(entry.get("timestamp")))
            case "assistant":
                said = [string(block.get("text")) for block in json_objects(message.get("content"))]
                text = "\n\n".join(filter(None, said))
                self.replied(text, more=self._message == message.get("id"))
                self._message = string(message.get("id")) if text else self._message


TURNS = ClaudeTurns
