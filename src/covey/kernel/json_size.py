"""How many values a JSON text has, at a glance."""

from __future__ import annotations

import re

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


def has_too_many_values(text: str, most: int) -> bool:
    """Return whether a JSON text has more than about `most` values.

    Megabytes of text are parsed in no time; values by the hundred thousand are not, and nothing else runs meanwhile.
    """
    if len(text) <= most or _values(text) <= most:
        return False
    return _values(_STRING.sub("", text, count=most)) > most


def _values(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")
