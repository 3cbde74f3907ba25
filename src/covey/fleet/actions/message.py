"""A text made fit for the composer of an agent, and whether a composer shows it or it has left."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from covey.agents.prompts import prompt_digest
from covey.fleet.actions.origin import stamped
from covey.fleet.actions.refusal import NOT_SUPPORTED, TEXT_IS_COMMAND, Refusal
from covey.kernel.typed_text import compared, typed_text
from murli import user_error

if TYPE_CHECKING:
    from covey.agents.acting import Acting
    from covey.fleet.actions.pane import Screen

LONGEST_BYTES = 1_000_000
"""Of one message."""
SHELL = "!"
_BLANKS = re.compile(r"\s+")


class Message:
    """A text made fit for a composer. Raises AgentError if it cannot be sent to this agent."""

    def __init__(self, text: str, acting: Acting, *, as_command: bool, stamp: str = "") -> None:
        """`stamp` is the line that names the sender, if that is no person: it is put before the text."""
        clean, stripped = typed_text(text.replace("\r\n", "\n").replace("\r", "\n"))
        self.stripped = stripped
        """How many characters were taken out."""
        self.text = clean.rstrip("\n")
        if not self.text.strip():
            raise user_error(
                "there is no text to send", "Give it with --text, --file or on standard input.", field="text"
            )
        if len(self.text.encode()) > LONGEST_BYTES:
            raise user_error(
                f"the text has {len(self.text.encode())} bytes, and {LONGEST_BYTES} can be sent",
                "Put it into a file, and send the agent the name of the file.",
                field="text",
            )
        first, alone = self.text.lstrip()[:1], self.text.strip().lower()
        if first == SHELL and as_command:
            raise Refusal(
                NOT_SUPPORTED,
                "a command for the agent's shell is not sent: its composer does not show it as it was typed",
                "Run it in a shell of your own, or ask the agent to run it.",
            )
        if (first in acting.commands or alone in acting.words) and not as_command and not stamp:
            what = f"is {alone!r}" if alone in acting.words else f"begins with {first!r}"
            raise Refusal(
                TEXT_IS_COMMAND,
                f"a text that {what} is run as a command, and is no message",
                "Begin it with another character, or say that it is meant: --as-command",
            )
        if stamp and as_command:
            raise Refusal(
                TEXT_IS_COMMAND,
                "what an agent sends begins with a line that says so, and can therefore not be run as a command",
                "Send it as a message, without as_command.",
            )
        if stamp:
            self.text = stamped(self.text, stamp)
        last = _BLANKS.split(self.text)[-1]
        if (acting.continues_at_backslash and last.endswith("\\")) or last[:1] in tuple(acting.lists):
            self.text += " "

    @property
    def bytes(self) -> int:
        return len(self.text.encode())

    @property
    def digest(self) -> str:
        """What the prompt is recognised by when the agent reports it."""
        return prompt_digest(self.text)


def holds(screen: Screen, message: Message, acting: Acting) -> bool:
    """Return whether a composer shows a message: the whole, its end if the rest is out of sight, or a folded paste."""
    if screen.composer.state == "absent":
        return False
    shown, wanted = compared(screen.composer.text), compared(message.text)
    return bool(shown) and (wanted.endswith(shown) or re.search(acting.folded, screen.composer.text) is not None)


def holds_alone(screen: Screen, message: Message, acting: Acting) -> bool:
    """Return whether a composer shows a message and nothing else: the whole, or a folded paste."""
    shown = screen.composer.text.strip()
    whole = compared(shown) == compared(message.text)
    return bool(shown) and (whole or re.fullmatch(rf"(?:{acting.folded})[^\[\]]*\]", shown) is not None)


def left(screen: Screen) -> bool:
    """Return whether a message has left the composer: it is empty, or gone. While a dialog hides it, nobody can see."""
    if screen.reading is None or screen.reading.dialog:
        return False
    return screen.composer.free or screen.composer.state == "absent"
