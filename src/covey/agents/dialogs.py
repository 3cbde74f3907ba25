"""How the dialogs of an agent are drawn, what their options mean, and which keys choose them.

It is data: `agents/<name>/dialogs.py` defines DIALOGS, and an adapter of the user's own has it in `[[dialogs]]`.
Patterns are regular expressions. What they do not fit is not answered.
"""

from __future__ import annotations

from msgspec import Struct

NUMBERED = r" *(?P<mark>[❯›●] *)?(?P<number>\d+)\. +(?P<label>\S.*?)"
"""A row such as `❯ 1. Yes`."""


class DialogShape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of dialog."""

    rules: tuple[str, ...]
    """The names of the screen rules that recognise it."""
    begins: tuple[str, ...]
    """Where it begins: the lowest match of the first pattern that is found. What is above it is not compared, so a
    pattern must not match in the middle of what is asked. A dialog whose beginning is out of sight is not answered."""
    ends: str = ""
    """Its last row; without a pattern it reaches to the end of the screen."""
    row: str = r"(?P<text>.*)"
    """Each of its rows; the group `text` is what stands inside of its frame."""
    option: str = NUMBERED
    """The first row of an option, inside of the frame: the groups `mark`, `number` and `label`. Without `mark`, the
    marked one is not known; without `number`, options are counted. With `in_row`, one option in the row of them all."""
    described: bool = False
    """Whether the rows below an option explain it; otherwise they continue its label."""
    in_row: bool = False
    """Whether options stand beside each other; the marked one has another background then."""
    several: str = ""
    """What is seen where several options can be chosen; such a dialog is not answered."""
    hides: str = ""
    """What is seen in the text where the agent hides a part of what it asks; such a dialog is not allowed from here."""
    once: str = ""
    """The whole label of the option that allows this one time. An option can always be chosen by its number."""
    always: str = ""
    """The whole label of the option that allows this, and whatever is like it, from now on."""
    deny: str = ""
    free: str = ""
    """The whole label of the option for words of one's own."""
    digits: bool = True
    """Whether the digit of an option chooses it at once. Otherwise it is marked with the arrows, then Enter."""
    free_marked: bool = False
    """Whether a text is pasted as soon as the option for it is marked; otherwise that option is chosen first."""
    deny_keys: tuple[str, ...] = ()
    """Keys that deny at once, where the option does not."""
    confirms: bool = False
    """Whether it only asks again whether `always` is meant."""
