"""Replaces secrets in what agents and probes write, before anything of it is stored, logged, shown or sent.

Everything that an agent writes passes here before it is cut or put together: half a secret would not be recognised.
What comes later (the database, events, attention, notifications, the log of heartbeats) can then hold none.
"""

from __future__ import annotations

from typing import Any

from covey.kernel.logs.logs import redactor
from covey.kernel.logs.redact import REDACTED, is_sensitive

KEPT_CHARACTERS = 32 * 1024
"""How much of the beginning and of the end of a long text is kept: searching megabytes takes the daemon's time."""
MOST_CHARACTERS = 96 * 1024
"""Of all texts in one value, how much is searched, besides short ones."""
SHORT = 200


def redacted_text(text: str) -> str:
    """Return a text without secrets; of a very long one, its beginning and its end."""
    if len(text) <= 2 * KEPT_CHARACTERS:
        return str(redactor.text(text))
    left_out = len(text) - 2 * KEPT_CHARACTERS
    start, end = redactor.text(text[:KEPT_CHARACTERS]), redactor.text(text[-KEPT_CHARACTERS:])
    return f"{start}\n… {left_out} characters left out …\n{end}"


def redacted(value: Any) -> Any:
    """Return a copy of a JSON value without secrets.

    Texts are searched, and a text under a name such as `apiKey` is replaced. What follows after the first
    MOST_CHARACTERS of texts is left out.
    """
    return _Redaction().of(value)


class _Redaction:
    """One value, of which only so many characters are searched."""

    def __init__(self) -> None:
        self._left = MOST_CHARACTERS

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if isinstance(value, dict):
            return {
                name: REDACTED if isinstance(item, str) and item and is_sensitive(name) else self.of(item)
                for name, item in value.items()
            }
        return value

    def _text(self, text: str) -> str:
        if self._left <= 0 and len(text) > SHORT:
            return f"… {len(text)} characters left out …"
        self._left -= min(len(text), 2 * KEPT_CHARACTERS)
        return redacted_text(text)
