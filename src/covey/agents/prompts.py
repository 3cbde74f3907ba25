"""A digest of a prompt that is the same for the text that was sent and for the text that the agent reports.

Agents change blanks (a tab becomes four spaces, the ends are cut), compose characters and drop invisible ones. None of
that makes it another prompt.
"""

from __future__ import annotations

import hashlib
import unicodedata

from covey.kernel.composed import composed


def prompt_digest(text: str) -> str:
    """Return the digest of a whole prompt. Blanks count as one space, and invisible characters not at all."""
    invisible = {ord(character): None for character in set(text) if unicodedata.category(character) == "Cf"}
    visible = text.translate(invisible) if invisible else text
    normal = " ".join(composed(visible).split())
    return hashlib.blake2b(normal.encode(errors="replace"), digest_size=8).hexdigest()
