"""What an agent may not do while it runs unattended: a list that always applies, and what a beat adds to it."""

from __future__ import annotations

import re
from typing import Any

from covey.policy.destructive.patterns import BUILT_IN

DEFAULT_DENY = BUILT_IN
SKIP = "skip"
_PATTERN = re.compile(r"[A-Za-z][\w.:*-]*(\(.+\))?", re.ASCII)


def build_deny(option: Any) -> tuple[str, ...]:
    """Return the patterns of a valid option: the defaults, then its own, each once. `skip` has no pattern at all."""
    if option == SKIP:
        return ()
    own = option.get("deny", []) if option else []
    return tuple(dict.fromkeys((*DEFAULT_DENY, *own)))


def validate(option: Any) -> list[str]:
    """Return what is wrong with an option, in sentences; empty if it can be used.

    A pattern that would match nothing is wrong: it only looks like protection.
    """
    if option is None or option == SKIP:
        return []
    if not isinstance(option, dict):
        return ['has to be "skip" or a table with a list called deny']
    problems = [
        f"knows deny and nothing else, not {name!r}: deny rules can only be added" for name in option if name != "deny"
    ]
    patterns = option.get("deny", [])
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
        return [*problems, "deny has to be a list of tool patterns, such as Bash(curl *), Edit or mcp__server"]
    wrong = [pattern for pattern in patterns if not _PATTERN.fullmatch(pattern) or not pattern.isprintable()]
    return problems + [
        f"{pattern[:60]!r} is not a tool pattern: write one such as Bash(curl *), Edit or mcp__server"
        for pattern in wrong
    ]
