"""How a person acts on an agent from outside: what is typed for what."""

from __future__ import annotations

from msgspec import Struct


class Acting(Struct, frozen=True, kw_only=True):
    """What the `acting.py` of an agent defines as ACTING."""

    commands: tuple[str, ...] = ("!", "/")
    """A text that begins with one of these is no message: the agent runs it as a shell or a slash command."""
    words: tuple[str, ...] = ("exit", "quit", ":q", ":q!", ":wq", ":wq!")
    """Texts that are no messages if nothing else is said: some agents end when they read them."""
    lists: str = "@"
    """What begins a word for which the agent opens a list; at the end of a text, Enter would choose from it."""
    interrupt: tuple[str, ...] = ("Escape",)
    """The keys that stop a turn, by their tmux names."""
    dialogs: tuple[str, ...] = ()
    """Extended regular expressions that match a row only while a dialog takes the keys; for agents whose dialogs leave
    the rows of the composer on the screen."""
    pause_s: float = 0.0
    """How long the agent needs between a paste and Enter."""
    continues_at_backslash: bool = False
    """Whether a backslash at the end of the text turns Enter into a new line."""
    folded: str = r"\[Pasted "
    """What the composer shows in place of a long paste; a regular expression."""


DEFAULT = Acting()
"""For agents that are described by a screen alone."""
