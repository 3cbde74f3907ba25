"""A conversation of an agent that tells its texts as parts of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.agents.headless.conversation import Conversation

if TYPE_CHECKING:
    from covey.agents.headless.report import Step


class Messages(Conversation):
    """The parts of the last message are the answer together: what its first part says cannot be taken back by its last."""

    def __init__(self) -> None:
        super().__init__()
        self._message = ""
        self.count = 0

    def turn(self, message: str) -> None:
        """A message, by its name; the same one may be named many times."""
        if message != self._message:
            self._message = message
            self.count += 1
            self.answer = ""

    def tell(self, message: str, text: str) -> Step:
        """A part of what a message says."""
        self.turn(message)
        earlier = self.answer
        step = self.say(text)
        self.answer = f"{earlier}\n{text}" if earlier else text
        return step


def complaint(written: str) -> str:
    """The first line of a standard error that says something."""
    return next((line.strip()[:500] for line in written.splitlines() if line.strip()), "")
