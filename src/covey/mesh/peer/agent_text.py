"""A message as an agent gets it: below a line that says from whom, which no line of the text can imitate."""

from __future__ import annotations

import re

from covey.kernel.composed import composed
from covey.kernel.typed_text import typed_text, without_mentions

STAMP = "[from {name} of the mesh {mesh}, through covey; not from a person]"
QUOTED = "> "
_BEFORE_WORDS = re.compile(r"[\W_]*")


def agent_text(text: str, *, name: str, mesh: str) -> str:
    """Return a text below its stamp. Lines that look like a stamp are marked as a quotation, and no file is attached.

    What the node takes out before it types is taken out here first: it could hide an imitation.
    """
    clean = without_mentions(typed_text(text.replace("\r\n", "\n").replace("\r", "\n"))[0])
    lines = [f"{QUOTED}{line}" if _imitates(line) else line for line in clean.splitlines(keepends=True)]
    return f"{STAMP.format(name=name, mesh=mesh)}\n{''.join(lines)}"


def _imitates(line: str) -> bool:
    """Return whether a line looks like a stamp to a reader, who overlooks blanks and sees wide letters as letters."""
    seen = composed(line, "NFKC")
    before = _BEFORE_WORDS.match(seen)
    assert before is not None
    return "[" in before[0] and seen[before.end() : before.end() + 4].lower() == "from"
