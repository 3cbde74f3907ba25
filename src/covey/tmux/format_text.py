"""Texts as parts of tmux's formats and commands, so that nothing in them is expanded or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.kernel.visible_text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence


def escaped(text: str) -> str:
    """Return a text as a part of a format."""
    return text.replace("#", "##").replace(",", "#,").replace("}", "#}")


def quoted(text: str) -> str:
    """Return a text as one word of a command that tmux parses."""
    return "'" + text.replace("'", "'\\''") + "'"


def equal(name: str, value: str) -> str:
    """Return the format that is true if a variable of tmux has a value."""
    return f"#{{==:#{{{name}}},{escaped(value)}}}"


def all_of(conditions: Sequence[str]) -> str:
    """Return the format that is true if all of these are; there is at least one."""
    parts = list(conditions)
    while len(parts) > 1:  # before tmux 3.6 an && has two operands; in pairs, because formats nest to a limited depth
        pairs = [f"#{{&&:{one},{other}}}" for one, other in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def message(text: str) -> str:
    """Return a text for the message line: on one line, with no styles, formats or dates in it."""
    line = " ".join(shown(text).split())
    return line.replace("#[", "# [").replace("#", "##").replace("%", "%%")
