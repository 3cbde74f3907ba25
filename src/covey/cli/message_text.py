"""The text of a message on the command line: an argument, standard input, or a file."""

from __future__ import annotations

import sys

from murli import user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_BYTES = 10_000_000
"""More is not read; daemons refuse much less."""
STDIN = "-"


def message_of(params: dict[str, Any], example: str) -> str:
    """Return the text of `message` or of `file`; `-` is standard input for both.

    Raises AgentError if there is not exactly one of them, or it is not text.
    """
    message, file = params["message"], params["file"]
    if (message is None) == (file is None):
        raise user_error(
            "give the message once: as an argument, or with --file (- is standard input)",
            f"For example: {example}",
            error="argument_error",
            field="message",
        )
    if message is not None and message != STDIN:
        return str(message)
    return read_text(STDIN if message is not None else file, "file")


def read_text(file: str, field: str) -> str:
    """Return what is in a file, or standard input for `-`. Raises AgentError if it cannot be read or is not text."""
    try:
        if file == STDIN:
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open(file, "rb") as opened:
                data = opened.read(MOST_BYTES + 1)
        return data.decode()
    except OSError as error:
        raise user_error(
            f"{file} cannot be read: {error.strerror}", "Name a file that you can read.", field=field
        ) from None
    except UnicodeDecodeError:
        raise user_error(f"{file} is not UTF-8 text", "Only text can be sent.", field=field) from None
