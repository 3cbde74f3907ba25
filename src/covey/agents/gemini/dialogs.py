"""Dialogs of Gemini CLI. A digit acts at once."""

from __future__ import annotations

from covey.agents.dialogs import DialogShape

_BOX = r"│ (?P<text>.*?) *│"
_ENDS = r"╰─+╯"

DIALOGS = (
    DialogShape(
        rules=("permission",),
        # In a small pane the beginning of the box is out of sight: the row that names the tool is enough.
        begins=(r"^╭─{3,}╮\n│ (?:\?|Action Required) ", r"^│ \? +\S"),
        ends=_ENDS,
        row=_BOX,
        hides=r"^\.\.\. (?:first|last) \d+ lines? hidden ",
        once="Allow once",
        always="Allow for this session",
        deny=r"No, .*",
    ),
    DialogShape(
        rules=("question",),
        begins=(r"^╭─{3,}╮\n│ ",),
        ends=_ENDS,
        row=_BOX,
        described=True,
        several=r"^│ [● ] +\d+\. +\[[ x✓]\]",
        free="Enter a custom value",
    ),
)
