"""Makes text safe for a terminal.

What a tool prints often comes from elsewhere, and a terminal obeys control characters, whoever wrote them.
"""

from __future__ import annotations

import re

CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
"""C0, DEL and C1: escape sequences begin with one of them."""
DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Characters that reorder the text around them, so that it reads differently; and Unicode's two other line breaks."""

_KEPT = frozenset((0x09, 0x0A))
_ESCAPED = {code: ascii(chr(code))[1:-1] for code in (*CONTROLS, *DIRECTIONS) if code not in _KEPT}
_ESCAPED_IN_JSON = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *DIRECTIONS)}
_COLOUR = re.compile(r"(\x1b\[(?:[0-79]|[1-9][0-9]{1,2})?(?:;[0-9]{1,3}){0,15}m)")
"""A sequence that sets colours or weight (SGR), and nothing else; but not the one that hides text."""


def terminal_safe(text: str) -> str:
    """Return the text with every character that would act on a terminal spelt out, as `\\x1b`.

    Line breaks, tabs and colours stay.
    """
    if text.isprintable():
        return text
    if "\x1b" not in text:
        return text.translate(_ESCAPED)
    return "".join(part if number % 2 else part.translate(_ESCAPED) for number, part in enumerate(_COLOUR.split(text)))


def json_safe(text: str) -> str:
    """Escape DEL, C1 and direction characters in a JSON document, as JSON itself escapes C0.

    The document means the same.
    """
    return text.translate(_ESCAPED_IN_JSON)
