"""The turns of a conversation: what the person asked, and what the agent answered last. Without IO."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.agents.json_values import json_object, parse_object, string
from covey.agents.prompts import prompt_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT = 50
"""How many turns at the end of a conversation are kept."""


REPLIES = ("last_assistant_message", "prompt_response")
"""Where the hook at the end of a turn has the reply."""


def reply_in(payload: object) -> str:
    """Return the reply that a hook delivers at the end of a turn; empty if it has none."""
    found = json_object(payload)
    return next((text for name in REPLIES if (text := string(found.get(name)).strip())), "")


class Turn(Struct, kw_only=True):
    """One prompt, and the last message of the agent before the next prompt."""

    prompt: str
    at: float
    """When the prompt was written down; 0 if the agent does not say."""
    reply: str = ""
    """Empty if there is none yet."""

    @property
    def digest(self) -> str:
        return prompt_digest(self.prompt)


class TurnReader:
    """What the `turns.py` of an agent defines as TURNS, as a subclass: makes turns of the entries of its transcript."""

    def __init__(self) -> None:
        self.turns: deque[Turn] = deque(maxlen=KEPT)

    def read(self, lines: Iterable[str]) -> list[Turn]:
        """Return the turns of a transcript, the oldest first."""
        for line in lines:
            if entry := parse_object(line):
                self.take(entry)
        return list(self.turns)

    def take(self, entry: dict[str, Any]) -> None:
        """Take one entry. It calls `prompted` and `replied` for what it says."""
        raise NotImplementedError

    def prompted(self, text: str, at: float | None) -> None:
        """A prompt begins a turn."""
        if text.strip():
            self.turns.append(Turn(prompt=text, at=at or 0.0))

    def replied(self, text: str, *, more: bool = False) -> None:
        """The agent has said something; `more`: it belongs to what it said last."""
        if text.strip() and self.turns:
            turn = self.turns[-1]
            turn.reply = f"{turn.reply}\n\n{text}" if more and turn.reply else text
