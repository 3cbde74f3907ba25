"""Dialogs of Codex. A digit acts at once; what is pasted into a question is a note to the marked option."""

from __future__ import annotations

from covey.agents.dialogs import DialogShape

DIALOGS = (
    DialogShape(
        rules=("permission-shell", "permission"),
        # Edits are drawn above the dialog, and in some releases it does not name them. A command may have a row that
        # looks like the first one: the highest counts.
        begins=(
            r"^• (?:Added|Edited|Deleted) .*\n(?:(?: {2,}\S.*)?\n)*? {2}Would you like to make the following edits\?",
            r"^ {2}Would you like to .*\n\n {2}\S[\s\S]*",
        ),
        once=r"Yes, proceed(?: \(y\))?",
        always=r"Yes, and don't ask again for .*",
        deny=r"No, .*",
    ),
    DialogShape(
        rules=("question",),
        begins=(r"^ {2}Question \d+/\d+",),
        option=r" *(?P<mark>› *)?(?P<number>\d+)\. +(?P<label>\S.*?)(?: {2,}\S.*)?",
        described=True,
        free="None of the above",
        free_marked=True,
    ),
)
