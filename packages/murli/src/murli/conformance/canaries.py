"""Values and flags that exist nowhere by chance: planted in a command line to see where they come out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from murli.conformance.arguments import Words, append, with_flag

if TYPE_CHECKING:
    from murli.conformance.model import Command, Flag

UNKNOWN_COMMAND = "no-such-command-murli"
UNKNOWN_FLAG = "--no-such-flag-murli"
UNKNOWN_PARAMETER = "no_such_parameter_murli"
NOT_A_NUMBER = "not-a-number"
NOT_UTF8 = "\udcff"
"""One byte 0xff, as Python spells it in a word of a command line."""


def secrets(command: Command) -> list[Flag]:
    """The command's sensitive flags that have a value to leak, inherited ones first."""
    return [flag for flag in command.every_flag if flag.sensitive and flag.takes_value]


def canary(flag: Flag) -> str:
    """A value that the flag's type accepts and that nothing prints unless it echoes the flag."""
    digest = hashlib.sha256(flag.name.encode()).hexdigest()
    if flag.type == "int":
        return str(700_000_000 + int(digest[:6], 16))
    if flag.type == "float":
        return f"{700_000 + int(digest[:4], 16)}.4375"
    return f"canary-{digest[:16]}"


def unknown_flag_words(command: Command) -> Words:
    """The command with a flag that cannot exist, next to its sensitive flags: an error must not repeat those either."""
    words = command.path
    for flag in secrets(command):
        words = with_flag(command, words, flag, canary(flag))
    return append(words, (UNKNOWN_FLAG,))
