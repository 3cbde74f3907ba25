"""The conversation of an agent that reports its texts as parts of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.agents.headless.conversation import Conversation

if TYPE_CHECKING:
    from covey.agents.headless.report import Step


class Messages(Conversation):
    """The parts of the last message together are the answer: a later part does not replace an earlier one."""

    def __init__(self) -> None:
        super().__init__()
        self._message = ""
        self.count = 0

    def turn(self, message: str) -> None:
        """Begin a message, given its id, unless it has begun already."""
        if message != self._message:
            self._message = message
            self.count += 1
            self.answer = ""

    def add_part(self, message: str, text: str) -> Step:
        """Add a part to a message."""
        self.turn(message)
        earlier = self.answer
        step = self.add_text(text)
        self.answer = f"{earlier}\n{text}" if earlier else text
        return step


def first_line(written: str) -> str:
    """Return the first line of standard error that is not blank."""
    return next((line.strip()[:500] for line in written.splitlines() if line.strip()), "")
