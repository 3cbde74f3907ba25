"""A bug report about a screen that is read wrongly: all that is needed to correct the patterns, as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from covey import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECRETS = (
    "Look through it for secrets before you send it; --redact hides every letter and digit of what the agent shows."
)
ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78cM])|[\x0e\x0f]")
"""Escape sequences as `tmux capture-pane -e` and terminals write them."""


def without_escapes(screen: str) -> str:
    """The letters of a screen that was saved with its colours (`capture-pane -e`), or without."""
    return ESCAPES.sub("", screen)


def redacted(text: str) -> str:
    """Return a text with every letter and digit hidden. Frames, signs and lengths stay: patterns mostly use those."""
    return re.sub(r"[^\W\d_]", "x", re.sub(r"\d", "9", text))


def report(
    found: Mapping[str, Any], about: Mapping[str, str], sources: Sequence[Mapping[str, Any]], screen: str
) -> str:
    """Return the report.

    `found` is how the screen was read, `about` names what the agent runs in, `sources` are what each source says.
    """
    lines = [f"covey {__version__}", *(f"{name:<9} {value}" for name, value in about.items() if value)]
    lines += ["", f"state     {found['state']} ({found['reason']})", f"rule      {found['rule'] or 'none holds'}"]
    lines += [f"caveat    {found['caveat']}"] if found["caveat"] else []
    lines += ["", "What each source says:"] if sources else []
    lines += [f"  {one['source']:<12} {one['state']:<17} {one['evidence']}" for one in sources]
    lines += ["", "Rules that did not hold:"]
    lines += [f"  {one['rule']} ({one['state']}): {one['why']}" for one in found["tried"] if one["why"]]
    lines += ["", f"The screen. {SECRETS}", *(f"  |{line}" for line in without_escapes(screen).rstrip().split("\n"))]
    return "\n".join(lines)
