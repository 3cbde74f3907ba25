"""Dialogs of Claude Code. A digit acts at once; Escape within 50 ms after a dialog was drawn is lost."""

from __future__ import annotations

from covey.agents.dialogs import DialogShape

_NO = r"No(?:, .*)?"

DIALOGS = (
    DialogShape(
        rules=("permission",),
        # Whatever is asked about is indented, so a rule in the first column is not a part of it.
        # In a small pane the beginning is out of sight: a whole command between its rules is enough.
        begins=(
            r"^─{10,}\n \S",
            r"^╌{10,}\n(?: .*\n)+╌{10,}\n(?:(?: .*)?\n)*? Do you want to proceed\?",
        ),
        once="Yes",
        always=r"Yes, and (?:don't ask again|always allow|switch to accept edits) .*|Yes, allow all edits .*",
        deny=_NO,
    ),
    DialogShape(
        rules=("plan",),
        begins=(r"^ *─{10,}\n +(?:Exit plan mode|Ready to code|Would you like to proceed)\?",),
        # The first option of some releases lets it edit without asking.
        once=r"Yes|Yes, and switch to default \(ask each time\) .*|Yes, (?:and )?manually approve edits.*",
        deny=_NO,
    ),
    DialogShape(
        rules=("question",),
        begins=(r"^─{10,}\n[ ←]*[☐☒☑✔]",),
        described=True,
        several=r"^[❯ ] +\d+\. \[[ ✔x]\]",
        free=r"Type something\.?",
    ),
)
