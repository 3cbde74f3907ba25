"""What a hook wrote on its standard error, for logs and people: on one line, bounded, without secrets."""

from __future__ import annotations

from covey.kernel.logs.logs import redactor
from covey.kernel.logs.redact import REDACTED

REASON_CHARACTERS = 300


def said(err: bytes, token: str) -> str:
    """Return all that was written, on one line."""
    return _printable(_without_secrets(err, token))


def first_line(err: bytes, token: str) -> str:
    """Return the first line that is not empty; an empty text if there is none."""
    lines = (_printable(line) for line in _without_secrets(err, token).splitlines())
    return next((line for line in lines if line), "")[:REASON_CHARACTERS]


def _without_secrets(err: bytes, token: str) -> str:
    # Secrets are searched for before anything is cut: half a secret would not be recognised.
    return redactor.text(err.decode(errors="replace").replace(token, REDACTED))


def _printable(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
