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


def redacted_text(text: str) -> str:
    """Return a text without secrets; of a very long one, its beginning and its end."""
    if len(text) <= 2 * KEPT_CHARACTERS:
        return str(redactor.text(text))
    left_out = len(text) - 2 * KEPT_CHARACTERS
    start, end = redactor.text(text[:KEPT_CHARACTERS]), redactor.text(text[-KEPT_CHARACTERS:])
    return f"{start}\n… {left_out} characters left out …\n{end}"


def redacted(value: Any) -> Any:
    """Return a copy of a JSON value without secrets.

    Texts are searched, and a text under a name such as `apiKey` is replaced.
    """
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, list):
        return [redacted(item) for item in value]
    if isinstance(value, dict):
        return {
            name: REDACTED if isinstance(item, str) and item and is_sensitive(name) else redacted(item)
            for name, item in value.items()
        }
    return value
