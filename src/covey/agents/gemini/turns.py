"""The turns in a transcript of Gemini CLI. An entry with the id of an earlier one corrects it."""

from __future__ import annotations

from typing import Any

from covey.agents.gemini.signals import CONTEXT, SILENT
from covey.agents.json_values import content_text, string, timestamp
from covey.agents.turns import TurnReader


class GeminiTurns(TurnReader):
    def __init__(self) -> None:
        super().__init__()
        self._prompts: set[str] = set()

    def take(self, entry: dict[str, Any]) -> None:
        own, said = string(entry.get("id")), content_text(entry.get("content"))
        if entry.get("type") == "user" and not said.startswith(CONTEXT) and own not in self._prompts:
            self._prompts.add(own)
            self.prompted(said, timestamp(entry.get("timestamp")))
        elif entry.get("type") == "gemini" and said.strip() != SILENT:
            self.replied(said)


TURNS = GeminiTurns
