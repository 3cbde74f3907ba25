"""Keys and names that people give to documents."""

from __future__ import annotations

import secrets

from murli import user_error

LONGEST_KEY = 512
_RANDOM_BYTES = 6


def new_key(now: float) -> str:
    """Return a key that nobody else has: 23 hexadecimal digits that sort by time, to the millisecond."""
    return f"{int(now * 1000):011x}{secrets.token_hex(_RANDOM_BYTES)}"


def is_key(key: str) -> bool:
    """Return whether a key can be one: 1 to 512 characters that can be printed, without spaces at the ends."""
    return 0 < len(key) <= LONGEST_KEY and key.isprintable() and key == key.strip()


def check_key(key: str, field: str = "key") -> str:
    """Return a key if it can be one. Raises AgentError."""
    if not is_key(key):
        raise user_error(
            f"{key[:40]!r} cannot be a {field}",
            f"Use 1 to {LONGEST_KEY} printable characters, without spaces at the ends.",
            field=field,
        )
    return key
