"""Replaces secrets in what agents and probes write, before anything of it is stored, logged, shown or sent.

Everything that an agent writes is redacted here before it is cut or joined: half a secret would not be recognised. The
later stages (the database, events, attention, notifications, the heartbeat log) can then hold none.
"""

from __future__ import annotations

from typing import Any

from covey.kernel.logs import redactor
from covey.kernel.redact import REDACTED, is_sensitive

KEPT_CHARACTERS = 32 * 1024
"""The length of the beginning and of the end of a long text that are kept: searching megabytes takes too long."""


def redacted_text(text: str) -> str:
    """Return a text without secrets; of a very long text, only its beginning and its end."""
    if len(text) <= 2 * KEPT_CHARACTERS:
        return str(redactor.text(text))
    left_out = len(text) - 2 * KEPT_CHARACTERS
    beginning, end = redactor.text(text[:KEPT_CHARACTERS]), redactor.text(text[-KEPT_CHARACTERS:])
    return f"{beginning}\n… {left_out} characters left out …\n{end}"


def redacted(value: Any) -> Any:
    """Return a copy of a JSON value without secrets: texts are searched, and texts named like `apiKey` are replaced."""
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
