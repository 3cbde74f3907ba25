"""Dialogs of Copilot CLI. Digits do nothing in a question; that of the last option of an approval only marks it."""

from __future__ import annotations

from covey.agents.dialogs import DialogShape

_BOX = r"│ (?P<text>.*?) *│"
_BEGINS = r"^╭─{3,}╮\n│ "
_ENDS = r"╰─+╯"

DIALOGS = (
    DialogShape(
        rules=("permission-shell", "permission-write", "permission"),
        # In a small pane the beginning of the box is out of sight: what is asked about, in a box of its own, is enough.
        begins=(_BEGINS, r"^│ ╭─{3,}╮ │\n│ │ "),
        ends=_ENDS,
        row=_BOX,
        once="Yes",
        always=r"Yes, and (?:don't ask again|approve|remember) .*",
        deny=r"No(?:,? .*)?",
        deny_keys=("Escape",),
    ),
    DialogShape(
        rules=("question",),
        begins=(r"^─{3,}\n Copilot needs information\.",),
        ends=r"─{3,}",
        option=r" (?P<mark>❯| ) (?P<label>\S.*)",
        several=r"^ [❯ ] \[[ ✓✔x]\]|^ [❯ ] [☐☑◯◉○●] ",
        free=r"Other \(type your answer(?: below)?\)",
        digits=False,
        free_marked=True,
    ),
    DialogShape(
        rules=("question-box",),  # of older releases
        begins=(_BEGINS,),
        ends=_ENDS,
        row=_BOX,
        free=r"Other \(type your answer\)",
        digits=False,
        free_marked=True,
    ),
)
