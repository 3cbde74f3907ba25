"""Paths with wildcards of a shell, compared with patterns for paths, name by name."""

from __future__ import annotations

from covey.policy.shell.outputs import GLOB
from covey.policy.wildcard import UNKNOWN, Wildcard


def may_fit(path: str, pattern: str) -> bool:
    """Return whether a path with wildcards may be one that a pattern fits, or be below it. Both begin with `/`."""
    parts = pattern.strip("/").split("/")
    reached = _over_folders({0}, parts)  # the parts of the pattern that the next name may be for
    for name in path.strip("/").split("/"):
        following: set[int] = set()
        for at in reached:
            if at == len(parts):
                return True
            if "**" in parts[at]:
                following.add(at)
            if GLOB * 2 in name:
                following.update(range(at, len(parts) + 1))
            elif "**" in parts[at] or Wildcard(parts[at]).may_match(name.replace(GLOB, UNKNOWN)):
                following.add(at + 1)
        reached = _over_folders(following, parts)
    return len(parts) in reached


def _over_folders(places: set[int], parts: list[str]) -> set[int]:
    """Return the places, and those behind a `**`, which may be no folder."""
    found = set(places)
    for at in range(len(parts)):
        if at in found and parts[at] == "**":
            found.add(at + 1)
    return found
