"""Names that agents give to conversations and events, checked before they become part of a path or a key."""

from __future__ import annotations

import glob
import hashlib
import re

from covey.agents.json_values import canonical, string

_SAFE = re.compile(r"[\w.-]{1,200}", re.ASCII)


def safe_id(name: object) -> str:
    """Return an id that may be part of a path; empty if it may not."""
    known = string(name)
    return known if _SAFE.fullmatch(known) and not known.startswith(".") else ""


def event_key(payload: object, at: float, *, session: str, event: str, own: object = "") -> str:
    """Return a key for an event: its own id if it has one, else one of its content and the time of its capture."""
    known = safe_id(own) or f"{hashlib.blake2b(canonical(payload), digest_size=8).hexdigest()}@{at:.3f}"
    return f"{session}/{event}/{known}"


def pattern_below(folder: str, pattern: str) -> str:
    """Return a pattern below a folder, whatever characters the folder's name has."""
    return f"{glob.escape(folder)}/{pattern}"
