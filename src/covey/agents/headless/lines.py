"""The lines that headless agents print, without secrets."""

from __future__ import annotations

from typing import Any

from covey.agents.headless.secrets import redacted
from covey.agents.json_values import json_object, parse_object

OUTPUT_CHARACTERS = 4000
"""Of what a tool printed, how much is kept."""


def read_line(text: str) -> dict[str, Any]:
    """Return a line as a JSON object without secrets; empty if it is not one."""
    try:
        return json_object(redacted(parse_object(text)))
    except RecursionError:
        return {}
