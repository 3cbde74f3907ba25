"""The ways in which one command may be written, as texts for the patterns of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator


def texts(command: tuple[str, ...]) -> Iterator[str]:
    """Yield the ways in which a command may be written: with and without the folder of its program.

    Each also as if an unknown word were none or several.
    """
    name = command[0].rpartition("/")[2]
    for words in dict.fromkeys((command, (name, *command[1:]))):
        text = " ".join(words)
        yield text
        if UNKNOWN in text:
            yield text.replace(f" {UNKNOWN}", UNKNOWN).replace(f"{UNKNOWN} ", UNKNOWN)


def possible_texts(command: tuple[str, ...]) -> Iterator[str]:
    """Yield also what a command is without the options in front of its subcommand, which may have values."""
    yield from texts(command)
    at = 1
    while at < len(command) and command[at].startswith("-"):
        yield from texts((command[0], *command[at + 1 :]))
        yield from texts((command[0], *command[at + 2 :]))
        at += 1 if at + 1 < len(command) and command[at + 1].startswith("-") else 2
