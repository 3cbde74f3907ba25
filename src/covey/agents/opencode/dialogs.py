"""Dialogs of opencode. An approval ignores digits; only the background shows which of its options is marked."""

from __future__ import annotations

from covey.agents.dialogs import DialogShape

_BAR = r" *┃(?P<text>.*?)(?: {12,}\S.*)?"  # what is far to the right are hints and the sidebar

DIALOGS = (
    DialogShape(
        rules=("permission-shell", "permission"),
        begins=(r"^ *┃ {2}△ Permission required",),
        row=_BAR,
        option=r"(?P<label>Allow once|Allow always|Reject)(?! \w)",
        in_row=True,
        once="Allow once",
        always="Allow always",
        deny="Reject",
        digits=False,
        deny_keys=("Escape",),
    ),
    DialogShape(
        rules=("permission-always",),
        begins=(r"^ *┃ {2}△ Always allow",),
        row=_BAR,
        option=r"(?P<label>Confirm|Cancel)(?! \w)",
        in_row=True,
        always="Confirm",
        digits=False,
        confirms=True,
    ),
    DialogShape(
        rules=("question",),
        # From the first row that has the bar.
        begins=(r"(?:\A|^(?! *┃).*\n)(?= *┃)",),
        row=_BAR,
        option=r" *(?P<number>\d+)\. +(?P<label>\S.*?)",
        described=True,
        several=r"^ *┃ +\d+\. \[[ ✓x]\]",
        free="Type your own answer",
    ),
)
